import { describe, expect, test } from 'vitest'
import { endsProblem } from '../../../src/domain/policy.ts'
import { endFields, enteredEnd, readEnd, readNewEnd, splitEnd, usualEnd } from '../../../src/features/keys/end-fields.ts'
import { writeMetadata } from '../../../src/slack/payloads.ts'
import { fakeApp } from '../../fake-app.ts'
import { judging } from '../../given/access.ts'
import { ruleFor } from '../../given/request.ts'

const now = Date.parse('2026-11-28T10:00:00Z')
const [hour, day] = [3_600_000, 24 * 3_600_000]
const origin = { userId: 'U0ADA00001', channelId: 'C0OPS00001', command: '/infra' }

const app = (defaultMs?: number) =>
  fakeApp(
    {
      store: { now: async () => now },
      directory: { zone: async () => 'Europe/Lisbon' },
      config: { signsWithApiKey: false },
    },
    judging({ rules: [ruleFor({ changes: ['any.kind'], ends: { required: true, defaultMs } })] }),
  )
const read = (typed: string) => readNewEnd(app(), typed, origin.userId)
const entered = async (ends: string, date = '') => {
  const end = enteredEnd({ ends, date })
  return end === undefined ? undefined : read(end)
}
const at = (time: string) => Date.parse(time)

test.each(['never', '30d'])('a date beside %s is asked back', async (ends) => {
  await expect(entered(ends, 'in 35 days')).rejects.toThrow('Choose “On a date”, or leave the date empty.')
})

test('a time after a label is the end, and a label may contain for', () => {
  const split = (text: string, bare = false) => splitEnd(text.split(' '), { bare })
  expect(split('ci-deploy for 30d')).toEqual({ args: ['ci-deploy'], end: '30d' })
  expect(split('ci deploy for 30 days')).toEqual({ args: ['ci', 'deploy'], end: '30 days' })
  expect(split('ci-deploy until tomorrow 06:00')).toEqual({ args: ['ci-deploy'], end: 'tomorrow 06:00' })
  expect(split('token for ci')).toEqual({ args: ['token', 'for', 'ci'] })
  expect(splitEnd(['token for 30d'])).toEqual({ args: ['token for 30d'] })
  expect([split('for 30d'), split('in 30 days', true)]).toEqual([{ args: ['for', '30d'] }, { args: ['in', '30', 'days'] }])
  for (const time of ['in 90 days', 'until in 90 days'])
    expect(split(`ci-deploy ${time}`, true)).toEqual({ args: ['ci-deploy'], end: 'in 90 days' })
  expect([split('ci-deploy 30d', true), split('ci-deploy 30 days', true)]).toEqual([
    { args: ['ci-deploy'], end: '30d' },
    { args: ['ci-deploy'], end: '30 days' },
  ])
  expect(split('ci-deploy 30d')).toEqual({ args: ['ci-deploy', '30d'] })
  const either = (text: string) => splitEnd(text.split(' '), { bare: true, first: true })
  expect(either('30 days ci-deploy')).toEqual({ args: ['ci-deploy'], end: '30 days' })
  expect(either('30d 60d')).toEqual({ args: ['30d'], end: '60d' })
  expect(either('30d')).toEqual({ args: ['30d'] })
})

test('an end is so long after the creation, a date to its end in the zone of the person, a time, or never', async () => {
  expect(await entered('30d')).toEqual({ afterMs: 30 * day })
  expect(await entered('date', '2026-12-24')).toBe(at('2026-12-24T23:59Z'))
  expect(await entered('date', '2027-06-24 18:00')).toBe(at('2027-06-24T17:00Z'))
  expect(await entered('date', '05.06.2027')).toBe(at('2027-06-05T22:59Z'))
  expect([await read('Dec 24'), await read('Dec 24 18:00')]).toEqual(['2026-12-24T23:59Z', '2026-12-24T18:00Z'].map(at))
  expect(await entered('date', 'in 45 days')).toEqual({ afterMs: 45 * day })
  expect(await entered('never')).toBeUndefined()
  expect([await read('1m'), await read('2026-12-24')]).toEqual([{ afterMs: 60_000 }, at('2026-12-24T23:59Z')])
  expect([usualEnd(app(30 * day), 'any.kind', origin.channelId), usualEnd(app(), 'any.kind', origin.channelId)]).toEqual([
    { afterMs: 30 * day },
    undefined,
  ])
})

