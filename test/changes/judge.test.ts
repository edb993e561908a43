import { describe, expect, test } from 'vitest'
import { judgeRequest, watchMs } from '../../src/changes/judge.ts'
import type { Request } from '../../src/domain/request.ts'
import { requestFor } from './request-for-test.ts'

const sentAt = 1_000_000
const lateAfterMs = 900_000

function request(state: Request['state'], more: Partial<Request> = {}): Request {
  return requestFor({ state, revision: 3, createdAt: sentAt - 60_000, expiresAt: sentAt + 60_000, sentAt, ...more })
}

describe('what a verdict changes about a request', () => {
  test('a write without an answer that is seen to take effect is followed', () => {
    expect(judgeRequest(request('starting'), { is: 'underway' }, sentAt + 5_000, lateAfterMs)).toMatchObject({
      name: 'accept',
      to: 'following',
    })
  })

  test('done is told once, with the end of the record', () => {
    expect(judgeRequest(request('following'), { is: 'done' }, sentAt + 5_000, lateAfterMs)).toMatchObject({
      to: 'done',
      stamp: ['endedAt'],
      reports: ['ended'],
    })
  })

  test.each(['starting', 'following'] as const)('nothing is told while it is unclear and not late: %s', (state) => {
    expect(judgeRequest(request(state), { is: 'unclear' }, sentAt + lateAfterMs - 1, lateAfterMs)).toBeUndefined()
  })

  test.each(['starting', 'following'] as const)('late is told once, and ends nothing: %s', (state) => {
    const step = judgeRequest(request(state), { is: 'unclear' }, sentAt + lateAfterMs, lateAfterMs)
    expect(step).toMatchObject({ name: 'late', to: state, reports: ['late'], unmoved: true })
    expect(
      judgeRequest(request(state, { lateAt: sentAt + lateAfterMs }), { is: 'unclear' }, sentAt + lateAfterMs * 2, lateAfterMs),
    ).toBeUndefined()
  })

  test('not started is told, and looked at for a while longer', () => {
    const now = sentAt + 61_000
    const step = judgeRequest(request('starting'), { is: 'not-started', why: 'Still there.' }, now, lateAfterMs)
    expect(step).toMatchObject({
      to: 'not-started',
      reports: ['ended'],
      set: { why: 'Still there.', watchedUntil: now + watchMs },
      dueInMs: 0,
    })
  })

  test('a failure that cannot mend itself is not watched', () => {
    const step = judgeRequest(request('following'), { is: 'failed', why: 'Gone.' }, sentAt + 61_000, lateAfterMs)
    expect(step).toMatchObject({ to: 'failed', set: { why: 'Gone.' } })
    expect(step?.dueInMs).toBeUndefined()
  })

  test('a failure that is seen before anything was confirmed has left something to look at', () => {
    const step = judgeRequest(request('starting'), { is: 'failed', why: 'In status error.' }, sentAt + 5_000, lateAfterMs)
    expect(step).toMatchObject({ to: 'failed', stamp: ['acceptedAt', 'endedAt'], reports: ['ended'] })
  })

  test('a failure that was put right has not', () => {
    const verdict = { is: 'failed', why: 'I deleted it.', corrects: true } as const
    const told = request('not-started', { watchedUntil: sentAt + watchMs })
    expect(judgeRequest(request('starting'), verdict, sentAt + 5_000, lateAfterMs)).toMatchObject({ to: 'failed', stamp: ['endedAt'] })
    expect(judgeRequest(told, verdict, sentAt + 90_000, lateAfterMs)).toMatchObject({ name: 'end-again', stamp: ['endedAt'] })
  })

  test('a failure keeps the time at which it was accepted', () => {
    const step = judgeRequest(request('following'), { is: 'failed', why: 'In status error.' }, sentAt + 5_000, lateAfterMs)
    expect(step).toMatchObject({ to: 'failed', stamp: ['endedAt'] })
  })

  test('what was told as not started and starts late is corrected', () => {
    const told = request('not-started', { watchedUntil: sentAt + watchMs })
    expect(judgeRequest(told, { is: 'underway' }, sentAt + 90_000, lateAfterMs)).toMatchObject({
      name: 'restart',
      to: 'following',
      stamp: ['acceptedAt'],
      reports: ['restarted'],
    })
    expect(judgeRequest(told, { is: 'done' }, sentAt + 90_000, lateAfterMs)).toMatchObject({
      name: 'end-again',
      to: 'done',
      reports: ['ended-again'],
    })
    expect(judgeRequest(told, { is: 'not-started', why: '' }, sentAt + 90_000, lateAfterMs)).toBeUndefined()
  })

  test('a correction that ends is told as a correction, and watched no more', () => {
    const restarted = request('following', { watchedUntil: sentAt + watchMs })
    const step = judgeRequest(restarted, { is: 'failed', why: 'Back again.', mayStillHappen: true }, sentAt + 120_000, lateAfterMs)
    expect(step).toMatchObject({ name: 'end-again', to: 'failed', reports: ['ended-again'] })
    expect(step?.dueInMs).toBeUndefined()
  })
})
