import { expect, onTestFinished, test, vi } from 'vitest'
import { ApiError } from '../../src/domain/errors.ts'
import { createRepeatedLines } from '../../src/ops/log.ts'
import { onApiError } from '../../src/outbox/operators.ts'
import { fakeApp, noticing } from '../fake-app.ts'

test('operators are notified of a rejected key when a call fails, once a minute', () => {
  vi.useFakeTimers()
  const notices: string[] = []
  const lines: string[] = []
  const log = (_: unknown, text: string) => void lines.push(text)
  const repeated = createRepeatedLines({ info: log, warn: log, error: log })
  onTestFinished(() => void vi.useRealTimers())
  const app = fakeApp({ ...noticing(notices), lines: repeated })
  const reject = () => onApiError(app, new ApiError({ operation: 'elasticIps.list', status: 401, codes: [] }))

  reject()
  vi.advanceTimersByTime(30_000)
  reject()
  expect(lines).toEqual(['A call to the account API failed'])
  expect(notices).toEqual(['api-key-rejected'])

  vi.advanceTimersByTime(40_000)
  reject()
  expect(lines).toHaveLength(2)
  expect(notices).toEqual(['api-key-rejected', 'api-key-rejected'])
})
