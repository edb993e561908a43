import { describe, expect, test } from 'vitest'
import { phrase } from '../../../../src/domain/text.ts'
import { type ItemView, stateWithCount } from '../../../../src/messages/items.ts'
import { report } from '../../../../src/messages/reports.ts'
import { approvalCard, type CardView, cardActions } from '../../../../src/messages/request-message.ts'
import { hasTable } from '../../../../src/slack/interactions.ts'
import { mention } from '../../../../src/slack/text.ts'
import { cardViewFor } from '../../../messages/card-view-for-test.ts'
import { readableBlocks } from '../../../messages/readable.ts'
import { description, minutes, requestedAt, requestFor, ruleFor } from '../../request-for-test.ts'

const evacuation = { ...description, title: phrase`Evacuate ${'web-1'} → ${'web-2'} (${['3 Elastic IPs']})` }

function item(index: number, more: Partial<ItemView> = {}): ItemView {
  return {
    id: `eip_${index}`,
    name: `203.0.113.${index}`,
    lastSeen: undefined,
    state: 'waiting',
    sentAt: undefined,
    lateAt: undefined,
    endedAt: undefined,
    ending: { why: '' },
    ...more,
  }
}

const sentAt = requestedAt + minutes
const took = (seconds: number) => ({ sentAt, endedAt: sentAt + seconds * 1_000 })
const mixed = [
  item(1, { state: 'done', ...took(41) }),
  item(2, { state: 'failed', ...took(3), ending: { why: '203.0.113.2 has status error.' } }),
  item(3, { state: 'superseded', ...took(20), ending: { why: '203.0.113.3 is on web-9.' } }),
]

/** A view of the request with these items, after the first was sent. */
function viewOf(items: ItemView[], state: 'tracking' | 'untracked' | 'failed' | 'done') {
  const stored = items.map(({ id, state: of }) => ({ id, state: of, causes: [] }))
  const ended = state === 'tracking' ? {} : { endedAt: sentAt + 60_000 }
  const request = requestFor({ kind: 'ip.evacuate', state, decidedAt: sentAt, sentAt, items: stored, ...ended })
  return { ...cardViewFor({ request, description: evacuation, items }), reverseLabel: 'Move back' }
}

const labels = (view: CardView) => cardActions(view).map(({ text }) => text.text)

/** The report as text, and its table. */
function layoutsOf(items: ItemView[], state: 'tracking' | 'untracked' | 'failed' | 'done', name: 'ended' | 'late' | 'stopped') {
  const view = viewOf(items, state)
  const words = { done: phrase`${['3 Elastic IPs']} are assigned to ${'web-2'}.`, remark: undefined, handover: undefined }
  const message = report({ ...view, ...words, rule: ruleFor(), showActor: mention, lateAfter: '15 min', now: sentAt + 16 * minutes }, name)
  if (!message || !hasTable(message)) return { asText: message, table: undefined }
  const table = message.table.blocks.find((block) => block.type === 'data_table')
  const [, ...others] = message.table.blocks.filter((block) => block.type === 'section')
  const above = readableBlocks(others)
  return { asText: message.instead, above, table: table?.rows.map((row) => row.map(cellText).join(' | ')), tableText: message.table.text }
}

const cellText = (cell: object) => ('text' in cell ? cell.text : JSON.stringify(cell))

const reportOf = (...of: Parameters<typeof layoutsOf>) => layoutsOf(...of).asText?.text

