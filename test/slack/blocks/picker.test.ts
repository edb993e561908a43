import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isChoice, keepChoice, noticeOptions, offer, preset } from '../../../src/slack/blocks/picker.ts'
import { notAChoice } from '../../../src/slack/commands/handlers.ts'
import { problemsWithOptions } from '../../sandbox/slack/validate-blocks.ts'
import { hostileText } from '../text/hostile-text.ts'

const things = { many: 'servers' }
const server = (index: number) => ({
  value: `sv_${index}`,
  text: `web-${index}`,
  description: '198.51.100.7',
  terms: ['storefront', undefined],
})
const servers = Array.from({ length: 250 }, (_, index) => server(index + 1))

describe('the options of a picker', () => {
  test('contain every typed word in their texts, their id or their other terms', () => {
    expect(offer(servers, 'STORE web-250', things).options.map(({ value }) => value)).toEqual(['sv_250'])
    expect(offer(servers, ' sv_7 ', things).options[0]?.value).toBe('sv_7')
    expect(offer(servers, '100.7 web-31', things).options).toHaveLength(1)
  })

  test('are sorted by the numbers in their texts', () => {
    const shuffled = [server(10), server(2), server(1)]
    expect(offer(shuffled, '', things).options.map(({ text }) => text.text)).toEqual(['web-1', 'web-2', 'web-10'])
  })

  test('are at most 100, of which the last says how many more fit', () => {
    const { options } = offer(servers, '', things)
    expect(options).toHaveLength(100)
    expect(options.at(-1)).toMatchObject({ value: notAChoice, text: { text: '151 more match: type more to narrow it down' } })
    expect(offer(servers.slice(0, 100), '', things).options.every(({ value }) => isChoice(value))).toBe(true)
  })

  test('count what the account API sent and the list lacks', () => {
    const { options } = offer([server(1)], '', { ...things, missing: { unreadable: 2, unready: 1 } })
    expect(options.map(({ text }) => text.text)).toEqual(['web-1', "3 more can't be offered here"])
  })

  test('are empty if nothing fits, so that nobody can choose a sentence', () => {
    expect(offer(servers, 'db', things).options).toEqual([])
    expect(offer([], '', things).options).toEqual([])
  })

  test('leave out ids that are too long for Slack, and count them', () => {
    const long = { ...server(1), value: 'x'.repeat(80) }
    const { options } = offer([long, server(2)], '', things)
    expect(options.map(({ value, text }) => [value, text.text])).toEqual([
      ['sv_2', 'web-2'],
      [notAChoice, "1 more can't be offered here"],
    ])
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
        expect(problemsWithOptions(offer(candidates, typed, things))).toEqual([])
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
