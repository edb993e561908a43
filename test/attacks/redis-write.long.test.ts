import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Approval, Request } from '../../src/domain/request.ts'
import { encodeFields } from '../../src/record/store.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { general, ops, people, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { type Attack, startAttack } from './start-attack.ts'

const staging = 'proj_2RBis9AK23gEc'

const byBen = { by: people.ben, rule: 'APPROVERS', via: 'S0ONCALL01' }

/** Returns an approval by Ben with a made-up signature that names the key of the bot. */
function forgedApproval({ signature = '', createdAt }: Request): Approval {
  return { ...byBen, at: createdAt + 1, signature: `${signature.slice(0, 9)}${'A'.repeat(43)}` }
}

/** Moves the address back, so that the account would take the same change again. */
function undo({ accountApi }: Attack, { input, facts }: Request): void {
  const { elasticIpId } = input as { elasticIpId: string }
  accountApi.world.moveBehindOurBack(elasticIpId, (facts as { from: { id: string } }).from.id)
}

/** Gives the bot time to look at what was written, and to write. */
async function untilLookedAt({ records }: Attack, { id }: Request): Promise<void> {
  await expect.poll(async () => Number(await records.redis.zscore(records.keys.due, id))).not.toBe(0)
  await delay(1_500)
}

// Each forgery of a record is in life/send, life/authority and domain/request/signatures. Here the whole bot refuses one of each sort.
describe('somebody with write access to Redis cannot send a change', () => {
  test('with a forged approval', async () => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    const { request } = move
    await attack.write(request, { state: 'approved', decision: byBen, approvals: [forgedApproval(request)] })

    await attack.expectRefused(move, 'approvals-not-genuine', /approvals in Redis aren't genuine/)
    expect(attack.accountApi.journal.writes()).toEqual([])
  })

  test('with a forged approval that the next genuine one completes', async () => {
    const policy = 'rules:\n  - { name: both, approve: { any_of: [S0ONCALL01], approvals: 2 } }'
    const attack = await startAttack({ env: { POLICY_FILE: policyInFile(policy) } })
    const { request, card } = await attack.requestMove()
    await attack.write(request, { approvals: [{ ...forgedApproval(request), by: people.chiara }] })
    await attack.ben.click(card, 'Approve')

    await untilShown(attack.slack, people.ben, /1 of 2/)
    expect(await attack.records.find(request.id)).toMatchObject({ state: 'waiting', approvals: [{ by: people.ben }] })
    expect(attack.accountApi.journal.writes()).toEqual([])
  })

  test('a second time, by putting it back to approved', async () => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    await attack.ben.click(move.card, 'Approve')
    await untilReport(attack.slack, move.card.ts, /Done/)
    await attack.records.audit()
    undo(attack, move.request)
    await attack.write(move.request, { state: 'approved' })

    await attack.expectRefused(move, 'already-sent', /it was already sent/)
    expect(attack.accountApi.journal.writes()).toHaveLength(1)
  })

  test('a second time, by keeping the note about the first write out of the audit, which no longer takes any', async () => {
    const attack = await startAttack()
    const { redis, keys } = attack.records
    const move = await attack.requestMove()
    await attack.records.audit()
    await redis.xadd(keys.audit, '18446744073709551615-18446744073709551615', 'entry', 'x', 'hash', 'y')
    await attack.ben.click(move.card, 'Approve')
    await untilLookedAt(attack, move.request)
    undo(attack, move.request)
    await attack.write(move.request, { state: 'approved' })
    await untilLookedAt(attack, move.request)

    expect(attack.accountApi.journal.writes().length).toBeLessThan(2)
  })
})

