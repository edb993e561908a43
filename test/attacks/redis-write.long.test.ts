import { describe, expect, test } from 'vitest'
import type { Approval, Request } from '../../src/domain/request.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { general, ops, people, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { startAttack } from './start-attack.ts'

const byBen = { by: people.ben, rule: 'APPROVERS', via: 'S0ONCALL01' }

/** Returns an approval by Ben with a made-up signature that names the key of the bot. */
function forgedApproval({ signature = '', createdAt }: Request): Approval {
  return { ...byBen, at: createdAt + 1, signature: `${signature.slice(0, 9)}${'A'.repeat(43)}` }
}

describe('somebody with write access to Redis cannot send a change', () => {
  test('by taking away that it needs an approval', async () => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    await attack.write(move.request, { needsApproval: false })

    await attack.expectRefused(move, 'record-changed', /no longer matches what was approved/)
    expect(attack.accountApi.journal.writes()).toEqual([])
  })

  test.each<[how: string, fields: (request: Request) => Partial<Request>]>([
    ['by calling it approved', () => ({ state: 'approved' })],
    ['with a forged approval', (request) => ({ state: 'approved', decision: byBen, approvals: [forgedApproval(request)] })],
  ])('%s', async (_, fields) => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    await attack.write(move.request, fields(move.request))

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

  test.each<[how: string, entries: object[]]>([
    ['by putting it back to approved', []],
    // The search for the first write goes back in time. It must not end at an entry that claims to be old.
    ['by putting it back to approved, with an entry that claims to be old', [{ version: 1, act: 'request' }]],
  ])('a second time, %s', async (_, entries) => {
    const attack = await startAttack()
    const move = await attack.requestMove()
    await attack.ben.click(move.card, 'Approve')
    await untilReport(attack.slack, move.card.ts, /Done/)
    // The address has moved back since, so that the account would take the same change again.
    const { elasticIpId } = move.request.input as { elasticIpId: string }
    const { from } = move.request.facts as { from: { id: string } }
    attack.accountApi.world.moveBehindOurBack(elasticIpId, from.id)
    const { redis, keys } = attack.records
    for (const entry of entries) await redis.xadd(keys.auditIntake, '*', 'note', JSON.stringify(entry), 'at', '0')
    await attack.write(move.request, { state: 'approved' })

    await attack.expectRefused(move, 'already-sent', /it was sent before/)
    expect(attack.accountApi.journal.writes()).toHaveLength(1)
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

  const shown = await untilShown(slack, people.ada, /Audit: 1 other entry/)
  expect(shown.text).toMatch(/:warning: \*Unverified \(it isn't signed\): Approved.* {2}· {2}Unverified {2}·/)
})
