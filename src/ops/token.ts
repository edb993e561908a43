import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Secret } from '../domain/signing.ts'

const digest = (text: string) => hash('sha256', text, 'buffer')

/** Returns the function that finds whose token a request sent. It compares hashes of one length with all tokens, so its time says nothing. */
export function createTokenCheck<Owner>(tokens: Iterable<readonly [Owner, readonly Secret[]]>) {
  const known = [...tokens].flatMap(([owner, own]) => own.map((token) => ({ owner, token: digest(token.reveal()) })))

  return ({ headers }: Pick<IncomingMessage, 'headers'>): Owner | undefined => {
    const [, token = ''] = /^Bearer +([\x21-\x7e]{1,1000}) *$/i.exec(headers.authorization ?? '') ?? []
    const sent = digest(token)
    return known.filter((each) => timingSafeEqual(each.token, sent))[0]?.owner
  }
}
