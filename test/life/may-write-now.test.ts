import { expect, test } from 'vitest'
import { deadlineIn } from '../../src/domain/deadline.ts'
import type { Freeze, Window } from '../../src/domain/policy.ts'
import { mayWriteNow, type WriteFacts } from '../../src/life/may-write-now.ts'

const minutes = 60_000
const now = Date.UTC(2026, 11, 2, 12)
const until = now + 20 * minutes
const ends = deadlineIn(2_000)
const read = { begunAt: now + 1, readAt: now + 900 }
const times: WriteFacts['times'] = { windows: [], freezes: [], kind: 'ip.move', project: 'none' }
const window: Window = { name: 'office', days: [1, 2, 3, 4, 5, 6, 7], from: '12:05', to: '17:00', zone: 'UTC' }
const freeze = (from: number, to = Number.POSITIVE_INFINITY): Freeze => ({ name: 'Black Friday', from, to })
const seen = { address: '203.0.113.10' }
const refused = { code: 'api-unreachable', effect: 'not-sent' } as const
const unread = { code: 'account-unread' } as const

/** Every fact is known, and nothing forbids the write. */
const clear = {
  now,
  until,
  ttlMs: 60 * minutes,
  signed: { approvedAt: now - 10 * minutes },
  times,
  approval: undefined,
  rights: 'allowed',
  past: 'clear',
  writeInMs: 0,
  account: { ...read, result: { is: 'unchanged', facts: seen } },
  atWrite: { problem: undefined, isFull: false },
  turn: { inMs: 0, ends },
} satisfies WriteFacts

const missed = { is: 'end', cause: { code: 'approved-too-long-ago' } }
const late = { now: until, signed: { approvedAt: until - 30 * minutes }, account: { ...clear.account, readAt: until + 900 } }
const found = (result: NonNullable<WriteFacts['account']>['result'], readAt = read.readAt) => ({ account: { ...read, readAt, result } })

