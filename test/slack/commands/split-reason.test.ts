import { describe, expect, test } from 'vitest'
import { splitReason } from '../../../src/slack/typed-words.ts'

describe('the reason of a command', () => {
  test.each([
    ['ip move 203.0.113.10 web-2 because OPS-123', 'ip move 203.0.113.10 web-2', 'OPS-123'],
    ['ip move 203.0.113.10 web-2 because: the disk is full', 'ip move 203.0.113.10 web-2', 'the disk is full'],
    ['ip move 203.0.113.10 web-2, BECAUSE  it failed', 'ip move 203.0.113.10 web-2', 'it failed'],
    ["vm rename web-1 web-2 because it's Ada's", 'vm rename web-1 web-2', "it's Ada's"],
    ['vm rename web-1 web-2 because “the old name is wrong”', 'vm rename web-1 web-2', 'the old name is wrong'],
    ['keys create ci because it failed because of me', 'keys create ci', 'it failed because of me'],
    ['keys create because CI needs one', 'keys create', 'CI needs one'],
    ['ip move because', 'ip move', ''],
  ])('is what follows the first because: %s', (text, command, reason) => {
    expect(splitReason(text)).toEqual({ command, reason })
  })

  test.each(['ip move 203.0.113.10 web-2', 'keys create "because we can"', 'keys create `because`', 'keys create because-ci', ''])(
    'is not a because in a name: %s',
    (text) => {
      expect(splitReason(text)).toBeUndefined()
    },
  )

  test('has links and characters as they were typed, and names in place of mentions, which would notify people', () => {
    const text =
      'ip list because <https://example.com/OPS-1?a=1&amp;b=2> on <http://web-2.example.com|web-2.example.com>: <@U0BEN00001|ben>, <@U0CHI00001>, <!subteam^S0ONCALL01|@oncall>, <#C0OPS00001|ops>, <!here> &lt;3'

    expect(splitReason(text)?.reason).toBe(
      'https://example.com/OPS-1?a=1&b=2 on web-2.example.com: @ben, @U0CHI00001, @oncall, #ops, @here <3',
    )
  })
})
