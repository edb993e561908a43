import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRefusalLog } from '../../src/slack/http-receiver.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function setUp() {
  const lines: string[] = []
  return { lines, refusals: createRefusalLog({ warn: (line: string) => void lines.push(line) }) }
}

test('the first refused request is logged at once, those that follow once a minute with their numbers', () => {
  const { lines, refusals } = setUp()

  refusals.note('wrong signature')
  for (let count = 0; count < 300; count += 1) refusals.note(count % 3 === 0 ? 'no signature' : 'wrong signature')
  expect(lines).toEqual(['Refused 1 request to the public port: wrong signature (1).'])
  vi.advanceTimersByTime(60_000)

  expect(lines.slice(1)).toEqual(['Refused 300 requests to the public port: no signature (100), wrong signature (200).'])
})

test('after a quiet minute the next one is logged at once again', () => {
  const { lines, refusals } = setUp()

  refusals.note('too large')
  vi.advanceTimersByTime(60_000)
  refusals.note('time stamp off')

  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatchInlineSnapshot(`"Refused 1 request to the public port: time stamp off (1)."`)
})

test('what was not logged yet is logged at the end', () => {
  const { lines, refusals } = setUp()

  refusals.note('no signature')
  refusals.note('no signature')
  refusals.flush()
  refusals.flush()

  expect(lines).toHaveLength(2)
})
