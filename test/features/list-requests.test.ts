import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Change } from '../../src/domain/change.ts'
import type { Freeze } from '../../src/domain/policy.ts'
import type { ItemState, Request } from '../../src/domain/request.ts'
import { ownFreezeName } from '../../src/domain/starts.ts'
import { listMoves } from '../../src/features/moves/list.ts'
import { listPending } from '../../src/features/pending.ts'
import { requestLine } from '../../src/kit/list.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { fakeApp } from '../fake-app.ts'
import { judging } from '../given/access.ts'
import { terms } from '../given/people.ts'
import { description, minutes, requestedAt, requestFor, ruleFor } from '../given/request.ts'
import { expectDocument } from '../messages/documents.ts'
import { listingOf, shown } from './listing-of.ts'

const now = requestedAt + 240 * minutes
const [ada, ben, chi] = ['U0ADA00001', 'U0BEN00001', 'U0CHI00001']
const grant = { rule: 'production', via: 'S0ONCALL01' }
const approvedBy = (...people: string[]) => people.map((by) => ({ ...grant, by, at: requestedAt }))
const newer = requestFor({ id: 'newer', version: 99 })
const anything = z.any()
const catalog = createCatalog([
  {
    kind: 'ip.move',
    takesTime: true,
    facts: anything,
    input: anything,
    describe: () => description,
    doneSentence: () => [],
  } as unknown as Change,
  {
    kind: 'key.create',
    facts: anything,
    input: anything,
    describe: () => ({ ...description, title: ['Create API key ci-deploy'] }),
    doneSentence: () => [],
    handover: { label: 'Create key' },
  } as unknown as Change,
])

/** An app with these requests, of which Ben may decide all but those of Chi. */
function appWith(open: Request[], ended: Request[] = [], times: number[] = [], frozen: Freeze[] = []) {
  const reason = [{ rule: 'production', pattern: 'OPS-\\d+', link: 'https://tickets.example.com/browse/$0' }]
  const rules = [
    ruleFor({ reason, projects: { ids: [chi], names: [] }, approve: terms([ada]) }),
    ...[2, 3].map((approvals) =>
      ruleFor({ reason, projects: { ids: [`needs ${approvals}`], names: [] }, approve: terms(['S0ONCALL01'], { approvals }) }),
    ),
    ruleFor({ reason }),
  ]
  const freeze = { text: '', record: undefined, isUnreadable: false, freezes: frozen }
  return fakeApp(
    {
      store: {
        findOpen: async () => {
          const requests = open.filter(({ version }) => version === requestFor().version)
          return { requests, unreadable: open.length - requests.length }
        },
        ended: async (limit: number, fits: (request: Request) => boolean) => ended.filter(fits).slice(0, limit),
        findMany: async () => [],
        orderOnHome: async (_, ids) => ids,
        now: async () => now,
        durations: async () => times,
      },
      config: { environment: undefined, infra: { writesPerMinute: 20 }, policy: { rules, freezes: [] } },
      signatures: { verifyRecord: () => 'genuine', verifyApproval: () => 'genuine' },
      freezes: { read: async () => freeze, lastRead: () => freeze },
      catalog: {
        ...catalog,
        projectOf: ({ origin, approvalsNeeded }) => ({ id: origin.userId === chi ? chi : `needs ${approvalsNeeded}` }),
      },
      slack: {
        identity: {
          linkTo: ({ cardTs }) => cardTs && 'https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100',
          addressOf: () => undefined,
          profileOf: () => undefined,
        },
      },
    },
    judging({ rules }),
  )
}

const pending = (...open: Request[]) => listingOf(listPending.create(appWith(open)).commands[0])
const pendingIn = (frozen: Freeze[], open: Request[]) => listingOf(listPending.create(appWith(open, [], [], frozen)).commands[0])
const moves = (open: Request[], ended: Request[] = [], times: number[] = [], frozen: Freeze[] = []) =>
  listingOf(listMoves.create(appWith(open, ended, times, frozen)).commands[0])
const lookedUp = (request = requestFor()) => requestLine(appWith([], [], [], untilLifted), request, 'Open request').text
const untilLifted = [{ name: ownFreezeName, from: 0, to: Number.POSITIVE_INFINITY }]
const many = (count: number, more: Partial<Request> = {}) =>
  Array.from({ length: count }, (_, index) => requestFor({ id: `${more.state}-${index}`, ...more }))
const from = (userId: string) => ({ origin: { ...requestFor().origin, userId } })
const last = { sentAt: requestedAt, endedAt: requestedAt + 43_000, decidedAt: requestedAt }
const seconds = (count: number) => count * 1_000
const items = (...states: ItemState[]) => states.map((state, index) => ({ id: `eip_${index}`, state, causes: [] }))

