import { globSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emojiNamed, formatSlackDate, type Inline, parseMrkdwn } from '../sandbox/page/mrkdwn.ts'

const text = (words: string) => ({ type: 'text', text: words })

test('a token stands alone in its block', () => {
  expect(parseMrkdwn('```secret_token```')).toEqual([{ type: 'code', text: 'secret_token' }])
})

test('emphasis, code, links and emoji are distinguished', () => {
  expect(parseMrkdwn('*Done*, _in_ `9 s` <https://example.com/a?b=1&amp;c=2|here> :eyes:')).toEqual([
    { type: 'bold', children: [text('Done')] },
    text(', '),
    { type: 'italic', children: [text('in')] },
    text(' '),
    { type: 'code', text: '9 s' },
    text(' '),
    { type: 'link', url: 'https://example.com/a?b=1&c=2', text: 'here' },
    text(' '),
    { type: 'emoji', name: 'eyes' },
  ])
})

test.each([
  ['<@U0ADA00001>', { type: 'user', id: 'U0ADA00001' }],
  ['<#C0OPS00001|ops>', { type: 'channel', id: 'C0OPS00001', label: 'ops' }],
  ['<!subteam^S0ONCALL01>', { type: 'group', id: 'S0ONCALL01' }],
  ['<!date^1795240800^{time}|21 Nov>', { type: 'date', seconds: 1795240800, format: '{time}' }],
  // Entities are decoded once.
  ['&lt;@U0ADA00001&gt; &amp;lt;', text('<@U0ADA00001> &lt;')],
])('%s is read as Slack reads it', (written, piece) => {
  expect(parseMrkdwn(written)).toEqual([piece])
})

test.each(['snake_case_name', '2*3*4', '* not bold *', '~/bin and ~/lib', 'a :b c: d', '<javascript:alert(1)|click>', '3 < 4 > 2'])(
  '%s is only text',
  (written) => {
    expect(parseMrkdwn(written)).toEqual([text(written)])
  },
)

test('an address is a link by itself, unless the text is verbatim', () => {
  const written = 'See https://example.com/x.'
  expect(parseMrkdwn(written)).toContainEqual({ type: 'link', url: 'https://example.com/x', text: 'https://example.com/x' })
  expect(parseMrkdwn(written, true)).toEqual([text(written)])
})

test('links lead only to addresses that a chat may open, whatever the text says', () => {
  const pieces = fc.constantFrom(...'<>|*_`:a \n', 'https://a.example', 'javascript:x', '!date^1^{time}^', '@U1', '&lt;')
  const urlsIn = (all: Inline[]): string[] =>
    all.flatMap((piece) => ('children' in piece ? urlsIn(piece.children) : piece.type === 'link' ? [piece.url] : []))

  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      for (const url of urlsIn(parseMrkdwn(parts.join('')))) expect(url).toMatch(/^(https?:\/\/|mailto:)/)
    }),
  )
})

test('every emoji that the bot writes has its picture', () => {
  const files = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const written = files.flatMap((source) => [...source.matchAll(/['`\s]:([a-z_]+):['\s]/g)].map(([, name = '']) => name))

  expect(written.length).toBeGreaterThan(20)
  expect(written.filter((name) => emojiNamed(name) === undefined)).toEqual([])
})

const at = (...parts: [number, number, number, number?, number?]) => new Date(...parts).getTime() / 1000

test.each([
  ['{date_short_pretty} at {time}', at(2026, 10, 21, 9, 5), 'today at 9:05 AM'],
  ['{date_short_pretty}', at(2026, 10, 22), 'tomorrow'],
  ['{time} {date_long_pretty}', at(2026, 11, 1, 6, 0), '6:00 AM Tuesday, December 1, 2026'],
  ['{date_short}', at(2026, 10, 3), 'Nov 3, 2026'],
  ['{date_num} {time_secs}', at(2026, 0, 2, 3, 4), '2026-01-02 3:04:00 AM'],
  ['{unknown}', at(2026, 10, 21), '{unknown}'],
])('the date %s', (format, seconds, expected) => {
  expect(formatSlackDate(seconds, format, new Date(2026, 10, 21, 14, 30), 'en-US').replaceAll('\u202f', ' ')).toBe(expected)
})
