import { describe, expect, test } from 'vitest'
import { approveMove, ops, patchesOf, people, startWorld, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import { moveInto, patient } from './moves.ts'

const timings = { graceMs: 600, unsettledMs: 600, handoverMs: 800 }

test.each<[string, FaultOrder]>([
  ['a 500', { kind: 'status', status: 500, applied: true }],
  ['a 502 with a web page', { kind: 'instead', instead: () => ({ status: 502, type: 'text/html', text: '<h1>Bad gateway</h1>' }) }],
  ['a 202 with a web page', { kind: 'instead', instead: () => ({ status: 202, type: 'text/html', text: '<h1>Welcome</h1>' }) }],
  ['a 202 that ends in the middle', { kind: 'truncate' }],
  ['a 202 with another shape', { kind: 'instead', instead: () => ({ status: 202, body: { ok: true } }) }],
  ['a 429', { kind: 'status', status: 429, applied: true, headers: { 'retry-after': '1' } }],
  ['a 408', { kind: 'status', status: 408, applied: true }],
])('a write that took effect, with %s as its answer, is tracked to its end, and written once', async (_, order) => {
  const { slack, accountApi, card, elasticIp, target } = await moveInto(order, /Done/, { timings })

  expect(accountApi.world.elasticIp(elasticIp.id)).toMatchObject({ status: 'active', serverId: target.id })
  expect(slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
})

test.each<[string, FaultOrder]>([
  ['its connection closes', { kind: 'drop-before' }],
  ['its connection is reset', { kind: 'reset' }],
  ['it is answered with 429', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
])('a write that has no effect, because %s, is reported as not started once a read shows it, and not sent again', async (_, order) => {
  const { accountApi, elasticIp, report } = await moveInto(order, /Not started/, { timings })

  expect(report.text).toContain('Nothing was changed')
  expect(accountApi.world.elasticIp(elasticIp.id)).toMatchObject({ status: 'active', serverId: elasticIp.serverId })
})

describe('a write that is answered with 429', () => {
  test('with a pause of two minutes holds all writes back and no reads: they settle it, and people get their answers', async () => {
    const world = await startWorld({ timings })
    const fault = world.accountApi.faults.add({
      method: 'PATCH',
      kind: 'status',
      status: 429,
      applied: true,
      headers: { 'retry-after': '120' },
    })

    const { card } = await approveMove(world)
    await expect.poll(() => fault.fired, patient).toBe(1)
    await world.chiara.command('/infra ip list', { channel: ops })
    await untilShown(world.slack, people.chiara, /18 Elastic IPs/)
    await untilReport(world.slack, card.ts, /\*Done\.\*/)
    await approveMove(world)
    await untilCard(world.slack, /Starts in about [12]\u00a0min.*: the account allows \d+ changes a minute/)

    expect(patchesOf(world)).toHaveLength(1)
  })
})
