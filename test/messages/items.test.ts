import { expect, test } from 'vitest'
import type { ItemState } from '../../src/domain/request.ts'
import { phrase } from '../../src/domain/text.ts'
import { type ItemView, progress } from '../../src/messages/items.ts'
import { report } from '../../src/messages/reports.ts'
import type { CardView } from '../../src/messages/request-content.ts'
import { requestDetails } from '../../src/messages/request-details.ts'
import { approvalCard, cardActions, fitsOnCard } from '../../src/messages/request-message.ts'
import { isFinished } from '../../src/messages/request-outcome.ts'
import { statusLine } from '../../src/messages/request-status.ts'
import { hasTable, withoutTable } from '../../src/slack/interactions.ts'
import { mention, toPlainText } from '../../src/slack/text.ts'
import { description, minutes, requestedAt, requestFor } from '../given/request.ts'
import { cardViewFor } from './card-view-for-test.ts'
import { expectDocument } from './documents.ts'
import { readableBlocks, wordsAbove } from './readable.ts'

const evacuation = {
  ...description,
  title: phrase`Evacuate ${'web-1'} → ${'web-2'} (${['3 Elastic IPs']})`,
  short: phrase`Evacuate ${'web-1'} → ${'web-2'}`,
}

function item(index: number, more: Partial<ItemView> = {}): ItemView {
  const rest = { sentAt: undefined, lateAt: undefined, endedAt: undefined, ending: { why: '' } }
  return { id: `eip_${index}`, name: `203.0.113.${index}`, state: 'waiting', ...rest, ...more }
}

const sentAt = requestedAt + minutes
const took = (seconds: number) => ({ sentAt, endedAt: sentAt + seconds * 1_000 })
const isOff = { why: 'web-2 has status off.' }
const mixed = [
  item(1, { state: 'done', ...took(41) }),
  item(2, { state: 'failed', ...took(3), ending: { why: '203.0.113.2 has status error.' } }),
  item(3, { state: 'superseded', ...took(20), ending: { why: '203.0.113.3 is on web-9.' } }),
]
const many = (count: number, more: Partial<ItemView>) =>
  Array.from({ length: count }, (_, index) => item(index, { ...took(index + 1), ...more }))

type State = 'tracking' | 'untracked' | 'failed' | 'done'

/** A view of the request with these items, after the first was sent. */
function viewOf(items: ItemView[], state: State): CardView {
  const stored = items.map(({ id, state: of }) => ({ id, state: of, causes: [] }))
  const ended = state === 'tracking' ? {} : { endedAt: sentAt + 60_000 }
  const request = requestFor({ kind: 'ip.evacuate', state, decidedAt: sentAt, sentAt, items: stored, ...ended })
  return { ...cardViewFor({ request, description: evacuation, items }), reverseLabel: 'Move back' }
}

/** The request message with its buttons, and the dialogs after a press on them. */
function shown(view: CardView): string {
  const dialogs = cardActions(view).flatMap(({ confirm }) => (confirm ? [`[${confirm.title?.text}]\n${confirm.text?.text}`] : []))
  return [readableBlocks(approvalCard(view).blocks), ...(view.request.state === 'waiting' ? [] : dialogs)].join('\n')
}

function reportOn(items: ItemView[], state: State, name: 'ended' | 'late' | 'resolved' | 'stopped') {
  const times = { lateAfter: '15 min', now: sentAt + 16 * minutes }
  return report(
    { ...viewOf(items, state), done: phrase`${['3 Elastic IPs']} are assigned to ${'web-2'}.`, showActor: mention, ...times },
    name,
  )
}

/** A report as a table where it has one. */
function reported(...of: Parameters<typeof reportOn>): string {
  const message = reportOn(...of)
  if (!message || !hasTable(message)) return message?.text ?? 'none'
  expect(message.table.text).toBe(withoutTable(message).text)
  return message.table.blocks.map((block) => (block.type === 'data_table' ? tableOf(block.rows) : readableBlocks([block]))).join('\n')
}

const tableOf = (rows: object[][]) =>
  rows.map((row) => row.map((cell) => ('text' in cell ? cell.text : JSON.stringify(cell))).join(' | ')).join('\n')

