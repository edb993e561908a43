import type { KnownBlock } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import { phrase } from '../../../src/domain/text.ts'
import { type HomeContent, type HomeEntry, homeBlocks, refusedHome } from '../../../src/messages/home-view.ts'
import { type CardView, fitsOnCard } from '../../../src/messages/request-message.ts'
import { modal } from '../../../src/slack/blocks.ts'
import type { Command } from '../../../src/slack/commands.ts'
import { fit } from '../../../src/slack/fit.ts'
import { formButtons } from '../../../src/slack/forms.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { createMessenger } from '../../../src/slack/web-api.ts'
import { cardViewFor } from '../../messages/card-view-for-test.ts'
import { readableBlocks } from '../../messages/readable.ts'
import { description, minutes, requestedAt, requestFor } from '../request-for-test.ts'

const buttons = formButtons([
  {
    words: 'ip move',
    button: { text: 'Move IP', actionId: 'open-move-elastic-ip', opens: 'Move an Elastic IP' },
    form: () => modal({ title: 'Move', blocks: [] }),
  },
] as unknown as Command[])
const now = requestedAt + 30 * minutes
const address = 'https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100'

function entry(more: Parameters<typeof requestFor>[0] = {}, view: Partial<CardView> = {}): HomeEntry {
  return { card: cardViewFor({ request: requestFor(more), ...view }), link: address }
}

function content(more: Partial<HomeContent> = {}): HomeContent {
  return {
    approvableAlone: new Set(),
    waitsForMe: [],
    decided: new Set(),
    mine: [],
    underway: [],
    unread: { waiting: 0, mine: 0, underway: 0 },
    unreadable: 0,
    buttons,
    now,
    ...more,
  }
}

/** Several requests, each with its own id. */
function many(count: number, more: Parameters<typeof requestFor>[0] = {}, view: Partial<CardView> = {}): HomeEntry[] {
  return Array.from({ length: count }, (_, index) => entry({ ...more, id: index.toString(16).padStart(32, '0') }, view))
}

const blockIds = (content: HomeContent) =>
  homeBlocks(content).flatMap((block) => ('block_id' in block && block.block_id ? [block.block_id] : []))

