import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { optionsAnswer } from '../../src/bolt/read-interactions.ts'
import { AccountLimitError } from '../../src/domain/errors.ts'
import { notAChoice } from '../../src/slack/interactions.ts'
import { isChoice, keepChoice, noticeOptions, offer, preset } from '../../src/slack/pickers.ts'
import { problemsWithOptions } from '../sandbox/slack/validate-blocks.ts'
import { hostileText } from './hostile-text.ts'

const server = (index: number) => ({
  value: `sv_${index}`,
  text: `web-${index}`,
  description: '198.51.100.7',
  terms: ['storefront', undefined],
})
const servers = Array.from({ length: 250 }, (_, index) => server(index + 1))

describe('the options of a picker', () => {
  test('contain every typed word in their texts, their id or their other terms', () => {
    expect(offer(servers, 'STORE web-250').options.map(({ value }) => value)).toEqual(['sv_250'])
    expect(offer(servers, ' sv_7 ').options[0]?.value).toBe('sv_7')
    expect(offer(servers, '100.7 web-31').options).toHaveLength(1)
  })

  test('are at most 100, under a note that counts all that fit', () => {
    const { options, note } = offer(servers, '')
    expect(options).toHaveLength(100)
    expect(options.every(({ value }) => isChoice(value))).toBe(true)
    expect(note).toBe('First 100 of 250. Type to narrow it down.')
    expect(offer(servers.slice(0, 100), '')).not.toHaveProperty('note')
  })

  test('are a sentence if nothing fits in a list that was not read to its end', () => {
    expect(offer(servers, 'db', { cut: 'size' }).options).toMatchObject([
      {
        value: notAChoice,
        text: { text: 'Incomplete: not all were read.' },
        description: { text: 'Run the command with the id instead of the form.' },
      },
    ])
  })

  test('are empty if nothing fits, so that nobody can choose a sentence', () => {
    expect(offer(servers, 'db').options).toEqual([])
    expect(offer([], '').options).toEqual([])
  })

  test('leave out ids that are too long for Slack', () => {
    const long = { ...server(1), value: 'x'.repeat(80) }
    expect(offer([long, server(2)], '').options.map(({ value }) => value)).toEqual(['sv_2'])
    expect(preset(long)).toBeUndefined()
    expect(preset(server(2))).toMatchObject({ value: 'sv_2' })
  })

  test('stay within every limit of Slack, whatever they are built from', () => {
    const candidate = fc.record({
      value: fc.string({ minLength: 1, maxLength: 90 }),
      text: hostileText,
      description: hostileText,
      terms: fc.array(hostileText, { maxLength: 2 }),
    })
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 130 }), fc.oneof(fc.constant(''), hostileText), (candidates, typed) => {
        expect(problemsWithOptions(optionsAnswer(offer(candidates, typed)))).toEqual([])
      }),
    )
  })
})

describe('a text in place of options', () => {
  test('cannot be chosen, and continues in small print after its first sentence', () => {
    const { options } = noticeOptions('The account API returned an error (503). Try again in a minute.')
    expect(options).toMatchObject([
      {
        value: notAChoice,
        text: { text: 'The account API returned an error (503).' },
        description: { text: 'Try again in a minute.' },
      },
    ])
    expect(keepChoice(options[0])).toBeUndefined()
  })

  test('has no small print if it is one sentence', () => {
    expect(noticeOptions('Nothing is there').options[0]).not.toHaveProperty('description')
  })
})

test.each([
  [undefined, "As of 40\u00a0s ago. The account's limit is over in 20\u00a0s."],
  [16, 'As of 40\u00a0s ago. Your limit is over in 20\u00a0s.'],
])('an earlier list says whose limit it waits for', (share, note) => {
  const because = new AccountLimitError({ operation: 'servers.list', kind: 'read', waitMs: 20_000, perMinute: 60, share, answered: false })
  expect(offer(servers.slice(0, 1), '', { old: { agoMs: 40_000, because } })).toMatchObject({ note })
})