test('requests of several, as their messages and reports show them', async () => {
  const begun = [item(1, { state: 'tracking' }), item(2), item(3)]
  const cards: [string, CardView][] = [
    ['Requested', cardViewFor({ description: evacuation, items: [item(1), item(2)] })],
    ['Requested, of many', cardViewFor({ description: evacuation, items: many(7, {}) })],
    ['Under way', viewOf([item(1, { state: 'done' }), item(2, { state: 'tracking', lateAt: sentAt }), item(3)], 'tracking')],
    [
      'Without the answers to the writes',
      viewOf([item(1, { state: 'starting', lateAt: sentAt }), item(2, { state: 'starting' })], 'tracking'),
    ],
    ['Under way, and the rest waits for the next minute', { ...viewOf(begun, 'tracking'), sendingMs: 60_000 }],
    ['Partly done', viewOf(mixed, 'failed')],
    ['Partly done, somebody else moved the rest', viewOf([item(1, { state: 'done' }), item(2, { state: 'superseded' })], 'failed')],
    ['Done, and one was left out', { ...viewOf(many(3, { state: 'done' }), 'done'), left: { words: undefined, count: 1 } }],
    ['Partly done, and two were left out', { ...viewOf(mixed, 'failed'), left: { words: undefined, count: 2 } }],
    ['No longer tracked, some were not sent', viewOf(begun, 'untracked')],
    ['No longer tracked, none was sent', viewOf([item(1), item(2)], 'untracked')],
    ['No longer tracked, all were sent', viewOf([item(1, { state: 'tracking' }), item(2, { state: 'done' })], 'untracked')],
  ]
  for (const [situation, view] of cards)
    expect(wordsAbove(approvalCard(view).blocks), situation).toBeLessThanOrEqual(isFinished(view) ? 25 : 60)
  const reports: [string, ...Parameters<typeof reportOn>][] = [
    ['Partly done', mixed, 'failed', 'ended'],
    [
      'Done, with the same to know of all',
      [1, 2].map((index) => item(index, { state: 'done', ...took(41), ending: isOff })),
      'done',
      'ended',
    ],
    ['More than five reasons', many(6, { state: 'failed', ending: { why: 'No.' } }), 'failed', 'ended'],
    ['Late', [item(1, { state: 'done' }), item(2, { state: 'tracking', lateAt: sentAt })], 'tracking', 'late'],
    ['Late, without the answer to the write', [item(1, { state: 'starting', lateAt: sentAt })], 'tracking', 'late'],
    ['The alert resolved before all were sent', begun, 'tracking', 'resolved'],
    ['Stopped before all were sent', begun, 'untracked', 'stopped'],
  ]

  await expectDocument('items.md', 'Requests of several', [
    ...cards.map(([situation, view]): [string, string] => [`Message: ${situation}`, shown(view)]),
    ...reports.map(([situation, ...of]): [string, string] => [`Report: ${situation}`, reported(...of)]),
  ])
})

test.each([
  ['0 of 3', ['waiting', 'starting', 'tracking']],
  ['1 of 3', ['done', 'failed', 'waiting'], ', 1 failed'],
  ['1 of 3', ['done', 'superseded', 'not-started'], ', 1 not started, 1 superseded'],
  ['48 of 50', [...Array(48).fill('done'), 'failed', 'tracking'], ', 1 failed'],
  ['1 of 50', ['done', 'failed', ...Array(48).fill('waiting')], ', 1 failed'],
  ['0 of 50', [...Array(49).fill('failed'), 'waiting'], ', 49 failed'],
  ['49 of 50', [...Array(49).fill('done'), 'unknown']],
  ['50 of 50', Array(50).fill('done')],
] as [string, ItemState[], string?][])('the count of moves: %s', (count, states, more = '') => {
  expect(progress(states.map((state) => ({ state }))).text).toBe(`*${count} moved${more}*`)
})

test('a message has the count among its words', () => {
  const view = viewOf([...mixed.slice(0, 2), item(4, { state: 'tracking' })], 'tracking')
  for (const { text } of [approvalCard(view), requestDetails(view)]) expect(text).toContain('\n*1 of 3 moved, 1 failed*')
  expect(toPlainText(statusLine(view))).toMatch(/\n1 of 3 moved, 1 failed$/)
})

test('50 fit on a message, and in the table of a report, unless Slack would refuse that as too long', () => {
  expect(fitsOnCard(cardViewFor({ description: evacuation, items: many(50, {}) }))).toBe(true)
  const long = many(50, { state: 'failed', ending: { why: 'The account API refused this. '.repeat(10) } })

  expect(reported(many(50, { state: 'done' }), 'done', 'ended').split('\n')).toHaveLength(52)
  const message = reportOn(long, 'failed', 'ended')
  expect(message && hasTable(message)).toBe(false)
})