/** A fact that differs from those, and what follows from it. The first that forbids the write decides. */
const table: [string, Partial<WriteFacts>, ReturnType<typeof mayWriteNow> | typeof missed][] = [
  ['it waited for the account for as long as it could be approved', { now: until + 60 * minutes }, missed],
  ['its record was changed', { approval: { code: 'record-changed' } }, { is: 'distrust', problem: { code: 'record-changed' } }],
  ['its key is not known', { approval: { code: 'unknown-key' } }, { is: 'distrust', problem: { code: 'unknown-key' } }],
  [
    'its approvals are forged',
    { approval: { code: 'approvals-not-genuine' } },
    { is: 'distrust', problem: { code: 'approvals-not-genuine' } },
  ],
  ['no rule covers it', { approval: { code: 'rule-gone' } }, { is: 'distrust', problem: { code: 'rule-gone' } }],
  [
    'its start has not come',
    { signed: { ...clear.signed, start: now + 1 } },
    { is: 'hold', waits: { for: 'start', until: now + 1, mayStartNow: true }, at: now + 1 },
  ],
  [
    'its window is closed',
    { times: { ...times, windows: [window] } },
    { is: 'hold', waits: { for: 'window', name: 'office', until: now + 5 * minutes }, at: now + 5 * minutes },
  ],
  [
    'its window opens too late',
    { times: { ...times, windows: [{ ...window, from: '13:00' }] } },
    { is: 'end', cause: { code: 'window-missed' } },
  ],
  [
    'a freeze is on',
    { times: { ...times, freezes: [freeze(now)] } },
    { is: 'hold', waits: { for: 'freeze', name: 'Black Friday', until: undefined }, at: Number.POSITIVE_INFINITY },
  ],
  [
    'a freeze is on, and it is too late',
    { ...late, times: { ...times, freezes: [freeze(now)] } },
    { is: 'end', cause: { code: 'frozen-too-long' } },
  ],
  [
    'a freeze is on, and it is too late by days',
    { ...late, now: until + 48 * 60 * minutes, times: { ...times, freezes: [freeze(now)] } },
    { is: 'end', cause: { code: 'frozen-too-long' } },
  ],
  ['a freeze is on that began when it was too late', { ...late, times: { ...times, freezes: [freeze(until)] } }, missed],
  ['rights: not looked at', { rights: undefined }, { is: 'look', at: 'rights' }],
  ['rights: no answer', { rights: 'no-answer' }, { is: 'again', inMs: 10_000 }],
  ['rights: no answer, and it is too late', { ...late, rights: 'no-answer' }, { is: 'end', cause: { code: 'rights-unknown' } }],
  ['rights: of its requester, lost', { rights: 'requester-lost-right' }, { is: 'end', cause: { code: 'requester-lost-right' } }],
  ['rights: of its approvers, lost', { rights: 'approvals-lost' }, { is: 'end', cause: { code: 'approvals-lost' } }],
  ['audit: not looked at', { past: undefined }, { is: 'look', at: 'past' }],
  ['audit: it was sent', { past: { code: 'already-sent' } }, { is: 'distrust', problem: { code: 'already-sent' } }],
  ['audit: it has ended', { past: { code: 'already-ended' } }, { is: 'distrust', problem: { code: 'already-ended' } }],
  ['limit: not looked at', { writeInMs: undefined }, { is: 'look', at: 'writeInMs' }],
  ['limit: used up', { writeInMs: 5_000 }, { is: 'await-turn', for: 'writes', waitMs: 5_000 }],
  ['limit: used up, and it is too late', { ...late, writeInMs: 5_000 }, { is: 'end', cause: { code: 'limit-used-up' } }],
  ['account: not looked at', { account: undefined }, { is: 'look', at: 'account' }],
  ['account: changed', found({ is: 'changed', causes: [{ code: 'moved' }] }), { is: 'void', causes: [{ code: 'moved' }] }],
  ['account: it refuses', found({ is: 'refused', cause: refused }), { is: 'end', cause: refused }],
  ['account: no read is allowed', found({ is: 'limited', waitMs: 7_000 }), { is: 'await-turn', for: 'reads', waitMs: 7_000 }],
  ['account: the same, and it is too late', found({ is: 'limited', waitMs: 7 }, until), { is: 'end', cause: { code: 'limit-used-up' } }],
  ['account: no answer', found({ is: 'unread', cause: unread }), { is: 'await-account', isRefused: false }],
  ['account: no answer, and it is too late', found({ is: 'unread', cause: unread }, until), { is: 'end', cause: unread }],
  ['at the write: not looked at', { atWrite: undefined }, { is: 'look', at: 'atWrite' }],
  [
    'at the write: too few approvals',
    { atWrite: { problem: { code: 'approval-needed-now' }, isFull: false } },
    { is: 'distrust', problem: { code: 'approval-needed-now' } },
  ],
  [
    'at the write: it was approved too long ago',
    { approval: { code: 'approved-too-long-ago' } },
    { is: 'distrust', problem: { code: 'approved-too-long-ago' } },
  ],
  [
    'at the write: a freeze has begun while the account was read',
    { times: { ...times, freezes: [freeze(now + 500)] } },
    { is: 'again', inMs: 0 },
  ],
  [
    'at the write: its window has closed meanwhile',
    {
      now: Date.UTC(2026, 11, 2, 16, 59, 59, 999),
      until: now + 600 * minutes,
      times: { ...times, windows: [window] },
      ...found(clear.account.result, Date.UTC(2026, 11, 2, 17)),
    },
    { is: 'again', inMs: 0 },
  ],
  ['at the write: enough children are being sent', { atWrite: { problem: undefined, isFull: true } }, { is: 'full' }],
  ['turn: not taken', { turn: undefined }, { is: 'look', at: 'turn' }],
  ['turn: none', { turn: { inMs: 300, ends } }, { is: 'await-turn', for: 'writes', waitMs: 300 }],
]

test('a write is sent if every fact is known and none forbids it', () => {
  expect(mayWriteNow(clear)).toEqual({ is: 'write', facts: seen, readFrom: read.begunAt, turn: ends })
})

test.each(table)('a write is not sent if this is so: %s', (_, differs, expected) => {
  expect(mayWriteNow({ ...clear, ...differs })).toEqual(expected)
})

test('no two facts together allow what one of them forbids', () => {
  for (const [one, first] of table) {
    // Where both set the same fact, only the second one counts.
    for (const [other, second] of table.filter(([, facts]) => Object.keys(facts).every((name) => !(name in first)))) {
      const answer = mayWriteNow({ ...clear, ...first, ...second })
      expect(answer.is, `${one}, and ${other}`).not.toBe('write')
    }
  }
})

test('looks are made in the order of their cost, and nothing is looked at after the turn is taken', () => {
  const { rights, past, writeInMs, account, atWrite, turn, ...known } = clear
  const looks: Partial<WriteFacts> = { rights, past, writeInMs, account, atWrite, turn }
  let facts: WriteFacts = known
  const order: string[] = []
  for (let answer = mayWriteNow(facts); answer.is === 'look'; answer = mayWriteNow(facts)) {
    order.push(answer.at)
    facts = { ...facts, [answer.at]: looks[answer.at] }
  }
  expect(order).toEqual(['rights', 'past', 'writeInMs', 'account', 'atWrite', 'turn'])
  expect(mayWriteNow(facts).is).toBe('write')
})