describe('the Home tab', () => {
  test('says that there are no requests', () => {
    expect(readableBlocks(homeBlocks(content()))).toMatchInlineSnapshot(`
      "[Move IP] [Refresh]
      Nothing needs your approval, and you have no requests.
      (Updated <!date^1795012200^{time} {date_short_pretty}|2026-11-18 14:30 UTC>)"
    `)
  })

  test('shows requests that wait for the viewer whole, and of others the state, each with the buttons of its card', () => {
    const blocks = homeBlocks(
      content({
        waitsForMe: [
          entry(
            { reason: 'web-1 is being replaced' },
            { environment: 'PROD', unchecked: [mrkdwn`whether ${'web-2'} is in the same site`] },
          ),
        ],
        mine: [
          entry({ id: 'a'.repeat(32), state: 'done', sentAt: requestedAt, endedAt: requestedAt + minutes }, { reverseLabel: 'Move back' }),
          entry({ id: 'b'.repeat(32) }),
        ],
        underway: [entry({ id: 'c'.repeat(32), state: 'tracking', sentAt: now - 43_000 })],
      }),
    )

    expect(readableBlocks(blocks)).toMatchInlineSnapshot(`
      "# Needs your approval (1)
      *[PROD] Move \`203.0.113.10\`: \`web-1\` → \`web-2\`*  ·  <https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100|Open the request>
      <@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>.
      Reason: web-1 is being replaced
      | *Project* / \`Storefront\`
      | *Site* / \`ASH\`
      (Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Request \`b7e23ec2\`)
      :warning: *Check first*
      •  Not checked: whether web-2 is in the same site.
      [Approve, primary, asks once more] [Reject, danger]
      ---
      [Move IP] [Refresh]
      # Your requests (2)
      *Move \`203.0.113.10\`: \`web-1\` → \`web-2\`*
      done, <!date^1795010460^{time} {date_short_pretty}|2026-11-18 14:01 UTC>  ·  in <#C0OPS00001>  ·  <https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100|Open the request>
      [Move back]
      *Move \`203.0.113.10\`: \`web-1\` → \`web-2\`*
      needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>  ·  in <#C0OPS00001>  ·  <https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100|Open the request>
      [Withdraw]
      # In progress (1)
      *Move \`203.0.113.10\`: \`web-1\` → \`web-2\`*
      moving since <!date^1795012157^{time} {date_short_pretty}|2026-11-18 14:29 UTC>  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>  ·  <https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100|Open the request>
      [Stop tracking, asks once more]
      (Updated <!date^1795012200^{time} {date_short_pretty}|2026-11-18 14:30 UTC>)"
    `)
  })

  test('leaves a decided request in its place, without buttons, so that nothing below it moves', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(32))
    const states: Parameters<typeof requestFor>[0][] = [
      { state: 'approved', decidedAt: now },
      { state: 'rejected', decidedAt: now, endedAt: now, decision: { by: 'U0BEN00001', rule: 'R', via: 'U0BEN00001', reason: 'no' } },
      { state: 'done', sentAt: now, endedAt: now },
      { approvals: [{ by: 'U0BEN00001', rule: 'R', via: 'S0ONCALL01', at: now }], missing: 1 },
    ]
    const waiting = homeBlocks(content({ waitsForMe: ids.map((id) => entry({ id })) }))
    const decided = homeBlocks(
      content({ waitsForMe: ids.map((id, index) => entry({ id, ...states[index] })), decided: new Set(ids.slice(0, -1)) }),
    )

    const words = readableBlocks(decided)
    expect(words).toContain('# Needs your approval (1)')
    expect(words.match(/^\[Approve.*$/gm)).toHaveLength(1)
    expect(words.match(/^(:.*|\*\S*\*, .*|<@U0ADA00001> needs.*)$/gm)).toMatchInlineSnapshot(`
      [
        ":white_check_mark: *Approved.* Starting.",
        "<@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>.",
        ":ballot_box_with_check: *0 of 1 approvals*: <@U0BEN00001>, <!date^1795012200^{time} {date_short_pretty}|2026-11-18 14:30 UTC>",
        "<@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>.",
      ]
    `)
    const typesOf = (blocks: KnownBlock[], upTo: number) => blocks.slice(0, upTo).map(({ type }) => type.replace('actions', 'context'))
    const upToThird = 1 + 3 * 6
    expect(typesOf(decided, upToThird)).toEqual(typesOf(waiting, upToThird))
  })

  test('names the change in the dialog after *Approve*, also one that is too long for it', () => {
    const title = phrase`Move ${'203.0.113.10'}: ${'w'.repeat(250)} → ${'x'.repeat(250)}`
    const blocks = homeBlocks(content({ waitsForMe: [entry({}, { description: { ...description, title } })] }))
    const text = JSON.stringify(fit(blocks.filter(({ type }) => type === 'actions')))

    expect(text).toContain('Move `203.0.113.10`: `www')
    expect(text).not.toContain('more to check')
  })

  test('says since when a change has been under way, and no duration that would be untrue later, also if it was reported as ended before', () => {
    const sentAt = now - 25 * minutes
    const words = readableBlocks(
      homeBlocks(
        content({
          mine: [
            entry({ state: 'tracking', sentAt, endedAt: now - 10 * minutes, stoppedBy: 'U0BEN00001' }),
            entry({ state: 'approved', decidedAt: now - minutes }),
            entry({ state: 'untracked', sentAt, endedAt: now - 10 * minutes }),
          ],
        }),
      ),
    )

    expect(words.match(/^.*(?= {2}· {2}in )/gm)).toEqual([
      `moving since <!date^${sentAt / 1000}^{time} {date_short_pretty}|2026-11-18 14:05 UTC>`,
      `approved, <!date^${(now - minutes) / 1000}^{time} {date_short_pretty}|2026-11-18 14:29 UTC>`,
      'no longer tracked, <!date^1795011600^{time} {date_short_pretty}|2026-11-18 14:20 UTC>',
    ])
  })

  test('offers no button that creates a key, and *Withdraw* only to the requester', () => {
    const key = () => entry({ state: 'approved', decidedAt: now }, { handover: { label: 'Create key' } })

    const ofOthers = readableBlocks(homeBlocks(content({ underway: [key()] })))
    expect(ofOthers).not.toMatch(/Create and show\]|Withdraw/)
    expect(ofOthers).toContain('approved: the requester can press *Create key* on the request by')
    expect(readableBlocks(homeBlocks(content({ mine: [key()] })))).toMatch(/^\[Withdraw, asks once more\]$/m)
  })

  test('shows a request without a link until its card is posted', () => {
    const blocks = readableBlocks(homeBlocks(content({ mine: [{ ...entry(), link: undefined }] })))

    expect(blocks).toContain('Open the request')
    expect(blocks).not.toContain('|Open the request>')
  })

  test('is one sentence for a person who may not use Lockkeeper', () => {
    expect(readableBlocks(refusedHome(mrkdwn`Guests can't use Lockkeeper.`))).toMatchInlineSnapshot(`
      "# Lockkeeper
      Guests can't use Lockkeeper."
    `)
  })
})

