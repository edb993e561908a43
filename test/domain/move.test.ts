import { describe, expect, test } from 'vitest'
import type { ElasticIp } from '../../src/domain/elastic-ip.ts'
import { judgeMove, type Move } from '../../src/domain/move.ts'

const move: Move = { address: '203.0.113.10', from: { id: 'sv_1', name: 'web-1' }, to: { id: 'sv_2', name: 'web-2' } }

function seen(status: string, serverId: string | undefined, hostname = serverId): ElasticIp {
  return {
    id: 'eip_1',
    address: '203.0.113.10',
    status,
    server: serverId === undefined ? undefined : { id: serverId, hostname },
    project: undefined,
    site: undefined,
  }
}

const young = { phase: 'accepted', sinceSentMs: 1_000, early: true } as const
const old = { phase: 'accepted', sinceSentMs: 60_000, early: false } as const

describe('what a look at the Elastic IP means', () => {
  test.each([
    ['moving to the target', seen('moving', 'sv_2'), young, 'underway'],
    ['active on the target', seen('active', 'sv_2'), young, 'done'],
    ['active where it was, a moment after the write', seen('active', 'sv_1'), young, 'unclear'],
    ['active where it was, long after the account API accepted', seen('active', 'sv_1'), old, 'failed'],
    [
      'active where it was, long after a write without an answer',
      seen('active', 'sv_1'),
      { phase: 'sent', sinceSentMs: 60_000, early: false },
      'not-started',
    ],
    ['moving to a third server', seen('moving', 'sv_3'), young, 'superseded'],
    ['active on a third server', seen('active', 'sv_3'), young, 'superseded'],
    ['in error', seen('error', 'sv_2'), young, 'failed'],
    ['being released', seen('releasing', 'sv_2'), young, 'failed'],
    ['gone', 'gone', young, 'failed'],
    ['without a server', seen('active', undefined), old, 'unclear'],
    ['being configured', seen('configuring', 'sv_2'), old, 'unclear'],
    ['in a status nobody has heard of', seen('teleporting', 'sv_2'), old, 'unclear'],
  ] as const)('%s', (_, elasticIp, moment, verdict) => {
    expect(judgeMove(move, elasticIp, moment).is).toBe(verdict)
  })

  test('only active on the target is done, whatever else is seen', () => {
    const statuses = ['active', 'moving', 'configuring', 'releasing', 'error', 'ACTIVE', '']
    const servers = ['sv_1', 'sv_2', 'sv_3', undefined]
    const done = statuses.flatMap((status) =>
      servers.filter((server) => judgeMove(move, seen(status, server), old).is === 'done').map((server) => [status, server]),
    )
    expect(done).toEqual([['active', 'sv_2']])
  })

  test('a server that is not the old one is not blamed on anybody while the old one is not known', () => {
    const verdict = judgeMove({ ...move, from: undefined }, seen('active', 'sv_3', 'db-1'), {
      phase: 'sent',
      sinceSentMs: 60_000,
      early: false,
    })
    expect(verdict).toEqual({
      is: 'not-started',
      why: '203.0.113.10 is still active on db-1: the move did not start and nothing was changed.',
    })
  })

  test('each end says what was seen', () => {
    expect(judgeMove(move, seen('active', 'sv_3', 'db-1'), young)).toMatchInlineSnapshot(`
      {
        "is": "superseded",
        "why": "203.0.113.10 is on db-1: it was moved by somebody else meanwhile.",
      }
    `)
    expect(judgeMove(move, seen('active', 'sv_1'), old)).toMatchInlineSnapshot(`
      {
        "is": "failed",
        "mayStillHappen": true,
        "why": "The account API accepted the move, but 203.0.113.10 is active on web-1 again.",
      }
    `)
  })
})
