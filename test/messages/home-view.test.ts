import type { KnownBlock } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import type { Waits } from '../../src/domain/request.ts'
import { ownFreezeName } from '../../src/domain/starts.ts'
import { phrase } from '../../src/domain/text.ts'
import { type HomeContent, type HomeEntry, homeBlocks, refusedHome } from '../../src/messages/home-view.ts'
import type { CardView } from '../../src/messages/request-content.ts'
import { fitsOnCard } from '../../src/messages/request-message.ts'
import { button } from '../../src/slack/blocks.ts'
import { fit } from '../../src/slack/fit.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { description, minutes, requestedAt, requestFor, ruleFor } from '../given/request.ts'
import { cardViewFor } from './card-view-for-test.ts'
import { expectDocument } from './documents.ts'
import { readableBlocks } from './readable.ts'

type Requested = Parameters<typeof requestFor>[0]

const now = requestedAt + 30 * minutes
const address = 'https://nimbus.slack.com/archives/C0OPS00001/p1'

function entry(more: Requested = {}, view: Partial<CardView> = {}): HomeEntry {
  return { card: cardViewFor({ request: requestFor(more), ...view }), link: address }
}

const unreadIn = (more: Partial<HomeContent['unread']>) => ({ waiting: 0, mine: 0, underway: 0, scheduled: 0, ...more })

function content(more: Partial<HomeContent> = {}): HomeContent {
  return {
    frozen: [],
    approvableAlone: new Set(),
    stoppable: new Set(),
    waitsForMe: [],
    decided: new Set(),
    mine: [],
    more: 0,
    underway: [],
    scheduled: [],
    sections: [],
    viewerId: 'U0ADA00001',
    command: '/infra',
    unread: unreadIn({}),
    unreadable: 0,
    buttons: [button({ text: 'Move IP', actionId: 'open-move', value: 'open' })],
    now,
    ...more,
  }
}

const idOf = (index: number) => index.toString(16).padStart(32, '0')

/** Several requests, each with its own id. */
function many(count: number, more: Requested = {}, view: Partial<CardView> = {}): HomeEntry[] {
  return Array.from({ length: count }, (_, index) => entry({ ...more, id: idOf(index) }, view))
}

const blockIds = (blocks: KnownBlock[]) => blocks.flatMap((block) => ('block_id' in block && block.block_id ? [block.block_id] : []))
const later = (waits: Waits) => ({ state: 'approved', decidedAt: now, waits }) as const
const from = (userId: string) => ({ origin: { ...requestFor().origin, userId } })
const untilLifted: Waits = { for: 'freeze', name: ownFreezeName }
/** `held`: what holds it now. */
const frozen = (id: string, waits: Waits, held?: Waits) => entry({ ...later(waits), id, ...from('U0BEN00001') }, { held })
const sentAt = now - 25 * minutes
const key = (more: Parameters<typeof entry>[0] = {}) =>
  entry({ state: 'approved', decidedAt: now, ...more }, { handover: { label: 'Create key' } })
const isLocked = mrkdwn`${'web-2'} is locked on the account.`

/** Requests that waited for the viewer, and were decided since, except the last one, which was counted. */
const decisions: Requested[] = [
  { state: 'approved', decidedAt: now },
  { state: 'rejected', decidedAt: now, endedAt: now, decision: { by: 'U0BEN00001', rule: 'R', via: 'U0BEN00001', reason: 'no' } },
  { state: 'done', sentAt: now, endedAt: now },
  { approvals: [{ by: 'U0BEN00001', rule: 'R', via: 'S0ONCALL01', at: now }], missing: 1 },
]
const decided = decisions.map((more, index) => ({ ...more, id: idOf(index) }))
const sinceDecided = content({ waitsForMe: decided.map((more) => entry(more)), decided: new Set([0, 1, 2].map(idOf)) })

