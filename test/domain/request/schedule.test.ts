import { expect, test } from 'vitest'
import { bySchedule, couldStartAt, holdOf, type Request, type Waits } from '../../../src/domain/request.ts'
import { requestFor } from '../../given/request.ts'

const startNow = { by: 'U0BEN00001', rule: 'R', via: 'R', at: 30 }
const approved = (more: Partial<Request> = {}) => requestFor({ state: 'approved', decidedAt: 10, ...more })
const held = (waits: Waits, more: Partial<Request> = {}) => approved({ waits, ...more })

test.each<[string, Request, number | undefined]>([
  ['at once', approved(), 10],
  ['at its start', held({ for: 'start', until: 50 }, { start: 50 }), 50],
  ['when its window opens after its start', held({ for: 'window', until: 70 }, { start: 50 }), 70],
  ['when an approver let it', approved({ start: 50, startNow }), 30],
  ['when the freeze ends', held({ for: 'freeze', until: 60 }), 60],
  ['when somebody lifted the freeze, which nobody noted', held({ for: 'freeze' }), undefined],
  ['at its approval, although it waits for a turn', held({ for: 'writes', until: 90 }), 10],
  ['never without an approval', requestFor(), undefined],
])('a request could start %s', (_, request, at) => {
  expect(couldStartAt(request)).toBe(at)
})

test('the next to start comes first, and what has no known end last, in the order of the approvals', () => {
  const all = [
    held({ for: 'freeze' }, { id: 'later', decidedAt: 20 }),
    held({ for: 'freeze' }, { id: 'sooner' }),
    held({ for: 'window', until: 70 }, { id: 'window' }),
    approved({ start: 50, id: 'unnoted' }),
  ]
  expect(all.toSorted(bySchedule).map(({ id }) => id)).toEqual(['unnoted', 'window', 'sooner', 'later'])
})

test('nothing holds what was let start, waits for the account, or is not approved', () => {
  const free = [approved(), approved({ start: 50, startNow }), held({ for: 'account' }), requestFor({ start: 50 })]
  expect(free.map(holdOf)).toEqual([undefined, undefined, undefined, undefined])
})
