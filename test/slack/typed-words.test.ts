import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withSpaces } from '../../src/domain/text.ts'
import { parseWords, readNames, splitReason, splitStart, typedCommand, withoutMention } from '../../src/slack/typed-words.ts'
import { hostileText } from './hostile-text.ts'

describe('the text after a command', () => {
  it.each([
    ['', []],
    ['ip move  eip_1GijF7NsZe3bN\tweb-2', ['ip', 'move', 'eip_1GijF7NsZe3bN', 'web-2']],
    ['vm rename web-1 "web 1 (old)"', ['vm', 'rename', 'web-1', 'web 1 (old)']],
    ['vm rename web-1 “web 1 (old)”', ['vm', 'rename', 'web-1', 'web 1 (old)']],
    ["vm rename web-1 'web 1'", ['vm', 'rename', 'web-1', 'web 1']],
    ['vm rename web-1 ""', ['vm', 'rename', 'web-1', '']],
    ["vm rename web-1 ada's-box", ['vm', 'rename', 'web-1', "ada's-box"]],
    ['keys create "half a name', ['keys', 'create', '"half', 'a', 'name']],
  ])('is split into words: %j', (text, words) => {
    expect(parseWords(text)).toEqual(words)
  })

  it.each([
    ['ip move 203.0.113.10 <http://web-2.example.com|web-2.example.com>', ['ip', 'move', '203.0.113.10', 'web-2.example.com']],
    ['keys revoke <mailto:ada@example.com|ada@example.com>', ['keys', 'revoke', 'ada@example.com']],
    ['plans <https://example.com/plans>', ['plans', 'example.com/plans']],
    ['vm rename web-1 "<http://web-2.example.com|web-2.example.com> old"', ['vm', 'rename', 'web-1', 'web-2.example.com old']],
  ])('becomes what was typed if Slack turned it into a link: %j', (text, words) => {
    expect(parseWords(text)).toEqual(words)
  })

  it.each([
    ['ip move `203.0.113.10` `web-2`', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['ip move ```203.0.113.10``` web-2', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['keys rotate `laptop of ada`', ['keys', 'rotate', 'laptop of ada']],
    ['ip move 203.0.113.10, web-2,', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['ip move "203.0.113.10", ‘web-2’, `web-3`,', ['ip', 'move', '203.0.113.10', 'web-2', 'web-3']],
    ['ip move `<http://web-1.example|web-1.example>`, web-2', ['ip', 'move', 'web-1.example', 'web-2']],
    ['vm rename “web 1" ”web 2”', ['vm', 'rename', 'web 1', 'web 2']],
    ['vm rename „web 1“ «web 2»', ['vm', 'rename', 'web 1', 'web 2']],
    ['vm rename "a,b," web-2', ['vm', 'rename', 'a,b,', 'web-2']],
  ])('loses the backticks, quotes and commas around a word, but not those within quotes: %j', (text, words) => {
    expect(parseWords(text)).toEqual(words)
  })

  it.each([
    ['<@U0ADA00001|ada>', 'ada'],
    ['<@U0ADA00001>', 'U0ADA00001'],
    ['<#C0OPS00001|ops>', 'ops'],
    ['<!subteam^S0ONCALL01|@oncall>', 'oncall'],
    ['<not a mention>', '<not a mention>'],
    ['web-2', 'web-2'],
  ])('has mentions, which become the name that was typed: %j', (word, name) => {
    expect(withoutMention(word)).toBe(name)
  })

  it.each([
    ['R&amp;D', ['R&D']],
    ['&lt;http://web-2.example.com|web-3&gt;', ['<http://web-2.example.com|web-3>']],
    ['&amp;lt;b&amp;gt;', ['&lt;b&gt;']],
  ])('is unescaped only once and after the links, so that typed markup stays text: %j', (text, words) => {
    expect(parseWords(text)).toEqual(words)
  })

  it.each([
    ['ip move *203.0.113.10* _web-2_', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['ip move ~203.0.113.10~, `web-2`.', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['ip move *`203.0.113.10`* **web-2**,', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['ip move _<http://web-1.example|web-1.example>_, “web-2”.', ['ip', 'move', 'web-1.example', 'web-2']],
    ['<mailto:ada@example.com> <tel:+49123> <http://web-1.example.com/>', ['ada@example.com', '+49123', 'web-1.example.com']],
    ['ip\u00a0move\u3000203.0.113.10\u200b \u2060web\u00ad-2\ufeff', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['ip move \u202a203.0.113.10\u202c \u2066web-2\u2069', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['keys rotate "laptop\u00a0of\u200b ada"', ['keys', 'rotate', 'laptop of ada']],
    ['ip move ２０３．０．１１３．１０ ｗｅｂ－２', ['ip', 'move', '203.0.113.10', 'web-2']],
    ['ip move web\u20111 web–2', ['ip', 'move', 'web-1', 'web-2']],
    // What people mean is kept: other alphabets, the end of a token, names with these characters, and times.
    ['keys rotate …abcde テスト１ my_key web*', ['keys', 'rotate', '…abcde', 'テスト１', 'my_key', 'web*']],
    ['at 5 p.m. -> -h ? _', ['at', '5', 'p.m.', '->', '-h', '?', '_']],
  ])('loses what pasting and phones add to a word: %j', (text, words) => {
    expect(parseWords(text)).toEqual(words)
  })

  it.each([
    ['`ip move 203.0.113.10 web-2`', 'ip move 203.0.113.10 web-2'],
    ['*ip move 203.0.113.10 web-2*', 'ip move 203.0.113.10 web-2'],
    ['ip move `203.0.113.10` web-2', 'ip move `203.0.113.10` web-2'],
    ['ip list because\u200b \u200bof me', 'ip list because of me'],
  ])('is read without the formatting around all of it: %j', (text, command) => {
    expect(typedCommand(text)).toBe(command)
  })

  it('keeps mentions of people and channels as Slack sends them', () => {
    expect(parseWords('audit <@U0ADA00001|ada> <#C0OPS00001|ops>')).toEqual(['audit', '<@U0ADA00001|ada>', '<#C0OPS00001|ops>'])
  })

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

it.each([
  [[], [], []],
  [['web-1'], ['web-1'], []],
  [['web-1', 'web-2'], ['web-1', 'web-2'], []],
  [['web-1', 'TO', 'web-2'], ['web-1', 'web-2'], []],
  [['web-1', '->', 'web-2'], ['web-1', 'web-2'], []],
  [['web-1', '-->', 'web-2'], ['web-1', 'web-2'], []],
  [['web-1', 'to'], ['web-1'], []],
  [['web-1', 'to', 'to'], ['web-1', 'to'], []],
  [['to', 'to', 'to'], ['to', 'to'], []],
  [
    ['web-1', 'web-2', 'please', 'now'],
    ['web-1', 'web-2'],
    ['please', 'now'],
  ],
])('two things are read with or without "to", and things that are named so too: %j', (args, names, rest) => {
  expect(readNames(args, 2)).toEqual({ names, rest })
})

it.each([
  [['web-1', 'OPS-7', 'to', 'web-2', 'now'], 3, ['web-1', 'OPS-7', 'web-2'], ['now']],
  [['web-1', 'web-2'], 3, ['web-1', 'web-2'], []],
  [['web-1', 'web-2'], 1, ['web-1'], ['web-2']],
  [['web-1'], 0, [], ['web-1']],
])('as many are read as a command takes: %j, %i', (args, count, names, rest) => {
  expect(readNames(args, count)).toEqual({ names, rest })
})

describe('the reason of a command', () => {
  it.each([
    ['ip move 203.0.113.10 web-2 because OPS-123', 'ip move 203.0.113.10 web-2', 'OPS-123'],
    ['ip move 203.0.113.10 web-2 because: the disk is full', 'ip move 203.0.113.10 web-2', 'the disk is full'],
    ['ip move 203.0.113.10 web-2, BECAUSE  it failed', 'ip move 203.0.113.10 web-2', 'it failed'],
    ["vm rename web-1 web-2 because it's Ada's", 'vm rename web-1 web-2', "it's Ada's"],
    ['vm rename web-1 web-2 because “the old name is wrong”', 'vm rename web-1 web-2', 'the old name is wrong'],
    ['keys create ci because it failed because of me', 'keys create ci', 'it failed because of me'],
    ['ip move because', 'ip move', ''],
  ])('is what follows the first because: %s', (text, command, reason) => {
    expect(splitReason(text)).toEqual({ command, reason })
  })

  it.each(['ip move 203.0.113.10 web-2', 'keys create "because we can"', 'keys create `because`', 'keys create because-ci', ''])(
    'is not a because in a name: %s',
    (text) => {
      expect(splitReason(text)).toBeUndefined()
    },
  )

  it('has links and characters as they were typed, and names in place of mentions, which would notify people', () => {
    const text =
      'ip list because <https://example.com/OPS-1?a=1&amp;b=2> on <http://web-2.example.com|web-2.example.com>: <@U0BEN00001|ben>, <@U0CHI00001>, <!subteam^S0ONCALL01|@oncall>, <#C0OPS00001|ops>, <!here> &lt;3'

    expect(splitReason(text)?.reason).toBe(
      'https://example.com/OPS-1?a=1&b=2 on web-2.example.com: @ben, @U0CHI00001, @oncall, #ops, @here <3',
    )
  })
})

describe('the start of a command', () => {
  it.each([
    ['ip move 203.0.113.10 web-2 at 22:00', 'ip move 203.0.113.10 web-2', 'at 22:00'],
    ['ip move 203.0.113.10 web-2, at 22:00,', 'ip move 203.0.113.10 web-2', 'at 22:00'],
    ['ip move 203.0.113.10 web-2 AT 2026-12-01 06:00', 'ip move 203.0.113.10 web-2', 'AT 2026-12-01 06:00'],
    ['ip move 203.0.113.10 web-2 in 2h', 'ip move 203.0.113.10 web-2', 'in 2h'],
    ['ip move 203.0.113.10 web-2 in half an hour', 'ip move 203.0.113.10 web-2', 'in half an hour'],
    ['ip move 203.0.113.10 web-2 tomorrow at 6am', 'ip move 203.0.113.10 web-2', 'tomorrow at 6am'],
    ['ip move 203.0.113.10 web-2 tonight 22:00', 'ip move 203.0.113.10 web-2', 'tonight 22:00'],
    ['ip move 203.0.113.10 web-2 at tomorrow 6am', 'ip move 203.0.113.10 web-2', 'at tomorrow 6am'],
    ['vm rename "web 1" web-2 at noon', 'vm rename "web 1" web-2', 'at noon'],
    // What begins like a start, and cannot be read.
    ['ip move 203.0.113.10 web-2 at 25:00', 'ip move 203.0.113.10 web-2', 'at 25:00'],
    ['ip move 203.0.113.10 web-2 at 22:00 please', 'ip move 203.0.113.10 web-2', 'at 22:00 please'],
    ['ip move 203.0.113.10 web-2 in 2 parsecs', 'ip move 203.0.113.10 web-2', 'in 2 parsecs'],
    ['ip move 203.0.113.10 web-2 at Monday', 'ip move 203.0.113.10 web-2', 'at Monday'],
    ['ip move 203.0.113.10 web-2 at tomorrow', 'ip move 203.0.113.10 web-2', 'at tomorrow'],
    // A thing that is called so, before a start.
    ['vm rename at web-2 at 22:00', 'vm rename at web-2', 'at 22:00'],
    ['vm rename in 2-web at 22:00', 'vm rename in 2-web', 'at 22:00'],
    ['ip move 203.0.113.10 mon at 22:00', 'ip move 203.0.113.10 mon', 'at 22:00'],
    ['at 22:00', '', 'at 22:00'],
  ])('is what stands at its end: %s', (text, command, start) => {
    expect(splitStart(text)).toEqual({ command, start })
  })

  it.each([
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
  ])('is not found in names: %s', (text) => {
    expect(splitStart(text)).toBeUndefined()
  })

  it('is found quickly, however long the command', () => {
    for (const piece of ['at ', 'in 1 ', 'tomorrow at ', 'at 22:00 ', '"at 1" ']) splitStart(piece.repeat(3_000))
    fc.assert(
      fc.property(hostileText, hostileText, (before, after) => {
        const split = splitStart(`${before} at 1${after}`)
        if (split) expect(`${before} at 1${after}`.startsWith(split.command)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})
