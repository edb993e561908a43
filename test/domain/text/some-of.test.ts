import { expect, test } from 'vitest'
import { someOf } from '../../../src/domain/text.ts'
import { mrkdwn, someTexts } from '../../../src/slack/text.ts'

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c'], 'a, b and 1 more'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('the first two of %j are named, and the others counted', (texts, expected) => {
  expect(someOf(texts, { most: 2 })).toBe(expected)
  expect(
    someTexts(
      texts.map((text) => mrkdwn`${text}`),
      2,
    ).text,
  ).toBe(expected)
})
