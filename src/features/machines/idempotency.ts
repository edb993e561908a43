import { hash } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { canonicalJson } from '../../domain/signing.ts'
import { guardStore } from '../../redis/connect.ts'
import { Refusal } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text.ts'

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, { error: 'must have 1 to 255 characters without spaces' })
  .describe('The same for each try of one request. It holds for 24 hours')

/**
 * Returns what the id of the request comes from, which is the same for all calls with the key in all processes. After 24 hours the key makes another
 * request. Throws a Refusal if the first call with it sent something else.
 */
export async function claimKey({ redis, keys }: App, userId: string, key: string, sent: object): Promise<string> {
  const ofKey = hash('sha256', canonicalJson([userId, key]))
  const ofSent = `${hash('sha256', canonicalJson(sent))}.`
  const own = `${ofSent}${Date.now()}`
  const first = (await guardStore(() => redis.set(keys.idempotency(ofKey), own, 'PX', keyMs, 'NX', 'GET'))) ?? own
  if (!first.startsWith(ofSent))
    throw new Refusal(
      'idempotency-key-used',
      mrkdwn`Not requested: this idempotency key was used for another request in the last 24 hours. Use a new key.`,
    )
  return `call:${ofKey}.${first}`
}

const keyMs = 24 * 3_600_000
