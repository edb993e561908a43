import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLinkTemplate, isSentence, linkedIn, linkTo, patternProblem, unmetTerms } from '../../src/domain/reason.ts'
import { anyText } from '../any-text.ts'

const link = 'https://tickets.example.com/browse/$0'

describe('a pattern', () => {
  test.each([
    'OPS-\\d+',
    '(?i)\\bops-\\d{1,6}\\b',
    '^(OPS|CHG)-[0-9]+: .+$',
    '(?P<project>[A-Z]{2,10})-(?<number>\\d+)',
    '\\p{Lu}+-\\d+',
    '.',
    'x|\\d',
    '#\\d+',
  ])('can be %s', (pattern) => {
    expect(patternProblem(pattern)).toBeUndefined()
  })

  test.each([
    ['(?=OPS)', 'must be a pattern of RE2, which has no lookaround and no backreferences: invalid or unsupported Perl syntax'],
    ['(?<=OPS-)\\d+', 'must be a pattern of RE2, which has no lookaround and no backreferences: invalid named capture'],
    ['(OPS)-\\1', 'must be a pattern of RE2, which has no lookaround and no backreferences: invalid escape sequence'],
    ['OPS-(\\d+', 'must be a pattern of RE2, which has no lookaround and no backreferences: missing closing )'],
    ['[OPS', 'must be a pattern of RE2, which has no lookaround and no backreferences: missing closing ]'],
    ['(xoxb-203-botbotbot', 'must be a pattern of RE2, which has no lookaround and no backreferences: missing closing )'],
    ['\\d{2000}', 'must be a pattern of RE2, which has no lookaround and no backreferences: invalid repeat count'],
    ['OPS-\\d{1,999}', 'must repeat less: it compiles to 2003 instructions, and at most 500 are allowed'],
    ['(\\w?){200}', 'must repeat less: it compiles to 802 instructions, and at most 500 are allowed'],
    ...['', '(OPS-\\d+)?', '\\d*', '^', '$', '\\b', '\\B', '(?m:^)', '|OPS', '\\b|OPS'].map((pattern) => [
      pattern,
      'must not match an empty text, which every reason contains',
    ]),
  ])('cannot be %s', (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(problem)
  })

  test('never throws, and one that is taken is matched without an error', () => {
    const piece = fc.constantFrom(...'( ) [ ] { } ? * + | ^ $ . \\ \\b \\d \\pL {2} {0,99} (?: (?i) a é 😀 - , 0'.split(' '))
    const likePattern = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.oneof(likePattern, anyText()), anyText(), (pattern, reason) => {
        if (patternProblem(pattern.slice(0, 200)) !== undefined) return
        const [found] = linkedIn([{ rule: 'production', pattern, link }], reason)
        if (found) expect(reason.slice(found.start).startsWith(found.text)).toBe(true)
        if (found) expect(found.text).not.toBe('')
      }),
    )
  })
})

