import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '../../src/audit/chain.ts'
import type { Request } from '../../src/domain/request.ts'
import { encodeFields } from '../../src/record/store.ts'
import { addresses, requestEvacuation, withAddresses } from '../journeys/evacuations.ts'
import { general, ops, people, untilCard, untilReport } from '../journeys/world.ts'
import { type Attack, startAttack } from './start-attack.ts'

const harmless = 'harmless-server'

/** Starts an evacuation of three addresses that is under way. */
async function startEvacuation() {
  const own = addresses(3)
  const attack = await startAttack(withAddresses(own, { account: { moveTakes: { min: 1_500, max: 1_500 } } }))
  const card = await requestEvacuation(attack)
  await attack.ben.click(card, 'Approve')
  const request = (await attack.records.all())[0] ?? expect.fail('nothing was requested')
  await expect.poll(async () => (await attack.records.find(request.id)).items?.map(({ state }) => state)).toEqual(Array(3).fill('tracking'))
  return { attack, card, request: await attack.records.find(request.id), ids: own.map(({ id }) => id) }
}

/** Makes facts name another target. */
const disguised = (facts: unknown) => ({ ...(facts as object), to: { id: 'sv_harmless', name: harmless } })

const changes: [how: string, change: (facts: unknown) => unknown][] = [
  ['changed', disguised],
  ['made unreadable', () => harmless],
]

/** Expects that the tracking ends, and that the thread, the operators and the audit say so, without what the record says now. */
async function expectDistrusted({ records, slack }: Attack, id: string, cardTs: string): Promise<AuditEntry[]> {
  const report = await untilReport(slack, cardTs, /No longer tracked/)
  expect(report.text).toContain("Its record in Redis doesn't match what was requested.")
  expect((await untilCard(slack, /no longer matches what was requested/, general)).text).toContain(id)
  expect((await records.find(id)).state).toBe('untracked')
  const entries = (await records.audit()).filter(({ requestId }) => requestId === id)
  expect(entries.at(-1)).toMatchObject({ act: 'distrust', causes: [{ code: 'record-unverified' }] })
  expect(JSON.stringify([entries, slack.messages(ops)])).not.toContain(harmless)
  return entries
}

describe('somebody with write access to Redis cannot have the bot sign', () => {
  test.each(changes)('facts of an evacuation that were %s while it is under way', async (_, change) => {
    const { attack, card, request } = await startEvacuation()
    await attack.write(request, { facts: change(request.facts), seen: change(request.seen) })

    const entries = await expectDistrusted(attack, request.id, card.ts)
    expect(entries.filter(({ act }) => act === 'finish-item' || act === 'finish')).toEqual([])
  })

  test.each(changes)('facts of a move that were %s while it is under way', async (_, change) => {
    const attack = await startAttack({ account: { moveTakes: { min: 1_500, max: 1_500 } } })
    const { request, card } = await attack.requestMove()
    await attack.ben.click(card, 'Approve')
    await expect.poll(async () => (await attack.records.find(request.id)).state).toBe('tracking')
    await attack.write(request, { facts: change(request.facts) })

    const entries = await expectDistrusted(attack, request.id, card.ts)
    expect(entries.at(-1)?.facts).toBeUndefined()
    // The record no longer proves who approved it, and must not say that nobody had to.
    await untilCard(attack.slack, /No longer tracked.*approver not verified/s)
  })

  test('facts of a request that waits, with its end', async () => {
    const { records, requestMove, write } = await startAttack()
    const { request } = await requestMove()
    await write(request, { facts: disguised(request.facts), expiresAt: Date.now() - 1 })

    await expect.poll(async () => (await records.find(request.id)).state).toBe('expired')
    const last = (await records.audit()).findLast(({ requestId }) => requestId === request.id)
    expect(last).toMatchObject({ act: 'expire', causes: [{ code: 'record-unverified' }] })
    expect(JSON.stringify(last)).not.toContain(harmless)
  })
})

test('somebody with write access to Redis cannot make a request look like one of another version, unnoticed', async () => {
  const { records, requestMove, slack, write } = await startAttack()
  const { request } = await requestMove()
  await write(request, { facts: harmless })

  expect((await untilCard(slack, /no longer matches what was requested/, general)).text).toContain(request.id)
  const last = async () => (await records.audit()).findLast(({ requestId }) => requestId === request.id)
  await expect.poll(last).toMatchObject({ act: 'distrust', causes: [{ code: 'record-changed' }] })
})

test('somebody with write access to Redis cannot keep an evacuation open: what its record says of its addresses is not read', async () => {
  const { attack, card, request, ids } = await startEvacuation()
  const [first = ''] = ids
  const items = [...ids.slice(1), 'eip_foreign', first, first].map((id) => ({ id, state: 'tracking' as const, causes: [] }))
  await attack.write(request, { items })

  await untilReport(attack.slack, card.ts, /Done/)
})

test('somebody with write access to Redis cannot pass the record of one request off as another one', async () => {
  const { records, requestMove, write } = await startAttack()
  const { request } = await requestMove()
  const { redis, keys } = records
  const copy = 'c'.repeat(32)
  await redis.hset(keys.record(copy), await redis.hgetall(keys.record(request.id)))
  await write({ ...request, id: copy }, { expiresAt: Date.now() - 1 })

  await expect.poll(async () => (await records.find(copy)).state).toBe('expired')
  expect((await records.find(request.id)).state).toBe('waiting')
})

/** Writes fields into a record, and makes the bot show it anew. */
async function show({ records }: Attack, request: Request, fields: Partial<Request>): Promise<void> {
  const { redis, keys } = records
  const { revision } = await records.find(request.id)
  await redis.hset(keys.record(request.id), encodeFields({ ...fields, revision: revision + 1 }))
  await redis.zadd(keys.outbox, 0, `${request.id}/card`)
}

describe('somebody with write access to Redis cannot show approvers another change than the one that they approve', () => {
  test.each<[what: string, fields: (request: Request) => Partial<Request>]>([
    ['another target', ({ facts }) => ({ facts: disguised(facts) })],
    ['other names of approvers', () => ({ approverNames: `@${harmless}` })],
    ['other names of the people in its warnings', () => ({ personNames: { [people.ada]: harmless } })],
  ])('on the card: %s', async (_, fields) => {
    const attack = await startAttack()
    const { request, card } = await attack.requestMove()
    await show(attack, request, fields(request))

    await untilCard(attack.slack, /no longer matches what was requested/, general)
    const shown = attack.slack.messages(ops).find(({ ts }) => ts === card.ts)
    expect(JSON.stringify(shown)).not.toContain(harmless)
    expect(JSON.stringify(shown?.blocks)).not.toContain('request-approve')
  })

  test('on the Home tab', async () => {
    const attack = await startAttack()
    const { request } = await attack.requestMove()
    await attack.records.redis.hset(attack.records.keys.record(request.id), encodeFields({ facts: disguised(request.facts) }))

    await attack.ben.openHome()
    await attack.slack.until(() => attack.slack.home(people.ben), { what: 'the Home tab' })
    const home = JSON.stringify(attack.slack.home(people.ben)?.blocks)
    expect(home).toContain('Needs your approval')
    expect(home).not.toContain(harmless)
    expect(home).not.toContain('request-approve')
  })
})