test('a later end counts from the present one, and a date and “in” are what they are elsewhere', async () => {
  const later = (typed: string) => readEnd(app(), typed, origin.userId, at('2026-12-01T10:00Z'))
  expect([await later('30d'), await later('in 9 days'), await later('2026-12-24')]).toEqual(
    ['2026-12-31T10:00Z', '2026-12-07T10:00Z', '2026-12-24T23:59Z'].map(at),
  )
})

test.each([
  ['date', '', /^Not requested: write the date/],
  ['date', 'soon', /isn't an end that Lockkeeper can read\. Write days, such as 30d, or a date, such as 2026-12-24 18:00\.$/],
  ['date', '10y', /^Not requested: `10y` isn't an end that Lockkeeper can read\. (?!.*years)/],
  ['date', '2026-11-01', /is past/],
  ['date', '05/06/2027', /^Not requested: `05\/06\/2027` can be two dates\. Write the year first, such as `2026-12-24`\.$/],
  ['date', 'in 20s', /after one minute at the earliest/],
  ['date', 'in 9999 days', /within 10 years/],
])('an end is refused in words: %s %s', async (ends, date, words) => {
  await expect(entered(ends, date)).rejects.toThrow(words)
})

describe('the form', () => {
  /** The options, with the chosen one in brackets. */
  const shown = (
    ends?: { required: boolean; longestMs?: number; defaultMs?: number; noEnds?: boolean },
    before?: string,
    isExtension = false,
  ) => {
    const { element } = endFields({ isExtension }).ends
    const made = element('a', before, writeMetadata({ origin, ends })) as unknown as {
      options: { value: string }[]
      initial_option: { value: string }
    }
    return made.options.map(({ value }) => (value === made.initial_option.value ? `[${value}]` : value)).join(' ')
  }

  test('offers what the rule allows, with its usual end', () => {
    expect(shown()).toBe('1d 7d [30d] 90d date never')
    expect(shown({ required: false, noEnds: true })).toBe('1d 7d 30d 90d date [never]')
    expect(shown({ required: true })).toBe('1d 7d [30d] 90d date')
    expect(shown({ required: true, longestMs: 8 * day })).toBe('1d [7d] date')
    expect(shown({ required: true, longestMs: 30 * day, defaultMs: 14 * day })).toBe('1d 7d [14d] 30d date')
    expect(shown({ required: true, longestMs: hour })).toBe('[date]')
    expect(shown({ required: false, defaultMs: 30 * day })).toBe('1d 7d [30d] 90d date never')
    expect(shown(undefined, '7d')).toBe('1d [7d] 30d 90d date never')
    expect(shown(undefined, 'never')).toBe('1d 7d 30d 90d date [never]')
    expect(shown(undefined, undefined, true)).toBe('1d 7d [30d] 90d date')
  })
})

test('a rule judges the end by the time of the request', () => {
  const judge = (ends: Parameters<typeof endsProblem>[0]['ends'], endsAt?: number | { afterMs: number }) =>
    endsProblem({ ends }, { endsAt }, now)
  expect([judge(undefined), judge({ required: false, defaultMs: day }), judge({ required: true })]).toEqual([
    undefined,
    undefined,
    'end-required',
  ])
  const longest = { required: true, longestMs: 30 * day }
  expect([judge(longest, now + 30 * day), judge(longest, now + 31 * day), judge(undefined, now + 3_000 * day)]).toEqual([
    undefined,
    'end-too-late',
    undefined,
  ])
  expect([judge(longest, { afterMs: 30 * day }), judge(longest, { afterMs: 31 * day })]).toEqual([undefined, 'end-too-late'])
})

test('an end that the account did not show is refused by a rule about ends, and by no other', () => {
  const judge = (ends: Parameters<typeof endsProblem>[0]['ends']) => endsProblem({ ends }, 'unread', now)
  expect([judge({ required: true }), judge({ required: false, longestMs: day })]).toEqual(['end-unread', 'end-unread'])
  expect([judge({ required: false, defaultMs: day }), judge(undefined)]).toEqual([undefined, undefined])
})