test('the Home tab in every situation', async () => {
  const situations: [string, Partial<HomeContent>][] = [
    ['There are no requests', {}],
    [
      'Requests in each part',
      {
        waitsForMe: [entry({ reason: 'web-1 is being replaced' }, { environment: 'PROD', checks: [isLocked] })],
        mine: [
          entry({ state: 'done', sentAt: requestedAt, endedAt: requestedAt + minutes }, { reverseLabel: 'Move back' }),
          entry(),
          { ...entry(), link: undefined },
        ],
        underway: [entry({ state: 'tracking', sentAt }), entry({ id: idOf(1), state: 'tracking', sentAt, unansweredSince: now - minutes })],
      },
    ],
    ['More ended requests than are shown', { mine: [entry({ state: 'done', sentAt, endedAt: now })], more: 12 }],
    ['Decided since it was opened', sinceDecided],
    [
      'States with times that stay true',
      {
        mine: [
          entry({ state: 'tracking', sentAt, endedAt: now - 10 * minutes, stoppedBy: 'U0BEN00001' }),
          entry({ state: 'approved', decidedAt: now - minutes }),
          entry({ state: 'untracked', sentAt, endedAt: now - 10 * minutes }),
        ],
      },
    ],
    ['A key of the viewer, and one of another person', { mine: [key()], underway: [key(from('U0BEN00001'))] }],
    [
      'Scheduled and held, of the viewer and of others',
      {
        scheduled: [
          entry(later({ for: 'start', until: now + 90 * minutes })),
          entry({ ...later({ for: 'start', until: now + 3 * 24 * 60 * minutes }), id: idOf(1), ...from('U0BEN00001') }),
          entry({ ...later({ for: 'window', until: now, name: 'office' }), id: idOf(2), ...from('U0BEN00001') }),
          frozen(idOf(3), { for: 'freeze', until: now, name: 'Black Friday' }, { for: 'freeze', until: now, name: 'Black Friday' }),
          frozen(idOf(4), untilLifted, untilLifted),
        ],
      },
    ],
    [
      'Of a freeze that was lifted, until a worker has judged them: one starts, and one waits for its window',
      {
        underway: [frozen(idOf(1), untilLifted)],
        scheduled: [frozen(idOf(2), untilLifted, { for: 'window', until: now, name: 'office' })],
      },
    ],
    [
      'One that is requested for later',
      {
        mine: [entry({ start: now + 90 * minutes, expiresAt: now + 90 * minutes }, { held: { for: 'start', until: now + 90 * minutes } })],
      },
    ],
    [
      'One that a freeze would hold, and one that a planned freeze would',
      {
        mine: [
          entry({}, { held: { for: 'freeze', name: ownFreezeName } }),
          entry(
            { id: idOf(1), start: now + 90 * minutes, expiresAt: now + 90 * minutes },
            { held: { for: 'freeze', name: ownFreezeName, from: now + 60 * minutes, until: now + 120 * minutes } },
          ),
        ],
      },
    ],
    [
      'In progress, slower than usual: one that the viewer may stop, and one that only others may',
      {
        underway: [0, 1].map((index) => entry({ ...from('U0BEN00001'), id: idOf(index), state: 'tracking', sentAt, slowAt: sentAt })),
        stoppable: new Set([idOf(0)]),
      },
    ],
    [
      'The approval of the viewer no longer counts',
      { viewerId: 'U0BEN00001', waitsForMe: [entry({ approvals: decided[3]?.approvals }, { rule: ruleFor({ confirmBy: 'passkey' }) })] },
    ],
    ['One that the viewer may approve alone', { mine: [entry()], approvableAlone: new Set([requestFor().id]) }],
    ['More than were read', { waitsForMe: [entry()], unread: unreadIn({ waiting: 112, mine: 2 }), unreadable: 2 }],
    ['None of those that were read waits for the viewer', { unread: unreadIn({ waiting: 112 }) }],
  ]
  await expectDocument('home.md', 'The Home tab', [
    ...situations.map(([situation, more]): [string, string] => [situation, readableBlocks(homeBlocks(content(more)))]),
    ['The viewer may not use Lockkeeper', readableBlocks(refusedHome(mrkdwn`Guests can't use Lockkeeper.`))],
  ])
})