describe('the card of a request of several', () => {
  test('lists each with its id and what is known of it, before the approval', () => {
    const items = [item(1), item(2, { lastSeen: { server: 'web-1', agoMs: 12 * minutes } })]
    const { text } = approvalCard(cardViewFor({ description: evacuation, items }))

    expect(text).toContain('•  `203.0.113.1`  eip_1\n•  `203.0.113.2`  eip_2  ·  last seen on `web-1` 12 minutes before the request')
  })

  test('does not repeat for each when it was last seen, if that is the same for all of them', () => {
    const items = [1, 2].map((index) => item(index, { lastSeen: { server: 'web-1', agoMs: (12 + index / 4) * minutes } }))
    const { text } = approvalCard(cardViewFor({ description: evacuation, items }))

    expect(text).toContain('•  `203.0.113.1`  eip_1\n•  `203.0.113.2`  eip_2\n')
  })

  test('counts and shows the state of each while they are under way', () => {
    const items = [item(1, { state: 'done' }), item(2, { state: 'tracking', lateAt: sentAt }), item(3)]
    const { text } = approvalCard(viewOf(items, 'tracking'))

    expect(text).toContain('*1 of 3 moved.*')
    expect(text).toContain(
      ':large_green_circle: `203.0.113.1`  moved\n:arrows_counterclockwise: `203.0.113.2`  moving, late\n:white_circle: `203.0.113.3`  waiting',
    )
  })

  test('shows a single one without counts and lists', () => {
    const failed = [item(1, { state: 'failed', ending: { why: '203.0.113.1 has status error.' } })]

    expect(approvalCard(viewOf([item(1, { state: 'tracking' })], 'tracking')).text).not.toMatch(/of 1/)
    expect(approvalCard(viewOf([item(1, { state: 'done' })], 'done')).text).toMatch(/\(3 Elastic IPs\)\n/)
    expect(approvalCard(viewOf([item(1, { state: 'tracking' }), item(2, { state: 'done' })], 'untracked')).text).toContain(
      ':grey_question: `203.0.113.1`  sent, not tracked',
    )
    expect(approvalCard(viewOf(failed, 'failed')).text).toMatch(/\(3 Elastic IPs\)\. 203\.0\.113\.1 has status error\.\nRequested/)
  })

  test('names what was not moved once it has ended, and offers the rest and the way back', () => {
    const view = viewOf(mixed, 'failed')
    const { text } = approvalCard(view)

    expect(text).toContain(':large_orange_circle: *Partly done*')
    expect(text).toContain(
      '1 of 3 moved.\n:red_circle: `203.0.113.2`  failed. 203.0.113.2 has status error.\n:large_orange_circle: `203.0.113.3`  superseded. 203.0.113.3 is on web-9.',
    )
    expect(labels(view)).toEqual(['Retry the rest', 'Move back', 'Details'])
  })

  test('offers no retry for what somebody else moved, and the whole again if nothing was moved', () => {
    const superseded = viewOf([item(1, { state: 'done' }), item(2, { state: 'superseded' })], 'failed')
    const none = { ...viewOf([item(1, { state: 'failed' })], 'failed'), reverseLabel: undefined }

    expect(labels(superseded)).toEqual(['Move back', 'Details'])
    expect(labels(none)).toEqual(['Request again', 'Details'])
  })
})

describe('a request of several whose tracking is stopped', () => {
  const items = [item(1, { state: 'tracking' }), item(2), item(3)]
  const dialogs = (view: CardView) => cardActions(view).flatMap(({ confirm }) => (confirm ? [confirm.text.text] : []))

  test('says before the stop what that means for those that were not sent', () => {
    expect(dialogs(viewOf(items, 'tracking'))).toEqual([
      "Evacuate `web-1` → `web-2` (3 Elastic IPs)\nWhat was sent can't be canceled and may still finish. What wasn't sent yet won't be sent. No result will be posted.",
    ])
  })

  test('says how many were not sent, and asks before it sends them after all', () => {
    const view = viewOf(items, 'untracked')

    expect(approvalCard(view).text).toContain("2 of 3 weren't sent. The others may still finish. *Track again* sends the rest.")
    expect(reportOf(items, 'untracked', 'stopped')).toContain(
      "2 of 3 weren't sent. The others may still finish. Press *Track again* above to send the rest.",
    )
    expect(dialogs(view)).toEqual(["2 of 3 weren't sent. Tracking again sends the rest to the account API now."])
  })

  test('says so of a single one', () => {
    const view = viewOf([item(1)], 'untracked')

    expect(approvalCard(view).text).toContain("It wasn't sent. *Track again* sends it.")
    expect(dialogs(view)).toEqual(["It wasn't sent. Tracking again sends it to the account API now."])
  })

  test('does not say that others may finish if nothing was sent', () => {
    expect(approvalCard(viewOf([item(1), item(2)], 'untracked')).text).toContain("2 of 2 weren't sent. *Track again* sends the rest.")
  })

  test('has no such words if all were sent', () => {
    const view = viewOf([item(1, { state: 'tracking' })], 'untracked')

    expect(approvalCard(view).text).toContain('The account API had accepted it. It may still finish.')
    expect(dialogs(view)).toEqual([])
  })
})

test('the state of a request of several has a count', () => {
  expect(stateWithCount({ state: 'tracking', items: [item(1), item(2)] }, 'moving')).toBe('moving, 0 of 2 moved')
})

