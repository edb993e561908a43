import type { Delivery } from './slack.ts'

type Outcome = Pick<Delivery, 'outcome' | 'status'>

/** What Slack's own client says when a modal cannot be sent, or an answer to it cannot be used. */
export const trouble = 'We had some trouble connecting. Try again?'

/** When a click or a form has nowhere to go. */
export const notConfigured =
  '⚠️ This app is not configured to handle interactive responses. Please configure interactivity URL for this app under the app config page.'

/** Beside the button; undefined when all is well. */
export function clickNotice({ outcome, status }: Outcome): string | undefined {
  if (outcome === 'timeout') return '⚠️ Operation timed out. Apps need to respond within 3 seconds.'
  if (outcome === 'refused') return `⚠️ This app responded with Status Code ${status}.`
  if (outcome === 'unreachable') return '⚠️ This app did not respond.'
  return undefined
}

/** Below the composer; undefined when all is well. */
export function commandNotice(name: string, { outcome }: Outcome): string | undefined {
  if (outcome === 'timeout') return `${name} failed with the error "operation_timeout"`
  if (outcome !== 'acknowledged') return dispatchFailed(name)
  return undefined
}

export function dispatchFailed(name: string): string {
  return `${name} failed with the error "dispatch_failed"`
}
