import type { Delivery } from './slack.ts'

type Outcome = Pick<Delivery, 'outcome' | 'status'>

/** Shown by Slack's client if a modal cannot be sent, or its answer cannot be used. */
export const trouble = 'We had some trouble connecting. Try again?'

/** Shown if a click or a form cannot be delivered. */
export const notConfigured =
  '⚠️ This app is not configured to handle interactive responses. Please configure interactivity URL for this app under the app config page.'

/** Returns the notice beside the button. Undefined if there was no problem. */
export function clickNotice({ outcome, status }: Outcome): string | undefined {
  if (outcome === 'timeout') return '⚠️ Operation timed out. Apps need to respond within 3 seconds.'
  if (outcome === 'refused') return `⚠️ This app responded with Status Code ${status}.`
  if (outcome === 'unreachable') return '⚠️ This app did not respond.'
  return undefined
}

/** Returns the notice below the composer. Undefined if there was no problem. */
export function commandNotice(name: string, { outcome }: Outcome): string | undefined {
  if (outcome === 'timeout') return `${name} failed with the error "operation_timeout"`
  if (outcome !== 'acknowledged') return dispatchFailed(name)
  return undefined
}

export function dispatchFailed(name: string): string {
  return `${name} failed with the error "dispatch_failed"`
}
