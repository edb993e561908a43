import type { Underway } from '../domain/request.ts'
import type { Sighting, Verdict } from '../domain/verdict.ts'
import type { Transition } from './store.ts'

/** What was told as not started (or as failed, where it may still happen) is looked at for this long, and corrected if it starts late. */
export const watchMs = 15 * 60_000

/**
 * What a verdict changes about a request: the step to take, or nothing. Pure. `dueInMs: 0` in a step means that it is to be looked
 * at again at its usual pace.
 */
export function judgeRequest(request: Underway, verdict: Verdict, now: number, lateAfterMs: number): Transition | undefined {
  const toldAlready = request.state !== 'starting' && request.state !== 'following'
  if (toldAlready) return judgeTold(request, verdict)
  const again = request.watchedUntil !== undefined

  switch (verdict.is) {
    case 'done':
      return end(request, 'done', again)
    case 'superseded':
      return end(request, 'superseded', again, verdict)
    case 'failed':
      return judgeFailed(request, verdict, now)
    case 'not-started':
      return end(request, 'not-started', again, verdict, now)
    case 'underway':
      if (request.state === 'starting') {
        return { name: 'accept', from: ['starting'], to: 'following', stamp: ['acceptedAt'], dueInMs: 0 }
      }
      return judgeLate(request, verdict.seen, now, lateAfterMs)
    case 'unclear':
      return judgeLate(request, verdict.seen, now, lateAfterMs)
  }
}

/** What failed before it was seen to begin has begun all the same, and left something to look at, unless that was put right. */
function judgeFailed(request: Underway, verdict: Extract<Verdict, { is: 'failed' }>, now: number): Transition {
  const step = end(request, 'failed', request.watchedUntil !== undefined, verdict, verdict.mayStillHappen ? now : undefined)
  return request.state === 'starting' && !verdict.corrects ? { ...step, stamp: ['acceptedAt', 'endedAt'] } : step
}

function judgeLate(request: Underway, seen: Sighting | undefined, now: number, lateAfterMs: number): Transition | undefined {
  if (request.lateAt !== undefined || now - (request.sentAt ?? request.createdAt) < lateAfterMs) return undefined
  // Two may look at the same moment, and it is told once.
  const set = seen === undefined ? {} : { lastSeen: seen }
  return { name: 'late', from: [request.state], to: request.state, set, stamp: ['lateAt'], reports: ['late'], unmoved: true, dueInMs: 0 }
}

/** Something that was told as not started or failed shows signs of life. */
function judgeTold(request: Underway, verdict: Verdict): Transition | undefined {
  if (verdict.is === 'underway') {
    return { name: 'restart', from: [request.state], to: 'following', stamp: ['acceptedAt'], reports: ['restarted'], dueInMs: 0 }
  }
  if (verdict.is === 'done') {
    return { name: 'end-again', from: [request.state], to: 'done', stamp: ['endedAt'], reports: ['ended-again'] }
  }
  if (verdict.is === 'failed' && verdict.corrects) return end(request, 'failed', true, verdict)
  return undefined
}

function end(
  request: Underway,
  to: 'done' | 'failed' | 'not-started' | 'superseded',
  again: boolean,
  { why, next }: { why?: string; next?: string } = {},
  watchFrom?: number,
): Transition {
  const watch = watchFrom !== undefined && !again
  return {
    name: again ? 'end-again' : 'end',
    from: [request.state],
    to,
    set: {
      ...(why === undefined ? {} : { why }),
      ...(next === undefined ? {} : { next }),
      ...(watch ? { watchedUntil: watchFrom + watchMs } : {}),
    },
    stamp: ['endedAt'],
    reports: [again ? 'ended-again' : 'ended'],
    ...(watch ? { dueInMs: 0 } : {}),
  }
}