test('requests and moves as people see them', async () => {
  const mine = requestFor({ ...from(ben), cardTs: undefined })
  const byTwo = requestFor({ approvals: approvedBy(ben), approvalsNeeded: 3, reason: 'web-1 is <being> replaced (OPS-1)' })
  const approvedKey = (of: string) =>
    requestFor({ ...from(of), kind: 'key.create', state: 'approved', approvals: approvedBy(chi), decidedAt: requestedAt })
  const others = ['approved', 'tracking'].map((state) => requestFor({ state: state as Request['state'] }))
  const at = (hours: number) => now + 60 * hours * minutes
  const later = [
    requestFor({ start: at(2), expiresAt: at(2) }),
    requestFor({ state: 'approved', start: at(8), waits: { for: 'start', until: at(8) } }),
    requestFor({ state: 'approved', waits: { for: 'freeze', name: ownFreezeName } }),
    requestFor({ state: 'approved', waits: { for: 'window', name: 'office', until: at(5) } }),
  ]
  const approved = { state: 'approved', decidedAt: requestedAt } as const
  const tracking = { state: 'tracking', sentAt: now - 2 * minutes, decidedAt: now - 3 * minutes } as const
  const open = [
    requestFor({ ...tracking, lateAt: now - minutes }),
    requestFor({ ...tracking, unansweredSince: now - 30_000 }),
    requestFor({ ...tracking, items: items('done', 'tracking', 'waiting') }),
    requestFor({ ...tracking, state: 'starting', sentAt: now - 3_000 }),
    requestFor({ ...tracking, state: 'approved', decidedAt: now - minutes }),
    requestFor(),
  ]
  const ended = [
    requestFor({ ...last, state: 'done' }),
    requestFor({ ...last, state: 'failed', untrackedMs: minutes }),
    requestFor({ ...last, state: 'failed', items: items('done', 'failed', 'superseded') }),
    requestFor({ ...last, state: 'failed', items: items('failed', 'not-started') }),
    requestFor({ state: 'rejected', endedAt: now }),
    requestFor({ state: 'withdrawn', endedAt: now }),
    requestFor({ ...last, state: 'untracked' }),
  ]
  await expectDocument('requests.md', 'Lists of requests and moves', [
    ['Pending: only those that wait for an approval', shown(await pending(requestFor(), mine, byTwo, ...others))],
    ['Pending: one that Ben has approved', shown(await pending(requestFor({ approvals: approvedBy(ben), approvalsNeeded: 3 })))],
    ['Pending: his own that one of three has approved', shown(await pending({ ...byTwo, ...from(ben), approvals: approvedBy(ada) }))],
    ['Pending: one that Ben may not decide', shown(await pending(requestFor(from(chi))))],
    ['Pending: and what is scheduled or held, the next first', shown(await pendingIn(untilLifted, later))],
    ['Pending: the same once the freeze is lifted', shown(await pending(...later))],
    [
      'Pending: approved, and the account holds it',
      shown(await pending(requestFor({ ...approved, waits: { for: 'account' } }), requestFor(approved))),
    ],
    ['Pending: only what is scheduled', shown(await pending(...later.slice(1, 2)))],
    ['Pending: an approved key of his own that he can create', shown(await pending(approvedKey(ben), approvedKey(ada)))],
    ['In look-ups: held by a freeze', lookedUp(later[2])],
    ['In look-ups: under way', lookedUp(open[0])],
    ['In look-ups: the account does not answer', lookedUp(open[1])],
    ['Pending: none', shown(await pending(requestFor({ needsApproval: false })))],
    ['Pending: some of another version', shown(await pending(requestFor(), newer, newer))],
    ['Pending: all of another version', shown(await pending(newer))],
    ['Moves: in progress and waiting', shown(await moves([...open, newer]))],
    ['Moves: scheduled', shown(await moves([...later, requestFor(tracking)], [], [], untilLifted))],
    ['Moves: scheduled, once the freeze is lifted', shown(await moves(later))],
    ['Moves: ended', shown(await moves([], ended))],
    ['Moves: few times are known', shown(await moves([], [], [5, 5, 5, 6, 7].map(seconds)))],
    ['Moves: many times are known', shown(await moves([], ended.slice(0, 1), [...Array(40).fill(41), ...Array(10).fill(65)].map(seconds)))],
    ['Moves: none', shown(await moves([]))],
  ])
})

describe('too many requests', () => {
  const titleAndNotes = ({ title, notes = [] }: Awaited<ReturnType<typeof pending>>) => [title, ...notes].map(String)

  test('are counted, and the oldest are shown', async () => {
    const waiting = await pending(...many(612))
    expect(waiting.cards).toHaveLength(500)
    expect(titleAndNotes(waiting)).toEqual([
      '612 requests need approval. You can approve 500 of those shown.',
      'Only the 500 oldest are shown. The other 112 follow as these end.',
    ])
    const open = await moves([...many(412, { state: 'tracking', sentAt: requestedAt }), ...many(101, { state: 'waiting' })])
    expect(open.rows).toHaveLength(500)
    expect(titleAndNotes(open)).toEqual([
      'Moves: 412 in progress, 101 waiting for approval, 0 ended lately',
      '13 more are in progress or waiting. Only the oldest are shown.',
    ])
    expect((await moves([], many(12, { ...last, state: 'failed' }))).rows).toHaveLength(10)
  })
})

test('what people need most stands in the columns that a phone shows, and times are numbers that Slack sorts', async () => {
  const { table } = await moves([requestFor({ state: 'tracking', sentAt: now - 2 * minutes })])
  expect(table?.headers).toEqual(['Move', 'State', 'Duration', 'Requested by', 'Channel'])
  expect(table?.rows[0]?.[2]).toMatchObject({ value: 2 * minutes })
})

test('those that Ben can decide come first, each by its deadline', async () => {
  const until = (minute: number, userId: string) =>
    requestFor({ ...from(userId), id: `${minute}`, expiresAt: requestedAt + minute * minutes })
  const { cards = [] } = await pending(until(30, chi), until(20, ada), until(10, chi), until(40, ada))
  expect(cards.map((blocks) => /(\d\d):(\d\d) UTC/.exec(JSON.stringify(blocks))?.[2])).toEqual(['20', '40', '10', '30'])
})
