import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { withSpaces } from '../../src/domain/text.ts'
import { parseWords, readNames, splitReason, splitStart, typedCommand, withoutMention } from '../../src/slack/typed-words.ts'
import { expectDocument } from '../messages/documents.ts'
import { hostileText } from './hostile-text.ts'

/** What people type after the command, by what is to be shown. */
const words: Record<string, string[]> = {
  Words: [
    '',
    'ip move  eip_1GijF7NsZe3bN\tweb-2',
    'vm rename web-1 "web 1 (old)"',
    'vm rename web-1 “web 1 (old)”',
    "vm rename web-1 'web 1'",
    'vm rename web-1 ""',
    "vm rename web-1 ada's-box",
    'keys create "half a name',
  ],
  'Links that Slack made of them': [
    'ip move 203.0.113.10 <http://web-2.example.com|web-2.example.com>',
    'keys revoke <mailto:ada@example.com|ada@example.com>',
    'plans <https://example.com/plans>',
    'vm rename web-1 "<http://web-2.example.com|web-2.example.com> old"',
  ],
  'Backticks, quotes and commas around a word': [
    'ip move `203.0.113.10` `web-2`',
    'ip move ```203.0.113.10``` web-2',
    'keys rotate `laptop of ada`',
    'ip move 203.0.113.10, web-2,',
    'ip move "203.0.113.10", ‘web-2’, `web-3`,',
    'ip move `<http://web-1.example|web-1.example>`, web-2',
    'vm rename “web 1" ”web 2”',
    'vm rename „web 1“ «web 2»',
    'vm rename "a,b," web-2',
  ],
  'Markup that was typed, unescaped once and after the links': ['R&amp;D', '&lt;http://web-2.example.com|web-3&gt;', '&amp;lt;b&amp;gt;'],
  'What pasting and phones add': [
    'ip move *203.0.113.10* _web-2_',
    'ip move ~203.0.113.10~, `web-2`.',
    'ip move *`203.0.113.10`* **web-2**,',
    'ip move _<http://web-1.example|web-1.example>_, “web-2”.',
    '<mailto:ada@example.com> <tel:+49123> <http://web-1.example.com/>',
    'ip\u00a0move\u3000203.0.113.10\u200b \u2060web\u00ad-2\ufeff',
    'ip move \u202a203.0.113.10\u202c \u2066web-2\u2069',
    'keys rotate "laptop\u00a0of\u200b ada"',
    'ip move ２０３．０．１１３．１０ ｗｅｂ－２',
    'ip move web\u20111 web–2',
    // What people mean is kept: other alphabets, the end of a token, names with these characters, and times.
    'keys rotate …abcde テスト１ my_key web*',
    'at 5 p.m. -> -h ? _',
  ],
  'Mentions, which stay as Slack sends them': ['audit <@U0ADA00001|ada> <#C0OPS00001|ops>'],
}
const mentions = ['<@U0ADA00001|ada>', '<@U0ADA00001>', '<#C0OPS00001|ops>', '<!subteam^S0ONCALL01|@oncall>', '<not a mention>', 'web-2']
const formatted = [
  '`ip move 203.0.113.10 web-2`',
  '*ip move 203.0.113.10 web-2*',
  'ip move `203.0.113.10` web-2',
  'ip list because\u200b \u200bof me',
]
const withReason = [
  'ip move 203.0.113.10 web-2 because OPS-123',
  'ip move 203.0.113.10 web-2 because: the disk is full',
  'ip move 203.0.113.10 web-2, BECAUSE  it failed',
  "vm rename web-1 web-2 because it's Ada's",
  'vm rename web-1 web-2 because “the old name is wrong”',
  'ip move 203.0.113.10 web-2 because of the outage',
  'keys create ci because it failed because of me',
  'ip move because',
  'ip move 203.0.113.10 web-2',
  'keys create "because we can"',
  'keys create `because`',
  'keys create because-ci',
  '',
]
const withStart = [
  'ip move 203.0.113.10 web-2 at 22:00',
  'ip move 203.0.113.10 web-2, at 22:00,',
  'ip move 203.0.113.10 web-2 AT 2026-12-01 06:00',
  'ip move 203.0.113.10 web-2 in 2h',
  'ip move 203.0.113.10 web-2 in half an hour',
  'ip move 203.0.113.10 web-2 tomorrow at 6am',
  'ip move 203.0.113.10 web-2 tonight 22:00',
  'ip move 203.0.113.10 web-2 at tomorrow 6am',
  'vm rename "web 1" web-2 at noon',
  // What begins like a start, and cannot be read.
  'ip move 203.0.113.10 web-2 at 25:00',
  'ip move 203.0.113.10 web-2 at 22:00 please',
  'ip move 203.0.113.10 web-2 in 2 parsecs',
  'ip move 203.0.113.10 web-2 at Monday',
  'ip move 203.0.113.10 web-2 at tomorrow',
  // An end.
  'keys create ci-deploy until tomorrow at 18:00',
  'keys create ci-deploy until 2026-12-24 at 22:00',
  // A thing that is called so, before a start.
  'vm rename at web-2 at 22:00',
  'vm rename in 2-web at 22:00',
  'ip move 203.0.113.10 mon at 22:00',
  'at 22:00',
  '',
  'ip move 203.0.113.10 web-2',
  'vm rename at in',
  'vm rename web-1 at',
  'vm rename at web-2',
  'vm rename in mon-1',
  'vm rename at monitor',
  'vm rename web-1 tomorrow',
  'vm rename tonight today',
  'vm rename web "at 5"',
  'vm rename web `at 22:00`',
  'vm rename at "22:00"',
  'vm rename at 22:00 "web 2"',
  'vm rename web-1 at-22:00',
  'vm rename web-1 22:00',
]

