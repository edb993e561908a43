import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { hashOf } from '../../src/audit/chain.ts'
import type { Request } from '../../src/domain/request.ts'
import { encodeFields } from '../../src/requests/store.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops, people, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { type Attack, startAttack } from './start-attack.ts'

type Move = Awaited<ReturnType<Attack['requestMove']>>

const staging = 'proj_2RBis9AK23gEc'

/** Moves the address back, so that the account would take the same change again. */
function undo({ accountApi }: Attack, { input, facts }: Request): void {
  const { elasticIpId } = input as { elasticIpId: string }
  accountApi.world.moveBehindOurBack(elasticIpId, (facts as { from: { id: string } }).from.id)
}

/** Carries out a move, and makes the account as it was before. */
async function carryOut(attack: Attack): Promise<Move> {
  const move = await attack.requestMove()
  await attack.ben.click(move.card, 'Approve')
  await untilReport(attack.slack, move.card.ts, /Done/)
  await attack.records.audit()
  undo(attack, move.request)
  return move
}

/** Gives the bot time to look at what was written, and to write. */
async function untilLookedAt({ records }: Attack, { id }: Request): Promise<void> {
  await expect.poll(async () => Number(await records.redis.zscore(records.keys.due, id))).not.toBe(0)
  await delay(1_500)
}

describe('somebody with write access to Redis cannot have an approved change sent a second time', () => {
  test('by putting it back, with an audit whose entries look older than the approval', async () => {
    const attack = await startAttack()
    const move = await carryOut(attack)
    const { redis, keys } = attack.records
    const found = await redis.xrange(keys.audit, '-', '+')
    await redis.del(keys.audit)
    for (const [index, [, fields]] of found.entries()) await redis.xadd(keys.audit, `${index + 1}-0`, ...fields)
    await attack.write(move.request, { state: 'approved' })

    await attack.expectRefused(move, 'already-sent', /it was sent before/)
    expect(attack.accountApi.journal.writes()).toHaveLength(1)
  })

  test('by putting it back, with an audit that spells its id with escapes, in a chain that is computed again', async () => {
    const attack = await startAttack()
    const move = await carryOut(attack)
    const { redis, keys } = attack.records
    const found = await redis.xrange(keys.audit, '-', '+')
    await redis.del(keys.audit)
    const { id: requestId } = move.request
    const escaped = `${requestId[0]}\\u00${requestId.charCodeAt(1).toString(16)}${requestId.slice(2)}`
    let last = ''
    for (const [id, [, entry = '']] of found) {
      const text = JSON.stringify({ ...JSON.parse(entry), prev: last }).replaceAll(requestId, escaped)
      last = hashOf(text)
      await redis.xadd(keys.audit, id, 'entry', text, 'hash', last)
    }
    await redis.hset(keys.auditHead, 'hash', last)
    await attack.write(move.request, { state: 'approved' })

    const report = await untilReport(attack.slack, move.card.ts, /Not started/)
    expect(report.text).toMatch(/it was sent before/)
    await expect(attack.records.audit()).rejects.toThrow(/Entry 3 was rewritten/)
    expect(attack.accountApi.journal.writes()).toHaveLength(1)
  })

  test('by keeping the note about the first write out of the audit, which no longer takes any', async () => {
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

describe('somebody with write access to Redis cannot bring a request back that has ended', () => {
  test('after it was withdrawn', async () => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    await attack.ada.click(move.card, 'Withdraw')
    await expect.poll(async () => (await attack.records.find(move.request.id)).state).toBe('withdrawn')

    await attack.write(move.request, { state: 'waiting' })
    await attack.ben.click(move.card, 'Approve')
    await attack.records.redis.zadd(attack.records.keys.due, 0, move.request.id)
    await attack.expectRefused(move, 'already-ended', /it had already ended/)
    expect(attack.accountApi.journal.writes()).toEqual([])
  })

  test('after it was void, because the account had changed', async () => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    const { elasticIpId } = move.request.input as { elasticIpId: string }
    attack.accountApi.world.moveBehindOurBack(elasticIpId, attack.accountApi.world.third(elasticIpId).id)
    await attack.ben.click(move.card, 'Approve')
    await untilReport(attack.slack, move.card.ts, /\*Canceled:/)
    undo(attack, move.request)
    await attack.write(move.request, { state: 'approved' })

    await attack.expectRefused(move, 'already-ended', /it had already ended/)
    expect(attack.accountApi.journal.writes()).toEqual([])
  })
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