describe('the report of a request of several', () => {
  test('says how each ended', () => {
    expect(reportOf(mixed, 'failed', 'ended')).toMatchInlineSnapshot(`
      "<@U0ADA00001> :large_orange_circle: *Partly done:* “Evacuate \`web-1\` → \`web-2\` (3 Elastic IPs)”. 1 of 3 moved.
      :red_circle: \`203.0.113.2\`  failed. 203.0.113.2 has status error.
      :large_orange_circle: \`203.0.113.3\`  superseded. 203.0.113.3 is on web-9.
      :large_green_circle: \`203.0.113.1\`  moved in 41 s
      Above, you can press *Retry the rest*, or *Move back* to undo what was moved."
    `)
  })

  test('describes a single one in a sentence, as for a single move', () => {
    const request = requestFor({ kind: 'ip.evacuate', state: 'done', decidedAt: sentAt, sentAt, endedAt: sentAt + 18_000 })
    const done = [item(1, { state: 'done', ...took(18) })]
    const words = { done: phrase`${'203.0.113.1'} is assigned to ${'web-2'}.`, remark: undefined, handover: undefined }
    const items = { items: done, request: { ...request, items: [{ id: 'eip_1', state: 'done' as const, causes: [] }] } }
    const view = { ...viewOf(done, 'done'), ...words, ...items, showActor: mention, lateAfter: '15 min', now: sentAt }
    const ended = report({ ...view, rule: ruleFor() }, 'ended')

    expect(ended && !hasTable(ended) && ended.text).toBe(
      '<@U0ADA00001> :large_green_circle: *Done.* `203.0.113.1` is assigned to `web-2`. It took 18\u00a0s.',
    )
  })

  test('says why a single one failed, and what to do', () => {
    const failed = (ending: ItemView['ending']) => [item(2, { state: 'failed', ...took(3), ending })]

    expect(reportOf(failed({ why: 'It is on web-9.' }), 'failed', 'ended')).toBe(
      '<@U0ADA00001> :red_circle: *Failed:* “Evacuate `web-1` → `web-2` (3 Elastic IPs)”. It is on web-9. Check the account before you request it again.',
    )
    expect(reportOf(failed({ why: 'It has status error.', next: 'Ask support.' }), 'failed', 'ended')).toMatch(
      /It has status error\. Ask support\.$/,
    )
    expect(layoutsOf(failed({ why: 'No.' }), 'failed', 'ended').table).toBeUndefined()
  })

  test('says that a single one is late, without a count', () => {
    expect(reportOf([item(1, { state: 'tracking', lateAt: sentAt })], 'tracking', 'late')).toContain(
      'is still moving after 16\u00a0min (expected within 15 min). Still under way: `203.0.113.1`. Still tracking.',
    )
  })

  test('shows it as a table, what was not moved first, and says the same in words', () => {
    const { asText, table, tableText, above } = layoutsOf(mixed, 'failed', 'ended')

    expect(table).toEqual([
      'Address | Outcome | Took',
      '203.0.113.2 | failed | 3 s',
      '203.0.113.3 | superseded | 20 s',
      '203.0.113.1 | moved | 41 s',
    ])
    expect(above).toBe(
      ':red_circle: `203.0.113.2`  failed. 203.0.113.2 has status error.\n:large_orange_circle: `203.0.113.3`  superseded. 203.0.113.3 is on web-9.\nAbove, you can press *Retry the rest*, or *Move back* to undo what was moved.',
    )
    expect(tableText).toBe(asText?.text)
  })

  test('has more than five reasons in the table alone', () => {
    const items = Array.from({ length: 6 }, (_, index) => item(index, { state: 'failed', ...took(1), ending: { why: 'No.' } }))
    const { table, above } = layoutsOf(items, 'failed', 'ended')

    expect(table?.slice(0, 2)).toEqual(['Address | Outcome | Took | Why', '203.0.113.0 | failed | 1 s | No.'])
    expect(above).toBe('Check the account before you request it again.')
  })

  test('has a table of 50 rows, without columns that would be empty', () => {
    const items = Array.from({ length: 50 }, (_, index) => item(index, { state: 'done', ...took(index + 1) }))
    const { table } = layoutsOf(items, 'done', 'ended')

    expect(table?.slice(0, 2)).toEqual(['Address | Outcome | Took', '203.0.113.0 | moved | 1 s'])
    expect(table).toHaveLength(51)
  })

  test('has no table that Slack would refuse as too long', () => {
    const ending = { why: 'The account API refused this. '.repeat(10) }
    const items = Array.from({ length: 50 }, (_, index) => item(index, { state: 'failed', ...took(1), ending }))

    expect(layoutsOf(items, 'failed', 'ended').table).toBeUndefined()
  })

  test('says once what holds for all that are done', () => {
    const off = { why: 'web-2 has status off.' }
    const items = [1, 2, 3].map((index) => item(index, { state: 'done', ...took(41), ending: off }))
    expect(reportOf(items, 'done', 'ended')).toMatchInlineSnapshot(`
      "<@U0ADA00001> :warning: *Done.* 3 Elastic IPs are assigned to \`web-2\`. web-2 has status off. It took 1 min.
      :large_green_circle: \`203.0.113.1\`  moved in 41 s
      :large_green_circle: \`203.0.113.2\`  moved in 41 s
      :large_green_circle: \`203.0.113.3\`  moved in 41 s"
    `)
  })

  test('names those that are late', () => {
    const items = [item(1, { state: 'done' }), item(2, { state: 'tracking', lateAt: sentAt })]
    expect(reportOf(items, 'tracking', 'late')).toMatchInlineSnapshot(
      `"<@U0ADA00001> :warning: *Late:* “Evacuate \`web-1\` → \`web-2\` (3 Elastic IPs)”. 1 of 2 moved after 16 min (expected within 15 min each). Still under way: \`203.0.113.2\`. Still tracking. If it's urgent, contact the provider's support."`,
    )
  })
})
