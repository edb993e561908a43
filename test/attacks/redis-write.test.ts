import { describe, expect, test } from 'vitest'
import type { Approval, Request } from '../../src/domain/request.ts'
import { encodeFields } from '../../src/requests/store/record.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { openRecords } from '../journeys/records.ts'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown, type WorldOptions } from '../journeys/world.ts'

/** Starts a bot, and somebody who can write to its Redis. The channel of the operators is #general. */
async function startAttack({ env = {}, ...more }: WorldOptions = {}) {
  const world = await startWorld({ env: { OPS_CHANNEL: general, ...env }, ...more })
  world.slack.invite(general)
  const records = openRecords(world)

  /** Writes these fields into the record of a request, and makes the bot look at it. */
  async function write({ id }: Request, fields: Partial<Request>): Promise<void> {
    await records.redis.hset(records.keys.record(id), encodeFields(fields))
    await records.redis.zadd(records.keys.due, 0, id)
  }

  /** Ada requests a move. Returns its request, which waits, and its card. */
  async function requestMove(skip = 0) {
    const { elasticIp, target } = world.accountApi.world.movable(skip)
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    const card = await untilCard(world.slack, new RegExp(`${elasticIp.address}[^]*Waiting for approval`))
    const request = (await records.all()).find(({ resource }) => resource === `elastic_ip:${elasticIp.id}`)
    if (!request) throw new Error('nothing was requested')
    return { request, card }
  }

  /** Expects that the request ends without a write, and that its thread, the operators and the audit say so. */
  async function expectRefused({ request, card }: Awaited<ReturnType<typeof requestMove>>, code: string, words: RegExp): Promise<void> {
    const report = await untilReport(world.slack, card.ts, /Not started/)
    expect(report.text).toMatch(words)
    const notice = await untilCard(world.slack, /is no longer what was asked for/, general)
    expect(notice.text).toContain(request.id)
    const [last] = (await records.audit()).filter(({ requestId }) => requestId === request.id).toReversed()
    expect(last).toMatchObject({ act: 'drop', causes: [{ code }] })
  }

  return { ...world, records, write, requestMove, expectRefused }
}
type Attack = Awaited<ReturnType<typeof startAttack>>

const byBen = { by: people.ben, rule: 'APPROVERS', via: 'S0ONCALL01' }

/** Returns an approval by Ben with a made-up signature that names the key of the bot. */
function forgedApproval({ signature = '', createdAt }: Request): Approval {
  return { ...byBen, at: createdAt + 1, signature: `${signature.slice(0, 9)}${'A'.repeat(43)}` }
}

/** Requests, approves and carries out another move. Returns its approvals. */
async function approvalsOfAnother({ ben, slack, records, requestMove }: Attack): Promise<Approval[]> {
  const other = await requestMove(4)
  await ben.click(other.card, 'Approve')
  await untilReport(slack, other.card.ts, /Done/)
  return (await records.find(other.request.id)).approvals
}

describe('somebody with write access to Redis cannot send a change', () => {
  test('by taking away that it needs an approval', async () => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    await attack.write(move.request, { needsApproval: false })

    await attack.expectRefused(move, 'record-changed', /no longer what was approved/)
    expect(attack.accountApi.journal.writes()).toEqual([])
  })

  test.each<[how: string, fields: (request: Request) => Partial<Request>]>([
    ['by calling it approved', () => ({ state: 'approved' })],
    ['with a forged approval', (request) => ({ state: 'approved', decision: byBen, approvals: [forgedApproval(request)] })],
    [
      'with an unsigned approval',
      ({ createdAt }) => ({ state: 'approved', decision: byBen, approvals: [{ ...byBen, at: createdAt + 1 }] }),
    ],
    [
      'with a forged emergency',
      ({ createdAt, origin, signature }) => {
        const decision = {
          by: origin.userId,
          rule: 'APPROVERS',
          via: origin.userId,
          reason: 'all is down',
          breakGlass: true,
          at: createdAt,
        }
        return { state: 'approved', decision: { ...decision, signature: signature ?? '' } }
      },
    ],
  ])('%s', async (_, fields) => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    await attack.write(move.request, fields(move.request))

    await attack.expectRefused(move, 'approvals-not-genuine', /approvals in Redis aren't genuine/)
    expect(attack.accountApi.journal.writes()).toEqual([])
  })

  test('with the approvals of another request', async () => {
    const attack = await startAttack()
    const approvals = await approvalsOfAnother(attack)
    const move = await attack.requestMove()
    await attack.write(move.request, { state: 'approved', decision: byBen, approvals })

    await attack.expectRefused(move, 'approvals-not-genuine', /approvals in Redis aren't genuine/)
    expect(attack.accountApi.journal.writes()).toHaveLength(1)
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
    // The address has moved back since, so that the account would take the same change again.
    const { elasticIpId } = move.request.input as { elasticIpId: string }
    const { from } = move.request.facts as { from: { id: string } }
    attack.accountApi.world.moveBehindOurBack(elasticIpId, from.id)
    await attack.write(move.request, { state: 'approved' })

    await attack.expectRefused(move, 'already-sent', /it was sent before/)
    expect(attack.accountApi.journal.writes()).toHaveLength(1)
  })
})

test('somebody with write access to Redis cannot have a key in use deleted, by putting its request back to starting', async () => {
  const attack = await startAttack({ timings: { graceMs: 200, handoverMs: 400 } })
  const { ada, ben, slack, accountApi, records } = attack
  const key = accountApi.world.data.apiKeys.find((candidate) => candidate.token !== accountApi.key)
  await ada.command(`/infra keys rotate ${key?.id}`, { channel: ops })
  await ben.click(await untilCard(slack, /Waiting for approval/), 'Approve')
  await ada.click(await untilCard(slack, /\*Approved\.\*/), 'Rotate and show')
  await untilShown(slack, people.ada, /The new token of API key/)
  const [request] = await records.all()
  if (!request) throw new Error('nothing was requested')
  await expect.poll(async () => (await records.find(request.id)).state).toBe('done')

  await attack.write(request, { state: 'starting' })

  const notice = await untilCard(slack, /is no longer what was asked for/, general)
  expect(notice.text).toContain(request.id)
  await expect.poll(async () => (await records.audit()).at(-1)?.act).toBe('distrust')
  expect((await records.audit()).at(-1)).toMatchObject({ requestId: request.id, causes: [{ code: 'record-changed' }] })
  expect(accountApi.journal.writes().filter(({ method }) => method === 'DELETE')).toEqual([])
  expect(accountApi.world.data.apiKeys).toContainEqual(expect.objectContaining({ id: key?.id }))
})