describe('somebody with write access to Redis cannot have a key in use deleted, by putting its request back to starting', () => {
  /** A key that was rotated through the bot, and its request, which is done. */
  async function startRotated() {
    const attack = await startAttack({ timings: { graceMs: 200, unsettledMs: 200, handoverMs: 8_000 } })
    const { ada, ben, slack, accountApi, records } = attack
    const key = accountApi.world.data.apiKeys.find((candidate) => candidate.token !== accountApi.key)
    await ada.command(`/infra keys rotate ${key?.id}`, { channel: ops })
    await ben.click(await untilCard(slack, /needs approval from/), 'Approve')
    await ada.click(await untilCard(slack, /\*Approved\.\*/), 'Rotate key')
    await untilShown(slack, people.ada, /The new token of API key/)
    const [request] = await records.all()
    if (!request) throw new Error('nothing was requested')
    await expect.poll(async () => (await records.find(request.id)).state).toBe('done')
    return { ...attack, key, request }
  }

  test.each<[how: string, prepare: (rotated: Awaited<ReturnType<typeof startRotated>>) => Promise<unknown>]>([
    ['alone', async () => {}],
    [
      'with a copy of the note that says so',
      async ({ records, request }) => {
        const note = (await records.audit()).find(({ requestId, act }) => requestId === request.id && act === 'issue')
        const { seq, at, prev, ...copy } = note ?? expect.fail('nothing was issued')
        await records.redis.xadd(records.keys.auditIntake, '*', 'note', JSON.stringify(copy), 'at', String(at))
      },
    ],
    [
      'with a made-up note that says so',
      async ({ records, request }) => {
        const note = { version: 1, act: 'issue', requestId: request.id, kind: request.kind }
        await records.redis.xadd(records.keys.auditIntake, '*', 'note', JSON.stringify(note), 'at', String(Date.now()))
      },
    ],
  ])('%s', async (_, prepare) => {
    const rotated = await startRotated()
    const { slack, accountApi, records, request, key } = rotated
    await prepare(rotated)
    await rotated.write(request, { state: 'starting' })

    const notice = await untilCard(slack, /no longer matches what was requested/, general)
    expect(notice.text).toContain(request.id)
    await expect.poll(async () => (await records.audit()).at(-1)?.act).toBe('distrust')
    expect((await records.audit()).at(-1)).toMatchObject({ requestId: request.id, causes: [{ code: 'record-unverified' }] })
    expect(accountApi.journal.writes().filter(({ method }) => method === 'DELETE')).toEqual([])
    expect(accountApi.world.data.apiKeys).toContainEqual(expect.objectContaining({ id: key?.id }))
  })
})

test('somebody with write access to Redis cannot put an approval into the audit that the bot shows as genuine', async () => {
  const { ada, slack, records } = await startAttack()
  const note = { version: 1, act: 'approve', by: people.ben, kind: 'ip.move', resource: 'elastic_ip:eip_1', facts: {}, rule: 'APPROVERS' }
  await records.redis.xadd(records.keys.auditIntake, '*', 'note', JSON.stringify(note), 'at', String(Date.now()))

  await ada.command('/infra audit approve', { channel: ops })

  const shown = await untilShown(slack, people.ada, /Audit: 1 result/)
  expect(shown.text).toMatch(/\*Unverified \(1 of 1 entries: it isn't signed\): Approved.*\nOutcome: Unverified {2}·/)
})

describe('somebody with write access to Redis cannot make an approval count for more', () => {
  test('by showing another project while an approver clicks, whose rule asks for less', async () => {
    const policy = `rules:
  - { name: lax, projects: [${staging}], approve: [S0ONCALL01] }
  - { name: strict, approve: { any_of: [S0ONCALL01], all_of: [${people.chiara}] } }`
    const attack = await startAttack({ env: { POLICY_FILE: policyInFile(policy) } })
    const { request, card } = await attack.requestMove()
    expect(request.rule).toBe('strict')
    const { redis, keys } = attack.records
    await attack.ben.command('/infra help', { channel: ops })
    const asked = attack.slack.faults.add({ method: 'usergroups.users.list', kind: 'delay', delayMs: 1_000, times: 5 })
    const click = attack.ben.click(card, 'Approve')
    await expect.poll(() => asked.fired).toBeGreaterThan(0)
    const facts = { ...(request.facts as object), project: { id: staging } }
    await redis.hset(keys.record(request.id), encodeFields({ facts, revision: request.revision + 1 }))
    await click
    await delay(2_500)
    await redis.hset(keys.record(request.id), encodeFields({ facts: request.facts, state: 'approved' }))
    await redis.zadd(keys.due, 0, request.id)
    await untilReport(attack.slack, card.ts, /Not started/)

    expect((await attack.records.find(request.id)).decision).toBeUndefined()
    expect(attack.accountApi.journal.writes()).toEqual([])
  })
})

test('somebody with write access to Redis cannot choose to which server Move back moves', async () => {
  const attack = await startAttack({ env: { NO_APPROVAL: 'ip.move' } })
  const { elasticIp, target } = attack.accountApi.world.movable()
  await attack.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(attack.slack, /Done/)
  const [request] = await attack.records.all()
  if (!request) throw new Error('nothing was requested')
  const elsewhere = attack.accountApi.world.third(elasticIp.id)
  const seen = { ...(request.seen as object), from: { id: elsewhere.id, name: elsewhere.hostname } }
  await attack.records.redis.hset(attack.records.keys.record(request.id), encodeFields({ seen }))

  await attack.ada.click(card, 'Move back')

  await untilShown(attack.slack, people.ada, /changed|no longer/)
  expect(attack.accountApi.journal.writes()).toHaveLength(1)
})
