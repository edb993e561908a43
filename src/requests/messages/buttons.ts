import type { Request } from '../../domain/request.ts'

/** The buttons of a card, also where they stand on the Home tab. */
export const cardButtons = {
  approve: 'request-approve',
  reject: 'request-reject',
  withdraw: 'request-withdraw',
  handOver: 'request-hand-over',
  again: 'request-again',
  reverse: 'request-reverse',
  stopTracking: 'request-stop-tracking',
  trackAgain: 'request-track-again',
} as const
export type CardButton = keyof typeof cardButtons

export const rejectCallbackId = 'request-reject'
export const breakGlassCallbackId = 'request-break-glass'
export const askAgainCallbackId = 'request-again'

const hashLength = 16

/** The version of a button's value. CONTRIBUTING.md says how stored shapes may change. */
const version = '1'

/** What a button carries: which request, and what was requested, so that it can decide nothing else. */
export function buttonValue({ id, hash }: Pick<Request, 'id' | 'hash'>): string {
  return `${version}.${id}.${hash.slice(0, hashLength)}`
}

/** Reads what a button carries. Undefined where another version of Lockkeeper made it, or somebody else. */
export function readButton(value: string): { id: string; hash: string } | undefined {
  const [, id, hash] = /^1\.([0-9a-f]{32})\.([0-9a-f]{16})$/.exec(value) ?? []
  return id !== undefined && hash !== undefined ? { id, hash } : undefined
}

/** Whether a button was made for this request as it is. */
export function belongsTo(button: { id: string; hash: string }, request: Pick<Request, 'id' | 'hash'>): boolean {
  return request.id === button.id && request.hash.startsWith(button.hash)
}
