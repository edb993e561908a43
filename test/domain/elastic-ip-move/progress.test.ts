import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Moment } from '../../../src/domain/change.ts'
import type { Request } from '../../../src/domain/request.ts'
import { type Move, observeMove } from '../../../src/moves/move.ts'
import { nextStep } from '../../../src/requests/next-step.ts'
import { requestFor } from '../../requests/request-for-test.ts'
import { afterStep } from '../../requests/take-steps.ts'
import { elasticIpFor, ids } from '../account-objects.ts'

const from = { id: ids.web1, name: 'web-1' }
const to = { id: ids.web2, name: 'web-2' }
const move: Move = { elasticIpId: ids.elasticIp, address: '203.0.113.10', from, to }

const places = {
  from: { id: ids.web1, hostname: 'web-1' },
  target: { id: ids.web2, hostname: 'web-2' },
  third: { id: ids.web3, hostname: 'db-1' },
  none: undefined,
} as const
type Place = keyof typeof places

function seen(status: string, place: Place) {
  return elasticIpFor({ status, server: places[place] })
}

const graceMs = 60_000
const unsettledMs = 15 * 60_000
function at(phase: Moment['phase'], sinceSentMs: number): Moment {
  return { phase, sinceSentMs, early: sinceSentMs < graceMs, isUnsettled: sinceSentMs < unsettledMs }
}
const young = at('accepted', 1_000)
const old = at('accepted', unsettledMs)

describe('what a read of the Elastic IP means', () => {
  // Each row has the status, the shown server, and the observation of an accepted write: right after it, and 15 minutes after it.
  test.each([
    ['moving', 'from', 'underway', 'underway'],
    ['moving', 'target', 'underway', 'underway'],
    ['moving', 'none', 'underway', 'underway'],
    ['moving', 'third', 'unclear', 'superseded'],
    ['active', 'from', 'unclear', 'failed'],
    ['active', 'target', 'done', 'done'],
    ['active', 'none', 'unclear', 'unclear'],
    ['active', 'third', 'unclear', 'superseded'],
    ['configuring', 'from', 'unclear', 'unclear'],
    ['configuring', 'target', 'unclear', 'unclear'],
    ['configuring', 'none', 'unclear', 'unclear'],
    ['configuring', 'third', 'unclear', 'unclear'],
    ['pending', 'from', 'unclear', 'unclear'],
    ['teleporting', 'target', 'unclear', 'unclear'],
    ['teleporting', 'third', 'unclear', 'unclear'],
    ['error', 'target', 'failed', 'failed'],
    ['releasing', 'from', 'failed', 'failed'],
  ] as const)('%s on %s', (status, place, early, late) => {
    expect(observeMove(move, seen(status, place), young).is).toBe(early)
    expect(observeMove(move, seen(status, place), old).is).toBe(late)
  })

  test('a missing Elastic IP means failed', () => {
    expect(observeMove(move, 'gone', young).is).toBe('failed')
  })

  test('an address on its old server after a write without an answer means not started', () => {
    expect(observeMove(move, seen('active', 'from'), at('sent', unsettledMs)).is).toBe('not-started')
  })

  test('an address on its old server proves nothing for 15 minutes, because the write may still take effect', () => {
    for (const phase of ['sent', 'accepted'] as const)
      expect(observeMove(move, seen('active', 'from'), at(phase, unsettledMs - 1)).is).toBe('unclear')
  })

  test('while the old server is unknown, another server does not mean superseded', () => {
    const { from: _, ...unknownFrom } = move
    expect(observeMove(unknownFrom, seen('moving', 'third'), old).is).toBe('underway')
    expect(observeMove(unknownFrom, seen('active', 'third'), at('sent', unsettledMs))).toMatchInlineSnapshot(`
      {
        "cause": {
          "address": "203.0.113.10",
          "code": "still-on-old-server",
          "server": "db-1",
        },
        "is": "not-started",
      }
    `)
  })

  test('the cause of an end has the server that was shown', () => {
    expect(observeMove(move, seen('active', 'third'), old)).toMatchInlineSnapshot(`
      {
        "cause": {
          "address": "203.0.113.10",
          "code": "moved-by-others",
          "isMoving": false,
          "server": "db-1",
        },
        "is": "superseded",
      }
    `)
    expect(observeMove(move, seen('moving', 'third'), old)).toMatchInlineSnapshot(`
      {
        "cause": {
          "address": "203.0.113.10",
          "code": "moved-by-others",
          "isMoving": true,
          "server": "db-1",
        },
        "is": "superseded",
      }
    `)
    expect(observeMove(move, seen('active', 'from'), old)).toMatchInlineSnapshot(`
      {
        "cause": {
          "address": "203.0.113.10",
          "code": "back-on-old-server",
          "server": "web-1",
        },
        "is": "failed",
      }
    `)
  })

  test('an observation without an end has the status and the server for a report of a late move', () => {
    expect(observeMove(move, seen('moving', 'from'), old)).toMatchObject({ seen: { status: 'moving', server: 'web-1' } })
    expect(observeMove(move, seen('active', 'none'), old)).toMatchObject({ seen: { status: 'active', server: null } })
  })
})

