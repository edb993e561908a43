import { globSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emojiNamed } from '../sandbox/page/emoji.ts'
import { type Inline, parseMrkdwn } from '../sandbox/page/mrkdwn.ts'

test('emphasis, code, links and emoji are distinguished', () => {
  const text = (words: string) => ({ type: 'text', text: words })

  expect(inline('*Done*, _in_ ~10~ `9 s` <https://example.com/a?b=1&amp;c=2|here> :eyes:')).toEqual([
    { type: 'bold', children: [text('Done')] },
    text(', '),
    { type: 'italic', children: [text('in')] },
    text(' '),
    { type: 'strike', children: [text('10')] },
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
  ['<!here>', { type: 'broadcast', range: 'here' }],
  [
    '<!date^1795240800^{time} {date_short_pretty}|21 Nov>',
    { type: 'date', seconds: 1795240800, format: '{time} {date_short_pretty}', fallback: '21 Nov' },
  ],
])('%s is read as Slack reads it', (text, piece) => {
  expect(inline(text)).toEqual([piece])
})

test.each(['snake_case_name', '2*3*4', '* not bold *', '~/bin and ~/lib', 'a :b c: d', '<javascript:alert(1)|click>', '3 < 4 > 2'])(
  '%s is only text',
  (text) => {
    expect(inline(text)).toEqual([{ type: 'text', text }])
  },
)

test('entities are decoded once and never become markup', () => {
  expect(inline('&lt;@U0ADA00001&gt; &amp;lt;')).toEqual([{ type: 'text', text: '<@U0ADA00001> &lt;' }])
})

test('an address is a link by itself, unless the text is verbatim', () => {
  const text = 'See https://example.com/x.'

  expect(inline(text)).toContainEqual({ type: 'link', url: 'https://example.com/x', text: 'https://example.com/x' })
  expect(parseMrkdwn(text, { verbatim: true })).toEqual([{ type: 'paragraph', children: [{ type: 'text', text }] }])
})

test('quotes and preformatted text are separate paragraphs', () => {
  expect(parseMrkdwn('&gt; one\n> two\nthree\n```\n*four*\n```')).toEqual([
    { type: 'quote', children: [{ type: 'text', text: 'one' }, { type: 'break' }, { type: 'text', text: 'two' }] },
    { type: 'paragraph', children: [{ type: 'text', text: 'three' }] },
    { type: 'preformatted', text: '*four*' },
  ])
})

test('links lead only to addresses that a chat may open, whatever the text says', () => {
  const pieces = fc.constantFrom(...'<>|*_`:a \n', 'https://a.example', 'javascript:x', '!date^1^{time}^', '@U1', '&lt;')
  const text = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''))

  fc.assert(
    fc.property(text, (written) => {
      for (const url of urlsIn(parseMrkdwn(written).flatMap((part) => ('children' in part ? part.children : [])))) {
        expect(url).toMatch(/^(https?:\/\/|mailto:|tel:)/)
      }
    }),
  )
})

function inline(text: string): Inline[] {
  return parseMrkdwn(text).flatMap((paragraph) => ('children' in paragraph ? paragraph.children : []))
}

function urlsIn(pieces: Inline[]): string[] {
  return pieces.flatMap((piece) => {
    if ('children' in piece) return urlsIn(piece.children)
    return piece.type === 'link' ? [piece.url] : []
  })
}

test('every emoji that the bot writes has its picture', () => {
  const files = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const written = files.flatMap((source) => [...source.matchAll(/['`\s]:([a-z_]+):['\s]/g)].map(([, name = '']) => name))

  expect(written.length).toBeGreaterThan(50)
  expect(written.filter((name) => emojiNamed(name) === undefined)).toEqual([])
})