describe('a Home tab with many requests', () => {
  const longFacts = {
    ...description,
    facts: Array.from({ length: 200 }, (_, index) => ({ label: `Fact ${index}`, value: 'x'.repeat(60) })),
  }
  const contents: [string, HomeContent][] = [
    ['many wait', content({ waitsForMe: many(100) })],
    ['many are the viewer’s own', content({ mine: many(100) })],
    ['many are under way', content({ underway: many(100, { state: 'tracking', sentAt: requestedAt }) })],
    [
      'there are many of each',
      content({ waitsForMe: many(40), mine: many(40, { state: 'rejected' }), underway: many(40, { state: 'starting' }) }),
    ],
    [
      'there are more than are read',
      content({
        waitsForMe: many(40),
        mine: many(40),
        underway: many(40, { state: 'starting' }),
        unread: { waiting: 0, mine: 300, underway: 9_000 },
      }),
    ],
    ['long ones wait', content({ waitsForMe: many(10, { reason: 'y'.repeat(500) }, { description: longFacts }), mine: many(3) })],
    [
      'the longest possible one waits',
      content({
        waitsForMe: many(2, {}, { description: { ...longFacts, facts: Array(60).fill({ label: 'L', value: 'z'.repeat(2_500) }) } }),
      }),
    ],
  ]

  test.each(contents)('has at most 100 blocks with different ids if %s', (_, each) => {
    const ids = blockIds(each)

    expect(homeBlocks(each).length).toBeLessThanOrEqual(100)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => id.length <= 255)).toBe(true)
  })

  test.each(contents)('counts all in its headings, and says how many are left out if %s', (_, each) => {
    const words = readableBlocks(homeBlocks(each))
    const shown = (title: string) => words.split(/^# /m).find((part) => part.startsWith(title)) ?? ''
    const leftOut = (part: string) => Number(/\((\d+) more aren't shown/.exec(part)?.[1] ?? 0)

    for (const [title, all] of [
      ['Needs your approval', each.waitsForMe.length],
      ['Your requests', each.mine.length + each.unread.mine],
      ['In progress', each.underway.length + each.unread.underway],
    ] as const) {
      const part = shown(title)
      if (all === 0) {
        expect(part).toBe('')
        continue
      }
      expect(part).toContain(`${title} (${all})`)
      expect((part.match(/Open the request/g) ?? []).length + leftOut(part)).toBe(all)
    }
  })

  test.each([
    ['one waits', 1, 'Needs your approval (at least 1)'],
    ['many wait', 100, 'Needs your approval (at least 100)'],
  ])('says how many requests were not checked: %s for sure', (_, count, title) => {
    const blocks = homeBlocks(content({ waitsForMe: many(count), unread: { waiting: 112, mine: 0, underway: 0 } }))
    const words = readableBlocks(blocks)

    expect(words).toContain(title)
    expect(words).toContain('112 more need approval.')
    expect(words).not.toContain('Nothing waits')
    expect(blocks.length).toBeLessThanOrEqual(100)
  })

  test('says how many requests were not checked if none of the others waits', () => {
    const words = readableBlocks(homeBlocks(content({ unread: { waiting: 112, mine: 0, underway: 0 } })))

    expect(words).toContain('112 more need approval. Not checked whether they need yours.')
    expect(words).not.toContain('Nothing needs')
  })

  test('shows at least three requests in each part', () => {
    const [, each = content()] = contents[3] ?? []
    const parts = readableBlocks(homeBlocks(each)).split(/^# /m).slice(1)

    expect(parts.map((part) => (part.match(/Open the request/g) ?? []).length).every((count) => count >= 3)).toBe(true)
  })

  test('has room for one waiting request that fits on a card', () => {
    const facts = longFacts.facts.concat(longFacts.facts, longFacts.facts)
    const withFacts = (count: number) => entry({ reason: 'y'.repeat(500) }, { description: { ...longFacts, facts: facts.slice(0, count) } })
    const fits = (count: number) => fitsOnCard(withFacts(count).card)
    // Halves the range each time, because each card is long.
    let [most, tooMany] = [0, facts.length]
    while (tooMany - most > 1) {
      const middle = Math.floor((most + tooMany) / 2)
      if (fits(middle)) most = middle
      else tooMany = middle
    }

    expect([fits(most), fits(most + 1)]).toEqual([true, false])
    expect(readableBlocks(homeBlocks(content({ waitsForMe: [withFacts(most)] })))).not.toContain('not shown')
  })
})

test('the same request can be in two parts, with different block ids', () => {
  const one = entry()
  const [, ...ids] = blockIds(content({ waitsForMe: [one], mine: [one], underway: [entry({ state: 'tracking', sentAt: requestedAt })] }))

  expect(ids).toHaveLength(3)
  expect(new Set(ids).size).toBe(3)
})

test('the Home tab is published for one person', async () => {
  const published: unknown[] = []
  const client = { views: { publish: async (view: unknown) => void published.push(view) } }
  const messenger = createMessenger({
    client: client as unknown as Parameters<typeof createMessenger>[0]['client'],
    botUserId: () => undefined,
  })

  expect(await messenger.publishHome('U0ADA00001', refusedHome(mrkdwn`No.`))).toEqual({ is: 'sent' })

  expect(published).toEqual([{ user_id: 'U0ADA00001', view: { type: 'home', blocks: refusedHome(mrkdwn`No.`) } }])
})
