import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasTable, withoutTable } from '../../src/slack/interactions.ts'
import { listAnswer } from '../../src/slack/listing.ts'
import { type Cell, type Columns, dataTable, detailsOf, itemRows, tableCell } from '../../src/slack/table.ts'
import { channelMention, code, dateTime, escapeMrkdwn, link, mention, mrkdwn, userGroupMention } from '../../src/slack/text.ts'
import { objectsOf } from '../sandbox/slack/json.ts'
import { charactersIn, problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'
import { hostileText } from './hostile-text.ts'

const at = { name: '/infra', command: 'ip list', args: ['fra'], page: 0 }

const cell: fc.Arbitrary<Cell> = fc.oneof(
  hostileText,
  hostileText.map(escapeMrkdwn),
  hostileText.map(code),
  fc.record({ value: fc.double({ noNaN: true, noDefaultInfinity: true }), words: fc.string() }),
  fc.constantFrom(
    undefined,
    '',
    mention('U0ADA00001'),
    channelMention('C0OPS00001'),
    userGroupMention('S0ONCALL01'),
    dateTime(1_795_024_800_000),
  ),
  fc.constant(link('https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100', 'Open')),
)

/** A list of items with the same number of cells each. */
const someRows = fc
  .record({ columns: fc.integer({ min: 1, max: 24 }), rows: fc.oneof(fc.nat(8), fc.integer({ min: 90, max: 110 })) })
  .chain(({ columns, rows }) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: rows, maxLength: rows }))

function listingOf(rows: Cell[][], title: string) {
  const columns = (rows[0] ?? [undefined]).map((_, index) => ({ header: `Column ${index}`, cell: (row: Cell[]) => row[index] }))
  return {
    title: escapeMrkdwn(title),
    empty: mrkdwn`None.`,
    ...itemRows(rows, {
      columns: columns as Columns<Cell[]>,
      details: { of: 'thing', placeholder: 'Details', idOf: (row: Cell[]) => String(rows.indexOf(row)), nameOf: () => 'a thing' },
    }),
  }
}

describe('a list', () => {
  it('keeps every limit of Slack, whatever its cells hold, and is a table only if it fits', () => {
    fc.assert(
      fc.property(someRows, hostileText, (rows, title) => {
        const answer = listAnswer(listingOf(rows, title), at)

        const messages = hasTable(answer) ? [answer.table, withoutTable(answer)] : [withoutTable(answer)]
        for (const { blocks } of messages) {
          expect(problemsWithBlocks(blocks)).toEqual([])
          expect(charactersIn(blocks)).toBeLessThanOrEqual(10_000)
        }
        if (hasTable(answer)) expect([rows.length > 0, rows.length <= 100]).toEqual([true, true])
      }),
      { numRuns: 30 },
    )
  })

  it.each([
    [100, 20, true],
    [101, 20, false],
    [100, 21, false],
    [0, 1, false],
  ])('of %i rows and %i columns is a table: %s', (rows, columns, expected) => {
    const all = Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => `${(row + column) % 10}`))

    expect(dataTable('Numbers', { headers: Array.from({ length: columns }, () => 'n'), rows: all }) !== undefined).toBe(expected)
  })

  it('has a caption without markup, of which nothing is documented', () => {
    expect(dataTable('Audit of <!everyone>', { headers: ['n'], rows: [['1']] })?.caption).toBe('Audit of !everyone')
  })

  it('says in words everything that the table shows, also above 4,000 characters', () => {
    const rows = Array.from({ length: 100 }, (_, index) => [
      `203.0.113.${index}`,
      'active on a server with a long name',
      code(`web-${index}`),
    ])

    const answer = listAnswer(listingOf(rows, 'Elastic IPs'), at)

    const text = hasTable(answer) ? answer.table.text : ''
    expect(text.length).toBeGreaterThan(4_000)
    for (const [address, status, server] of rows)
      expect(`${text}\n`).toContain(`*${address}*\nColumn 1: ${status}  ·  Column 2: ${server}\n`)
  })

  it('has the same labels as table, as text and in details, and leaves out what is empty: a column only if it is empty everywhere', () => {
    type Row = { name: string; cores?: Cell; note?: Cell }
    const columns: Columns<Row> = [
      { header: 'Plan', cell: ({ name }) => name },
      { header: 'vCPU', cell: ({ cores }) => cores },
      { header: 'Note', cell: ({ note }) => note },
    ]
    const [big, small]: [Row, Row] = [
      { name: 'big', cores: { value: 16, words: '16' } },
      { name: 'small', note: ' ' },
    ]
    const { rows, table } = itemRows([big, small], { columns })

    expect(table).toEqual({
      headers: ['Plan', 'vCPU'],
      rows: [
        ['big', { value: 16, words: '16' }],
        ['small', undefined],
      ],
    })
    expect(rows.map(String)).toEqual(['*big*\nvCPU: 16', '*small*'])
    expect([big, small].map((row) => detailsOf(row, columns).facts.map(({ label, words }) => `${label}: ${words}`))).toEqual([
      ['vCPU: 16'],
      [],
    ])
  })
})

describe('a cell', () => {
  const elementsOf = (words: Cell) => {
    const made = tableCell(words)
    return made.type === 'rich_text' ? objectsOf(made.elements).flatMap((part) => objectsOf(part.elements)) : made
  }

  it.each<[string, Cell, unknown]>([
    ['text', 'web-1', { type: 'raw_text', text: 'web-1' }],
    ['code alone', code('web-1'), { type: 'raw_text', text: 'web-1' }],
    ['nothing', undefined, { type: 'raw_text', text: '–' }],
    ['a number', { value: 0.007, words: '$0.007/h' }, { type: 'raw_number', value: 0.007, text: '$0.007/h' }],
    ['text like markup', '<!channel> & *co*', [{ type: 'text', text: '<!channel> & *co*' }]],
    ['text like an emoji', ':large_green_circle: active', [{ type: 'text', text: ':large_green_circle: active' }]],
    [
      'a mention in words',
      mrkdwn`no, ${mention('U0ADA00001')} can`,
      [
        { type: 'text', text: 'no, ' },
        { type: 'user', user_id: 'U0ADA00001' },
        { type: 'text', text: ' can' },
      ],
    ],
    ['a date', dateTime(1_795_024_800_000), [{ type: 'date', timestamp: 1_795_024_800, format: '{date_num} {time}' }]],
    [
      'a link with several values',
      link('https://a.slack.com/archives/C1/p1?thread_ts=1.2&cid=C1', 'OPS-1'),
      [{ type: 'link', url: 'https://a.slack.com/archives/C1/p1?thread_ts=1.2&cid=C1', text: 'OPS-1' }],
    ],
    ['a link', link('https://x.slack.com/a/b', 'Open'), [{ type: 'link', url: 'https://x.slack.com/a/b', text: 'Open' }]],
    ['code in words', mrkdwn`${code('203.0.113.13')} (moving)`, { type: 'raw_text', text: '203.0.113.13 (moving)' }],
    [
      'code beside a mention',
      mrkdwn`${code('web-1')} by ${mention('U0ADA00001')}`,
      [
        { type: 'text', text: 'web-1 by ' },
        { type: 'user', user_id: 'U0ADA00001' },
      ],
    ],
  ])('of %s', (_, words, expected) => {
    expect(elementsOf(words)).toEqual(expected)
  })

  it('never mentions anybody in text from outside', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const made = JSON.stringify([tableCell(text), tableCell(escapeMrkdwn(text)), tableCell(code(text))])
        expect(made).not.toMatch(/"type":"(user|channel|usergroup|link|date)"/)
      }),
    )
  })
})
