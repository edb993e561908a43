import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../domain/signing/secret.ts'

/**
 * Creates the check of an `Authorization` header. It compares hashes of one length with all tokens, so its time says nothing about them. Several
 * tokens are valid at once, so that a token can be replaced without losing an alert.
 */
export function createCheckBearer(tokens: readonly Secret[]) {
  const valid = tokens.map((token) => digest(token.reveal()))

  return function isAuthorized(header: string | undefined): boolean {
    const [, token = ''] = /^Bearer +([\x21-\x7e]{1,1000}) *$/i.exec(header ?? '') ?? []
    const sent = digest(token)
    return valid.map((each) => timingSafeEqual(each, sent)).includes(true)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
