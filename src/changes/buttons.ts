/** The buttons of a card. Each carries the request's id and nothing else. */
export const cardButtons = {
  approve: 'request-approve',
  reject: 'request-reject',
  withdraw: 'request-withdraw',
  take: 'request-take',
  again: 'request-again',
  reverse: 'request-reverse',
} as const
export type CardButton = keyof typeof cardButtons

export const rejectCallbackId = 'request-reject'