describe('a series of reads', () => {
  const sentAt = 1_000_000

  /** Applies these reads to a request. Returns its state after each read, and its last state. */
  function track(reads: [string, Place][], everyMs: number): { states: string[]; end: string } {
    let request: Request = requestFor({ state: 'starting', createdAt: sentAt, expiresAt: sentAt + 1, sentAt })
    const states: string[] = []
    for (const [index, [status, place]] of reads.entries()) {
      const now = sentAt + (index + 1) * everyMs
      const moment = at(request.state === 'starting' ? 'sent' : 'accepted', now - sentAt)
      const step = nextStep(request, observeMove(move, seen(status, place), moment), now, 900_000)
      if (step) request = { ...request, ...step.set, state: afterStep(request.state, step.name) }
      states.push(request.state)
      if (request.state !== 'starting' && request.state !== 'tracking') break
    }
    return { states, end: request.state }
  }

  /** The orders in which reads may show a successful move: the server changes before, with or after the status, or is not shown at all. */
  const betweenStatuses = ['moving', 'configuring', 'pending', 'an unknown status']
  const ways: [string, [string, Place][]][] = betweenStatuses.flatMap((between) => [
    [
      `the old server while it moves, then ${between} on the target`,
      [
        ['moving', 'from'],
        [between, 'target'],
        ['active', 'target'],
      ],
    ],
    [
      `the old server until it is active, with ${between}`,
      [
        ['moving', 'from'],
        [between, 'from'],
        ['active', 'target'],
      ],
    ],
    [
      `the target from the first read, with ${between}`,
      [
        ['moving', 'target'],
        [between, 'target'],
        ['active', 'target'],
      ],
    ],
    [
      `the target first and the old server later, with ${between}`,
      [
        ['moving', 'target'],
        [between, 'from'],
        ['active', 'target'],
      ],
    ],
    [
      `no server while it moves, with ${between}`,
      [
        ['moving', 'none'],
        [between, 'none'],
        ['active', 'target'],
      ],
    ],
    [
      `no server right after it is active, with ${between}`,
      [
        ['moving', 'from'],
        [between, 'none'],
        ['active', 'none'],
        ['active', 'target'],
      ],
    ],
    [
      `a read that trails the write, then ${between}`,
      [
        ['active', 'from'],
        [between, 'from'],
        ['moving', 'target'],
        ['active', 'target'],
      ],
    ],
    [
      `${between} before it moves`,
      [
        [between, 'from'],
        ['moving', 'from'],
        ['moving', 'target'],
        ['active', 'target'],
      ],
    ],
  ])

  test.each(ways)('ends as done with the last read: %s', (_, reads) => {
    const { states, end } = track(reads, 5_000)

    expect(end).toBe('done')
    expect(states).toHaveLength(reads.length)
  })

  test.each(ways.filter(([, reads]) => reads[0]?.[0] === 'moving'))(
    'ends as done also if it takes longer than the grace time: %s',
    (_, reads) => {
      expect(track(reads, 120_000).end).toBe('done')
    },
  )

  test('never reports a successful move as superseded, failed or not started', () => {
    const status = fc.constantFrom('moving', 'configuring', 'pending', 'quiescing', 'MOVING', '')
    const place = fc.constantFrom<Place>('from', 'target', 'none')
    fc.assert(
      fc.property(fc.array(fc.tuple(status, place), { maxLength: 8 }), fc.integer({ min: 1, max: 30_000 }), (reads, everyMs) => {
        expect(track([...reads, ['active', 'target']], everyMs)).toMatchObject({ end: 'done' })
      }),
    )
  })

  test('reports a third server as superseded, and only after the grace time', () => {
    expect(track([['moving', 'third']], 5_000).end).toBe('starting')
    expect(
      track(
        [
          ['moving', 'from'],
          ['moving', 'third'],
        ],
        5_000,
      ).end,
    ).toBe('tracking')
    expect(
      track(
        [
          ['moving', 'from'],
          ['moving', 'third'],
        ],
        graceMs,
      ).end,
    ).toBe('superseded')
    expect(
      track(
        [
          ['moving', 'target'],
          ['active', 'third'],
        ],
        graceMs,
      ).end,
    ).toBe('superseded')
    // A read that does not show the write yet may show an even older server.
    expect(
      track(
        [
          ['active', 'third'],
          ['moving', 'target'],
          ['active', 'target'],
        ],
        5_000,
      ).end,
    ).toBe('done')
  })
})
