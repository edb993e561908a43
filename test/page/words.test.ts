import { globSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cardButtons } from '../../src/messages/button-ids.ts'
import { emojiNamed, formatSlackDate, type Inline, parseMrkdwn } from '../sandbox/page/mrkdwn.ts'
import { stageButtons } from '../sandbox/page/requests.ts'

const text = (words: string) => ({ type: 'text', text: words }) as const

test.each<[string, Inline[]]>([
  ['```secret_token```', [{ type: 'code', text: 'secret_token' }]],
  [
    '*Done*, `9 s` :eyes:',
    [{ type: 'bold', children: [text('Done')] }, text(', '), { type: 'code', text: '9 s' }, text(' '), { type: 'emoji', name: 'eyes' }],
  ],
  ['<https://example.com/a?b=1&amp;c=2|here>', [{ type: 'link', url: 'https://example.com/a?b=1&c=2', text: 'here' }]],
  ['<@U0ADA00001>', [{ type: 'user', id: 'U0ADA00001' }]],
  ['<#C0OPS00001|ops>', [{ type: 'channel', id: 'C0OPS00001', label: 'ops' }]],
  ['<!subteam^S0ONCALL01>', [{ type: 'group', id: 'S0ONCALL01' }]],
  ['<!date^1795240800^{time}|21 Nov>', [{ type: 'date', seconds: 1795240800, format: '{time}' }]],
  // Entities are decoded once.
  ['&lt;@U0ADA00001&gt; &amp;lt;', [text('<@U0ADA00001> &lt;')]],
  ['snake_case_name 2*3*4', [text('snake_case_name 2*3*4')]],
  ['<javascript:alert(1)|click>', [text('<javascript:alert(1)|click>')]],
])('%s is read as Slack reads it', (written, pieces) => {
  expect(parseMrkdwn(written)).toEqual(pieces)
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

test('a date is shown as Slack shows it', () => {
  const shown = formatSlackDate(
    new Date(2026, 10, 21, 9, 5).getTime() / 1000,
    '{date_short_pretty} at {time}',
    new Date(2026, 10, 21, 14, 30),
    'en-US',
  )
  expect(shown.replaceAll('\u202f', ' ')).toBe('today at 9:05 AM')
})

test('the page knows the buttons by the names that Lockkeeper gives them', () => {
  const { approve, handOver } = cardButtons
  expect(stageButtons).toEqual({ approve, handOver })
})
