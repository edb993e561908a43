import { Redis } from 'ioredis'
import { inject, onTestFinished } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { AuditEntry, createVerifier } from '../../src/audit/chain.ts'
import type { ChangeKind } from '../../src/domain/policy.ts'
import type { Request } from '../../src/domain/request.ts'
import { buttonValue, type CardButton, cardButtons } from '../../src/messages/button-ids.ts'
import { createStore } from '../../src/record/store.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { auditSigning, trusting } from '../given/audit.ts'
import { newRequestFor } from '../given/request.ts'
import { signedBy } from '../given/signatures.ts'
import { shiftRequest } from '../sandbox/breakages.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { ops, type World } from './world.ts'

/** Reads and changes what the bots of a world keep in Redis, without the bots. */
export function openRecords(
  { prefix, slack, signatures, auditKeys }: Pick<World, 'prefix' | 'slack' | 'signatures' | 'auditKeys'>,
  onEnd: (close: () => void) => void = onTestFinished,
) {
  const redis = new Redis(inject('redisUrl'), { maxRetriesPerRequest: null })
  onEnd(() => redis.disconnect())
  const keys = createKeys(prefix)
  const chained = createAudit({
    redis,
    keys,
    print: () => {},
    onError: () => {},
    ...auditSigning({ keys: auditKeys, prefix }),
  })
  const store = createStore({ redis, keys, audit: chained, signatures: trusting })
  const shift = (request: Request, ms: number) => shiftRequest({ redis, keys, signatures }, request, ms)

  async function find(id: string): Promise<Request> {
    const request = await store.find(id)
    if (!request) throw new Error(`there is no request ${id}`)
    return request
  }

  /** Records a request by Ada, with a message for its card that has every button. */
  async function create(wanted: { kind: ChangeKind; resource: string; input: unknown; facts: unknown; ttlMs?: number }): Promise<Request> {
    const request = signedBy(signatures, newRequestFor(wanted))
    await store.create(request)
    const cardTs = await post(ops, allButtons(buttonValue(request)))
    await redis.hset(keys.record(request.id), 'cardTs', JSON.stringify(cardTs))
    return find(request.id)
  }

  /** Posts an empty message as the bot. Resolves with its ts. */
  async function post(channel: string, blocks: unknown[]): Promise<string> {
    const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
      method: 'POST',
      headers: { authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ channel, text: 'A card', blocks }),
    })
    const answer = (await response.json()) as { ok: boolean; ts?: string; error?: string }
    if (!answer.ts) throw new Error(`the stand-in took no message: ${answer.error}`)
    return answer.ts
  }

  /** Returns every entry of the audit, oldest first, with all notes up to now. Throws if the chain is not whole. */
  async function audit(): Promise<AuditEntry[]> {
    while ((await redis.xlen(keys.auditIntake)) > 0) await chained.tidy()
    const verifier = createVerifier()
    const texts = (await redis.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => text)
    const faults = texts.flatMap((text) => verifier.next(text) ?? [])
    if (faults.length > 0) throw new Error(faults.join('\n'))
    return texts.map((text) => AuditEntry.parse(JSON.parse(text)))
  }

  /** Shifts the times of a request, as if this much time had passed since it was requested. */
  const shiftTimes = async (id: string, ms: number) => shift(await find(id), ms)

  /** Frees what a dead process held of a request, and makes it due. */
  async function releaseHolds(id: string): Promise<void> {
    await redis.eval(passHolds, 3, keys.record(id), keys.due, keys.outbox, id)
  }

  /** Returns all stored requests, in any state, without the children of others. */
  async function all(): Promise<Request[]> {
    const names = await redis.keys(`${keys.recordPrefix}*`)
    const found = await store.findMany(names.map((name) => name.slice(keys.recordPrefix.length)))
    return found.filter(({ parent }) => !parent)
  }

  return { redis, keys, store, note: chained.note, chained, find, create, post, audit, shiftTimes, releaseHolds, all }
}
export type Records = ReturnType<typeof openRecords>

/** KEYS: record, due, outbox. ARGV: id. One script, because the bots run meanwhile. */
const passHolds = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0) > now then
  if redis.call('HGET', KEYS[1], 'state') ~= '"waiting"' then redis.call('ZADD', KEYS[2], 'XX', now, ARGV[1]) end
end
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  local name = string.match(flat[i], '^outbox:(.+)$')
  local item = name and cjson.decode(flat[i + 1])
  if item and item.status == 'sending' then
    item['until'] = now
    redis.call('HSET', KEYS[1], flat[i], cjson.encode(item))
    redis.call('ZADD', KEYS[3], 'XX', now, ARGV[1] .. '/' .. name)
  end
end`

export const buttonNames = Object.keys(cardButtons) as CardButton[]

function allButtons(value: string) {
  const elements = buttonNames.map((name) => {
    const text = { type: 'plain_text', text: name }
    return { type: 'button', action_id: cardButtons[name], text, value }
  })
  return [{ type: 'actions', block_id: 'all', elements }]
}

/** Returns the card of a request with every button. `value` replaces what the buttons carry. */
export function cardOf(request: Request, { value = buttonValue(request), channel = ops, ts = request.cardTs ?? '' } = {}): Message {
  return {
    channel,
    ts,
    user: 'U0LOCKKEEP',
    userName: 'Lockkeeper',
    isBot: true,
    text: 'A card',
    blocks: allButtons(value),
    ephemeral: false,
  }
}
