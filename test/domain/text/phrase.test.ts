import { expect, test } from 'vitest'
import { moment, person, phrase, phraseText } from '../../../src/domain/text.ts'
import { phraseWords } from '../../../src/slack/text.ts'

const move = phrase`Move ${'203.0.113.10'}: ${'web-1'} → ${'*web* 2'} for ${person('U0ADA00001')} (${4} h)`

test('a phrase shows names as code and people as mentions in a message', () => {
  expect(phraseWords(move).text).toBe('Move `203.0.113.10`: `web-1` → `*web* 2` for <@U0ADA00001> (4 h)')
})

test('a phrase shows names as they are in plain text, in quotation marks if they have spaces', () => {
  expect(phraseText(move)).toBe('Move 203.0.113.10: web-1 → “*web* 2” for U0ADA00001 (4 h)')
})

test('a name cannot pass for a part of the sentence', () => {
  expect(phraseText(phrase`Move ${'a: b → c'}: ${'“d”'} → ${'e'}`)).toBe('Move “a: b → c”: “"d"” → e')
  expect(phraseWords(phrase`Rename ${'<!channel>'} → ${'a`b'}`).text).toBe('Rename `&lt;!channel&gt;` → `a’b`')
})

test('a time in a phrase is in the time zone of the reader, and in UTC in plain text', () => {
  const until = phrase`until ${moment(Date.UTC(2026, 11, 1, 9, 30))}`

  expect(phraseWords(until).text).toBe('until <!date^1796117400^{time} {date_short_pretty}|2026-12-01 09:30 UTC>')
  expect(phraseText(until)).toBe('until 2026-12-01 09:30 UTC')
  expect(phraseText(phrase`until ${moment(Number.MAX_VALUE)}`)).toBe('until an unknown time')
})

test('a phrase can be part of another one', () => {
  expect(phraseWords(phrase`Last: ${phrase`Rename ${'a'}`}.`).text).toBe('Last: Rename `a`.')
})
