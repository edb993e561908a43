import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { reasonBlocks, reasonElements } from '../../src/slack/blocks.ts'
import { problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'
import { hostileText } from './hostile-text.ts'

const link = 'https://tickets.example.com/browse/$0'
const terms = ['OPS-\\d+', '\\S{1,30}', '(?s:.{20})'].map((pattern) => ({ rule: 'production', pattern, link }))

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

  test('has links for what its rule links, and an address with a match in it is text', () => {
    const links = (reason: string) =>
      reasonElements(reason, [{ rule: 'production', pattern: 'OPS-\\d+', link }]).map((element) =>
        element.type === 'link' ? [element.text, element.url] : element.text,
      )
    const linked = (id: string) => [id, `https://tickets.example.com/browse/${id}`]

    expect(links('OPS-1')).toEqual([linked('OPS-1')])
    expect(links('\u200bO\u200bPS-1:\n web-1 burns, like OPS-2, see https://a.example/x.')).toEqual([
      linked('OPS-1'),
      ': web-1 burns, like OPS-2, see ',
      [undefined, 'https://a.example/x'],
      '.',
    ])
    expect(links('https://evil.example/OPS-1?x, https://a.example/OPS-2')).toEqual([
      'https://evil.example/',
      linked('OPS-1'),
      '?x, ',
      [undefined, 'https://a.example/OPS-2'],
    ])
  })

  test('is shown whole, on one line, in blocks that Slack takes', () => {
    fc.assert(
      fc.property(hostileText, (reason) => {
        const blocks = reasonBlocks('Reason', reason, terms)
        expect(problemsWithBlocks(blocks)).toEqual([])
        expect(shown(reason).flat().join('')).not.toMatch(/[\n\u202e]/)
      }),
    )
  })
})
