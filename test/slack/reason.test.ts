import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { reasonBlocks, reasonElements } from '../../src/slack/blocks.ts'
import { problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'
import { hostileText } from './hostile-text.ts'

const shown = (reason: string) => reasonElements(reason).map((element) => (element.type === 'link' ? [element.url] : element.text))

describe('a reason', () => {
  test('has links for web addresses, without the punctuation around them', () => {
    expect(shown('OPS-123 (https://tickets.example/OPS-123), and http://a.example/b_(c)?d=1&e=<f>.')).toEqual([
      'OPS-123 (',
      ['https://tickets.example/OPS-123'],
      '), and ',
      ['http://a.example/b_(c)?d=1&e='],
      '<f>.',
    ])
    expect(shown('see “https://a.example/x”!')).toEqual(['see “', ['https://a.example/x'], '”!'])
  })

  test.each([
    ['another scheme', 'javascript:alert(1) slack://open ftp://a.example mailto:a@b.example'],
    ['a name that looks like a host', 'https://slack.com@evil.example/'],
    ['letters of other scripts', 'https://аpple.example/'],
    ['no host', 'http:// https://.'],
    ['an address within a word', 'nothttps://a.example'],
  ])('is text where an address has %s', (_, reason) => {
    expect(shown(reason)).toEqual([reason])
  })

  test('has nothing in it that is markup', () => {
    const reason = '*Approved* by <@U0BEN00001> <https://evil.example|https://good.example> :white_check_mark: `x` &amp;'

    expect(shown(reason)).toEqual([
      '*Approved* by <@U0BEN00001> <',
      ['https://evil.example'],
      '|',
      ['https://good.example'],
      '> :white_check_mark: `x` &amp;',
    ])
  })

  test('is shown whole, on one line, in blocks that Slack takes', () => {
    fc.assert(
      fc.property(hostileText, (reason) => {
        const blocks = reasonBlocks('Reason', reason)
        expect(problemsWithBlocks(blocks)).toEqual([])
        expect(shown(reason).flat().join('')).not.toMatch(/[\n\u202e]/)
      }),
    )
  })
})
