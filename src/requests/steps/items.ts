import type { ItemState } from '../../domain/request/request-item.ts'
import type { Step } from './step.ts'

/**
 * Lists every step of an item of a request with several. The request stays `tracking` until all its items have ended; then `finish` or `fail`
 * ends it. Each step of an item is one compare-and-set of the whole record.
 */
export const itemSteps = {
  'send-item': {
    what: 'The one write of the item is sent',
    from: ['waiting'],
    to: 'starting',
    takers: ['worker'],
    stamps: ['sentAt'],
  },
  'limit-item': {
    what: 'The account API refused the write because of its limit, so it waits for its next turn',
    from: ['starting'],
    to: 'waiting',
    takers: ['worker'],
    clears: ['sentAt'],
    unsends: true,
  },
  'skip-item': {
    what: 'The write is not sent: the account changed, or it is certain to be refused',
    from: ['waiting'],
    to: 'not-started',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'accept-item': {
    what: 'The account API confirmed the write, or shows it under way',
    from: ['starting'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['acceptedAt'],
  },
  'late-item': {
    what: 'It takes longer than expected',
    from: ['starting', 'tracking'],
    to: 'same',
    takers: ['worker'],
    stamps: ['lateAt'],
    mayReport: ['late'],
  },
  'finish-item': {
    what: 'The account shows it as done',
    from: ['starting', 'tracking'],
    to: 'done',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'fail-item': {
    what: 'The account API refused it, or it failed',
    from: ['starting', 'tracking'],
    to: 'failed',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'supersede-item': {
    what: 'Another change overtook it',
    from: ['starting', 'tracking'],
    to: 'superseded',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'not-start-item': {
    what: 'The write had no effect',
    from: ['starting', 'tracking'],
    to: 'not-started',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'restart-item': {
    what: 'It starts after it was reported as not started or failed',
    from: ['not-started', 'failed'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['acceptedAt'],
  },
} as const satisfies Record<string, Step<ItemState>>
