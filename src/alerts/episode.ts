import { requestIdFor } from '../requests/lifecycle/submit/build-request.ts'

/**
 * Names the episode of a server, so that all attempts in it make the same request. It begins with the first firing alert about the server, and
 * ends when the last one has resolved, or when the decision on its request no longer stands.
 */
export function deliveryKeyOf(episode: string): string {
  return `alert:${episode}`
}

/** Computes the id of the request of an episode. */
export function requestIdOf(episode: string): string {
  return requestIdFor(deliveryKeyOf(episode))
}
