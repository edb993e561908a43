import type { Request } from '../../domain/request.ts'

/** The buttons of a card, also where they stand on the Home tab. */
export const cardButtons = {
  approve: 'request-approve',
  reject: 'request-reject',
  withdraw: 'request-withdraw',
  take: 'request-take',
  again: 'request-again',
  reverse: 'request-reverse',
  stop: 'request-stop',
  watch: 'request-watch',
} as const
export type CardButton = keyof typeof cardButtons

export const rejectCallbackId = 'request-reject'
export const breakGlassCallbackId = 'request-break-glass'
export const askAgainCallbackId = 'request-again'

const hashLength = 16

/** What a button carries: which request, and what was asked for, so that it can decide nothing else. */
export function buttonValue({ id, hash }: Pick<Request, 'id' | 'hash'>): string {
  return `${id}.${hash.slice(0, hashLength)}`
}

export function readButton(value: string): { id: string; hash: string } | undefined {
  const [, id, hash] = /^([0-9a-f]{32})\.([0-9a-f]{16})$/.exec(value) ?? []
  return id !== undefined && hash !== undefined ? { id, hash } : undefined
}

/** Whether a button was made for this request as it is. */
export function belongsTo(button: { id: string; hash: string }, request: Pick<Request, 'id' | 'hash'>): boolean {
  return buttonValue(request) === `${button.id}.${button.hash}`
}
