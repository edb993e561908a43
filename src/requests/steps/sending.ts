import type { Step } from './step.ts'

/** The steps of an approved request until the account API has accepted its write. */
export const sendingSteps = {
  void: {
    what: 'The account changed since the request',
    from: ['approved'],
    to: 'voided',
    takers: ['requester', 'worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  drop: {
    what: 'It was not sent: too late, certain to be refused, or nobody allowed what the record says now',
    from: ['approved'],
    to: 'not-started',
    takers: ['requester', 'worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  'wait-for-account': {
    what: 'The account could not be read right before the write',
    from: ['approved'],
    to: 'same',
    takers: ['worker'],
    stamps: ['unreadAt'],
    ifUnchanged: true,
  },
  send: {
    what: 'The one write is sent',
    from: ['approved'],
    to: 'starting',
    takers: ['worker'],
    stamps: ['sentAt'],
    mayReport: ['remark'],
  },
  issue: {
    what: 'The requester presses the button, and the one write is sent',
    from: ['approved'],
    to: 'starting',
    takers: ['requester'],
    stamps: ['sentAt'],
    beforeDeadline: true,
  },
  begin: {
    what: 'The writes of the items are sent, a few at a time',
    from: ['approved'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['sentAt', 'acceptedAt'],
    mayReport: ['remark'],
  },
  accept: {
    what: 'The account API confirmed the write, or shows it under way',
    from: ['starting'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['acceptedAt'],
  },
} as const satisfies Record<string, Step>
