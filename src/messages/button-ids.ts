import type { Request } from '../domain/request.ts'

export const cardButtons = {
  approve: 'request-approve',
  reject: 'request-reject',
  withdraw: 'request-withdraw',
  handOver: 'request-hand-over',
  again: 'request-again',
  reverse: 'request-reverse',
  retry: 'request-retry',
  stopTracking: 'request-stop-tracking',
  trackAgain: 'request-track-again',
  details: 'request-details',
  startNow: 'request-start-now',
} as const
export type CardButton = keyof typeof cardButtons
export type CardButtonId = (typeof cardButtons)[CardButton]

/** The button that opens the form for the items that were not done, and the title of that form. */
export const retryLabel = 'Retry the rest'

export const refreshHome = 'refresh-home'
export const moreOnHome = 'more-on-home'

/** Begins the ids of the blocks with the buttons of requests on the Home tab, and in lists. */
export const listedBlock = 'home-'

export const approveCallbackId = 'request-approve'
export const rejectCallbackId = 'request-reject'
export const breakGlassCallbackId = 'request-break-glass'

/** Builds the value of a button: its version, the id of the request, and the hash of what was requested. So the button fits no other request. */
export function buttonValue({ id, hash }: Pick<Request, 'id' | 'hash'>): string {
  return `1.${id}.${hash.slice(0, 16)}`
}

export function readButton(value: string): { id: string; hash: string } | undefined {
  const [, id, hash] = /^1\.([0-9a-f]{32})\.([0-9a-f]{16})$/.exec(value) ?? []
  return id !== undefined && hash !== undefined ? { id, hash } : undefined
}

export function belongsTo(button: { id: string; hash: string }, request: Pick<Request, 'id' | 'hash'>): boolean {
  return request.id === button.id && request.hash.startsWith(button.hash)
}