test('a decided request keeps its place and height, so that nothing below it moves', () => {
  const waiting = homeBlocks(content({ waitsForMe: many(4) }))
  const typesOf = (blocks: KnownBlock[]) => blocks.slice(0, 1 + 3 * 6).map(({ type }) => type.replace('actions', 'context'))
  expect(typesOf(homeBlocks(sinceDecided))).toEqual(typesOf(waiting))
})

test('the dialog after *Approve* names the change, also one that is too long for it', () => {
  const title = phrase`Move ${'203.0.113.10'}: ${'w'.repeat(250)} → ${'x'.repeat(250)}`
  const blocks = homeBlocks(content({ waitsForMe: [entry({}, { description: { ...description, title } })] }))
  const text = JSON.stringify(fit(blocks.filter(({ type }) => type === 'actions')))

  expect(text).toContain('Move `203.0.113.10`: www')
  expect(text).not.toContain('to check')
})

test('the same request can be in two parts, with different block ids', () => {
  const one = entry()
  const ids = blockIds(
    homeBlocks(content({ waitsForMe: [one], mine: [one], underway: [entry({ state: 'tracking', sentAt, slowAt: sentAt })] })),
  )
  expect(new Set(ids).size).toBe(4)
})

describe('a Home tab with many requests', () => {
  const facts = Array.from({ length: 600 }, (_, index) => ({ label: `Fact ${index}`, value: 'x'.repeat(60) }))
  const long = (count: number) => ({ description: { ...description, facts: facts.slice(0, count) } })
  const widest = { description: { ...description, facts: Array(60).fill({ label: 'L', value: 'z'.repeat(2_500) }) } }
  const ofEach = {
    waitsForMe: many(40),
    mine: many(40, { state: 'rejected' }),
    underway: many(40, { state: 'starting' }),
    scheduled: many(40, later({ for: 'start' })),
  }

  test.each<[string, Partial<HomeContent>]>([
    ['many wait', { waitsForMe: many(100) }],
    ['many are the viewer’s own', { mine: many(100) }],
    ['many are under way', { underway: many(100, { state: 'tracking', sentAt: requestedAt }) }],
    ['many are scheduled', { scheduled: many(100, later({ for: 'start', until: now })) }],
    ['there are many of each', ofEach],
    ['there are more than are read', { ...ofEach, unread: { waiting: 112, mine: 300, underway: 9_000, scheduled: 40 } }],
    ['long ones wait', { waitsForMe: many(10, { reason: 'y'.repeat(500) }, long(200)), mine: many(3) }],
    ['the longest possible one waits', { waitsForMe: many(2, {}, widest) }],
  ])('has at most 100 blocks with different ids, and counts those that it leaves out, if %s', (_, more) => {
    const { waitsForMe, mine, underway, scheduled, unread } = content(more)
    const blocks = homeBlocks(content(more))
    const ids = blockIds(blocks)

    expect(blocks.length).toBeLessThanOrEqual(100)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => id.length <= 255)).toBe(true)
    const parts = readableBlocks(blocks).split(/^# /m)
    for (const [title, all] of [
      ['Needs your approval', waitsForMe.length],
      ['Your requests', mine.length + unread.mine],
      ['In progress', underway.length + unread.underway],
      ['Scheduled', scheduled.length + unread.scheduled],
    ] as const) {
      const part = parts.find((each) => each.startsWith(title)) ?? ''
      const shown = (part.match(/\bOpen\b/g) ?? []).length
      expect(shown + Number(/\((\d+) more:/.exec(part)?.[1] ?? 0), title).toBe(all)
      if (all >= 40) expect(shown).toBeGreaterThanOrEqual(3)
    }
  })

  test('has room for one waiting request that fits on a card', () => {
    const reason = 'y'.repeat(500)
    const fits = (count: number) => fitsOnCard(entry({ reason }, long(count)).card)
    // Halves the range each time, because each card is long.
    let [most, tooMany] = [0, facts.length]
    while (tooMany - most > 1) {
      const middle = Math.floor((most + tooMany) / 2)
      if (fits(middle)) most = middle
      else tooMany = middle
    }

    expect([fits(most), fits(most + 1)]).toEqual([true, false])
    expect(readableBlocks(homeBlocks(content({ waitsForMe: [entry({ reason }, long(most))] })))).not.toContain('not shown')
  })
})