describe('a link', () => {
  test.each([
    link,
    'https://tickets.example.com/?id=$0',
    'https://tickets.example.com/#$0',
    'https://tickets.example.com?q=$0&back=$0',
    'https://tickets.example.com:8443/$0/edit',
    'https://[::1]/$0',
  ])('can be %s', (template) => {
    expect(isLinkTemplate(template)).toBe(true)
  })

  test.each([
    ['another scheme', 'http://tickets.example.com/$0'],
    ['a script', 'javascript:alert($0)'],
    ['no place for the match', 'https://tickets.example.com/'],
    ['a group', 'https://tickets.example.com/$1/$0'],
    ['a group of two digits', 'https://tickets.example.com/$01'],
    ['another dollar', 'https://tickets.example.com/$0/$$'],
    ['the match as the host', 'https://$0/'],
    ['the match in the host', 'https://$0.example.com/'],
    ['the match at the end of the host', 'https://tickets.example.com$0'],
    ['the match in the host, encoded', 'https://%240.example.com/$0'],
    ['the match as the port', 'https://tickets.example.com:$0/'],
    ['the match as the user', 'https://$0@tickets.example.com/'],
    ['a user', 'https://ops@tickets.example.com/$0'],
    ['a password', 'https://:secret@tickets.example.com/$0'],
    ['no host', 'https:///$0'],
    ['another alphabet', 'https://tickеts.example.com/$0'],
    ['a backslash', 'https://tickets.example.com\\$0'],
    ['the end of a link in mrkdwn', 'https://tickets.example.com/$0|OPS>'],
    ['white space', 'https://tickets.example.com/ $0'],
  ])('cannot have %s', (_, template) => {
    expect(isLinkTemplate(template)).toBe(false)
  })

  const piece = fc.constantFrom(...'$0 $ 0 1 / \\ ? # @ : . % %2f %40 443 [ ] & = a evil.example .. ;'.split(' '))
  const template = fc
    .tuple(fc.constantFrom('tickets.example.com', 'a', ''), fc.array(piece, { maxLength: 8 }))
    .map(([host, pieces]) => `https://${host}${pieces.join('')}`)
    .filter(isLinkTemplate)

  test('never leaves the origin of its template, and stays one link, whatever the match is', () => {
    fc.assert(
      fc.property(
        template,
        fc.oneof(
          anyText(),
          fc.array(piece).map((pieces) => pieces.join('')),
        ),
        (made, match) => {
          const url = linkTo(made, match)
          expect(url).toMatch(/^https:\/\/[!-~]+$/)
          expect(url).not.toMatch(/[<>|"`\\]/)
          const { origin, username, password } = new URL(url)
          expect({ origin, username, password }).toEqual({ origin: new URL(made).origin, username: '', password: '' })
        },
      ),
      { numRuns: 500 },
    )
  })
})

test('the first match of each pattern with a link is linked, and nothing that is longer than a reference', () => {
  const terms = [
    { rule: 'production', pattern: 'OPS-\\d+', link },
    { rule: 'moves', pattern: '(?i)chg \\S+', link: 'https://changes.example.com/?id=$0' },
    { rule: 'keys', pattern: 'web' },
    { rule: 'everything else' },
  ]

  expect(linkedIn(terms, '😀 web-1 burns, OPS-7 and OPS-8, CHG ü/&x')).toEqual([
    { start: 16, text: 'OPS-7', url: 'https://tickets.example.com/browse/OPS-7' },
    { start: 33, text: 'CHG ü/&x', url: 'https://changes.example.com/?id=CHG%20%C3%BC%2F%26x' },
  ])
  expect(linkedIn(terms, `OPS-${'1'.repeat(500)}`)).toEqual([])
})

test('a reason meets the terms of a rule if it has what each requires', () => {
  const [any, ops, chg] = [{ rule: 'a' }, { rule: 'b', pattern: 'OPS-\\d+' }, { rule: 'c', pattern: '^CHG' }]

  expect(unmetTerms([any, ops, chg], undefined)).toEqual([any, ops, chg])
  expect(unmetTerms([any, ops, chg], '\u200b')).toEqual([any, ops, chg])
  expect(unmetTerms([any, ops, chg], 'web-1 burns')).toEqual([ops, chg])
  expect(unmetTerms([any, ops, chg], 'CHG and OPS-')).toEqual([ops])
  expect(unmetTerms([any, ops, chg], 'CHG and OPS-1')).toEqual([])
})

test.each([
  ['ok', false],
  ['ok ok ok ok ok', false],
  ['asap asap asap!!', false],
  ['a b c d', false],
  ['. . . . . . . . . . .', false],
  ['emergency', false],
  ['\u200b\u200b\u200bdown\u200b', false],
  ['do it now', false],
  ['db is down', true],
  ['web-1 is down, customers wait', true],
  ['Die Datenbank antwortet nicht', true],
  ['サーバーが停止していて顧客に影響が出ています', true],
])('whether a reason is a sentence: %s', (reason, is) => {
  expect(isSentence(reason)).toBe(is)
})
