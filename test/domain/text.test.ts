import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countMistakes,
  formatDuration,
  hostnameProblem,
  moment,
  parseDuration,
  person,
  phrase,
  phraseText,
  sameName,
  someOf,
  suggestNames,
  typedName,
} from '../../src/domain/text.ts'
import { mrkdwn, phraseWords, someTexts } from '../../src/slack/text.ts'

describe('a hostname', () => {
  const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
  test.each(['web-1', 'a', '7', 'Web-EU-1', 'xn--mnchen-3ya', '3com.example', longest, '1.2.3.example'])('can be %s', (text) => {
    expect(hostnameProblem(text)).toBeUndefined()
  })

  test('cannot be anything else, and the reason is shown', () => {
    const broken = ['', 'web_1', 'münchen', 'web\u200b1', '-web', 'web-.example', 'web..eu', '203.0.113.10', 'a.'.repeat(127)]
    expect(broken.map(hostnameProblem)).toMatchInlineSnapshot(`
      [
        "The new name is empty.",
        "A hostname has only letters (a–z, A–Z), digits, hyphens and dots.",
        "A hostname has only letters (a–z, A–Z), digits, hyphens and dots.",
        "A hostname has only letters (a–z, A–Z), digits, hyphens and dots.",
        "Each part of a hostname has 1 to 63 characters, and begins and ends with a letter or digit.",
        "Each part of a hostname has 1 to 63 characters, and begins and ends with a letter or digit.",
        "Each part of a hostname has 1 to 63 characters, and begins and ends with a letter or digit.",
        "A hostname can't look like an IP address.",
        "A hostname has at most 253 characters. This one has 254.",
      ]
    `)
  })
})

describe('a duration', () => {
  test('in the configuration is its number times its unit', () => {
    const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
    const unit = fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[]))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999 }), unit, (amount, unit) => {
        expect(parseDuration(`${amount}${unit}`)).toBe(amount * units[unit])
      }),
    )
  })

  test.each(['', '5', 's', '0s', '-5s', '1.5h', '5 s', '5S', '1h30m', '5s\u0000', '٥s', '9999999999ms'])('is not %j', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })

  test.each([
    [0, '0 s'],
    [-5, '0 s'],
    [43_400, '43 s'],
    [59_600, '1 min'],
    [125_000, '2 min 05 s'],
    [3_599_700, '1 h'],
    [4_320_000, '1 h 12 min'],
    [86_390_000, '1 d'],
    [273_600_000, '3 d 4 h'],
  ])('of %i ms is shown as %s, without a place to break a line between a number and its unit', (ms, text) => {
    expect(formatDuration(ms)).toBe(text.replaceAll(/(\d) /g, '$1\u00a0'))
  })
})

describe('what was probably meant', () => {
  const keys = ['terraform', 'grafana read', 'laptop of ada', 'laptop of ben', 'laptop 10 of chiara', 'laptop 9 of chiara', 'terraform']

  test.each([
    ['terra', ['terraform']],
    ['LAPTOP OF', ['laptop of ada', 'laptop of ben']],
    ['laptop', ['laptop 9 of chiara', 'laptop 10 of chiara', 'laptop of ada']],
    ['ada', ['laptop of ada']],
    ['TERRAFROM', ['terraform']],
    ['weather', []],
    [' ', []],
  ])('is a name with a word that begins with what was typed, or a similar one: %j', (typed, names) => {
    expect(suggestNames(keys, typed)).toEqual(names)
  })

  test('is compared by the first 100 letters, because the comparison takes time with the square of the length', () => {
    expect(countMistakes('x'.repeat(1_000_000), 'name')).toBe(100)
  })
})

test.each([
  ['web-1', 'WEB-1', true],
  ['web-1', '*web\u20111*', true],
  ['web\u200b-1', 'web-1', true],
  ['_old_', 'old', true],
  ['laptop\u00a0of ada', 'laptop of ada', true],
  ['テスト１', 'テスト1', true],
  ['my_key', 'mykey', false],
  ['*web*-1', 'web-1', false],
  ['', '\u200b', false],
])('the names %j and %j can be meant by one another: %s', (name, typed, same) => {
  expect([sameName(name, typed), sameName(typed, name)]).toEqual([same, same])
})

test('a name that people entered loses what pasting adds, and nothing else', () => {
  const entered = ['`web-1.`', ' ｗｅｂ－１ ', '“deploy bot”', 'テスト１', 'a_b', '']
  expect(entered.map(typedName)).toEqual(['web-1', 'web-1', 'deploy bot', 'テスト１', 'a_b', ''])
})

// A pattern that backtracks would take hours here, and the test would not end in its time.
test('a name is read, however it is nested', () => {
  for (const piece of ['*', '`', '“', '.', ',', '*_', '“”', '. ']) expect(typedName(piece.repeat(1_500)).length).toBeLessThanOrEqual(3_000)
})

describe('a phrase', () => {
  const move = phrase`Move ${'203.0.113.10'}: ${'web-1'} → ${'*web* 2'} for ${person('U0ADA00001')} (${4} h)`

  test('shows names as text, addresses as code and people as mentions in a message, and names in quotation marks in plain text if they have spaces', () => {
    expect(phraseWords(move).text).toBe('Move `203.0.113.10`: web-1 → `*web* 2` for <@U0ADA00001> (4 h)')
    expect(phraseText(move)).toBe('Move 203.0.113.10: web-1 → “*web* 2” for U0ADA00001 (4 h)')
    expect(phraseWords(phrase`Last: ${phrase`Rename ${'a'}`}.`).text).toBe('Last: Rename a.')
  })

  test('has no name that passes for a part of the sentence', () => {
    expect(phraseText(phrase`Move ${'a: b → c'}: ${'“d”'} → ${'e'}`)).toBe('Move “a: b → c”: “"d"” → e')
    expect(phraseWords(phrase`Rename ${'<!channel>'} → ${'a`b'}`).text).toBe('Rename `&lt;!channel&gt;` → `a’b`')
  })

  test('has a time in the time zone of the reader, and in UTC in plain text', () => {
    const until = phrase`until ${moment(Date.UTC(2026, 11, 1, 9, 30))}`
    expect(phraseWords(until).text).toBe('until <!date^1796117400^{time} {date_short_pretty}|2026-12-01 09:30 UTC>')
    expect(phraseText(until)).toBe('until 2026-12-01 09:30 UTC')
    expect(phraseText(phrase`until ${moment(Number.MAX_VALUE)}`)).toBe('until an unknown time')
  })
})

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('the first two of %j are named, and the others counted', (texts, expected) => {
  const words = texts.map((text) => mrkdwn`${text}`)
  expect([someOf(texts, { most: 2 }), someTexts(words, 2).text]).toEqual([expected, expected])
})
