import { expect, test } from 'vitest'
import { person, phrase, phraseText } from '../../../src/domain/text/phrase.ts'
import { phraseWords } from '../../../src/slack/text/phrase-words.ts'

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

test('a phrase can be part of another one', () => {
  expect(phraseWords(phrase`Last: ${phrase`Rename ${'a'}`}.`).text).toBe('Last: Rename `a`.')
})
