import { expect, onTestFinished, test, vi } from 'vitest'
import { ApiError } from '../../src/domain/errors.ts'
import { onApiError } from '../../src/outbox/operators.ts'
import { fakeApp, noticing } from '../fake-app.ts'

test('operators are notified of a rejected key when a call fails, once a minute', () => {
  vi.useFakeTimers()
  const codes: string[] = []
  onTestFinished(() => void vi.useRealTimers())
  const app = fakeApp(noticing(codes))
  const reject = () => onApiError(app, new ApiError({ operation: 'elasticIps.list', status: 401, codes: [] }))

  reject()
  vi.advanceTimersByTime(30_000)
  reject()
  expect(codes).toEqual(['account-api-error', 'api-key-rejected'])

  vi.advanceTimersByTime(40_000)
  reject()
  expect(codes).toEqual(['account-api-error', 'api-key-rejected', 'account-api-error', 'api-key-rejected'])
})