const named = [
  '2',
  ...['web-1', 'web-1 web-2', 'web-1 TO web-2', 'web-1 -> web-2', 'web-1 --> web-2', 'web-1 to', 'web-1 to to', 'to to to'].map(
    (text) => `2 ${text}`,
  ),
  '2 web-1 web-2 please now',
  '3 web-1 OPS-7 to web-2 now',
  '3 web-1 web-2',
  '1 web-1 web-2',
  '0 web-1',
]

const invisible = /[\u00a0\u00ad\u200b-\u2011\u202a-\u202e\u2060-\u2069\u3000\ufeff]/g
const shown = (value: unknown) =>
  JSON.stringify(value)?.replace(invisible, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`) ?? 'none'

test('what is read of what people type is in typed-words.md', async () => {
  const each = (texts: string[], read: (text: string) => unknown) => texts.map((text) => `${shown(text)} → ${shown(read(text))}`).join('\n')
  await expectDocument('typed-words.md', 'What is read of what people type', [
    ...Object.entries(words).map(([what, texts]): [string, string] => [what, each(texts, parseWords)]),
    ['Mentions as names', each(mentions, withoutMention)],
    ['The command without the formatting around all of it', each(formatted, typedCommand)],
    [
      'As many things as a command takes, with or without “to”, and the rest',
      each(named, (text) => {
        const [count, ...args] = text.split(' ')
        return readNames(args, Number(count))
      }),
    ],
    ['The reason, after the first because that is in no name', each(withReason, splitReason)],
    ['The start, at the end and in no name', each(withStart, splitStart)],
  ])
})

describe('the text after a command', () => {
  it('keeps every quoted name, apart from what shows nothing', () => {
    const name = fc.string({ unit: 'grapheme' }).filter((text) => !/["“”]/.test(text))
    const asSlackSends = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    fc.assert(
      fc.property(fc.array(name), (names) => {
        expect(parseWords(names.map((text) => `"${asSlackSends(text)}"`).join(' '))).toEqual(names.map(withSpaces))
      }),
    )
  })

  // A pattern that backtracks would take hours here, and the test would not end in its time.
  it('is parsed, however long and hostile', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(parseWords(text).every((word) => typeof word === 'string')).toBe(true)
      }),
    )
    for (const piece of ['<http://', '"', '“', '<mailto:|', "'", '&amp;', '`', '„', '«', ',']) parseWords(piece.repeat(10_000))
  })
})

it('a reason has links and characters as they were typed, and names in place of mentions, which would notify people', () => {
  const text =
    'ip list because <https://example.com/OPS-1?a=1&amp;b=2> on <http://web-2.example.com|web-2.example.com>: <@U0BEN00001|ben>, <@U0CHI00001>, <!subteam^S0ONCALL01|@oncall>, <#C0OPS00001|ops>, <!here> &lt;3'

  expect(splitReason(text)?.reason).toBe(
    'https://example.com/OPS-1?a=1&b=2 on web-2.example.com: @ben, @U0CHI00001, @oncall, #ops, @here <3',
  )
})

it('a start is found quickly, however long the command', () => {
  for (const piece of ['at ', 'in 1 ', 'tomorrow at ', 'at 22:00 ', '"at 1" ']) splitStart(piece.repeat(3_000))
  fc.assert(
    fc.property(hostileText, hostileText, (before, after) => {
      const split = splitStart(`${before} at 1${after}`)
      if (split) expect(`${before} at 1${after}`.startsWith(split.command)).toBe(true)
    }),
    { numRuns: 50 },
  )
})
