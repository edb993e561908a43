import { expect, onTestFinished, test, vi } from 'vitest'
import { createRefusalLog } from '../../src/slack/http-receiver.ts'

test('the first refused request is logged at once, those that follow once a minute and at the end, with their numbers', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lines: string[] = []
  const refusals = createRefusalLog({ warn: (line: string) => void lines.push(line) })

  refusals.note('wrong signature')
  for (let count = 0; count < 300; count += 1) refusals.note(count % 3 === 0 ? 'no signature' : 'wrong signature')
  expect(lines).toEqual(['Refused 1 request to the public port: wrong signature (1).'])
  vi.advanceTimersByTime(60_000)
  expect(lines.slice(1)).toEqual(['Refused 300 requests to the public port: no signature (100), wrong signature (200).'])
  vi.advanceTimersByTime(60_000)
  for (const reason of ['time stamp off', 'too large']) refusals.note(reason)
  expect(lines.slice(2)).toEqual(['Refused 1 request to the public port: time stamp off (1).'])
  for (const _ of [1, 2]) refusals.flush()
  expect(lines.slice(3)).toEqual(['Refused 1 request to the public port: too large (1).'])
})
