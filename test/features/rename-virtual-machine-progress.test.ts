import { describe, expect, test } from 'vitest'
import type { Moment } from '../../src/domain/change.ts'
import { judgeRename } from '../../src/features/rename-virtual-machine/progress.ts'

const rename = { id: 'vm_1zHfNurvp25kg', from: 'web-1', to: 'web-eu-1' }
const early: Moment = { phase: 'sent', sinceSentMs: 1_000, early: true }
const later: Moment = { phase: 'sent', sinceSentMs: 60_000, early: false }
const accepted: Moment = { ...later, phase: 'accepted' }

describe('what a look at the virtual machine means for a rename', () => {
  test.each([
    ['the new name', 'web-eu-1', early, 'done'],
    ['the new name in other letters, as the account API may write it', 'WEB-EU-1', early, 'done'],
    ['the old name, soon after the write', 'web-1', early, 'unclear'],
    ['the old name, long after a write without an answer', 'web-1', later, 'not-started'],
    ['the old name, long after it was accepted', 'web-1', accepted, 'failed'],
    ['a third name', 'web-us-1', early, 'superseded'],
    ['no name', undefined, later, 'unclear'],
  ] as const)('%s', (_, name, moment, verdict) => {
    expect(judgeRename(rename, { name }, moment).is).toBe(verdict)
  })

  test('that it is gone', () => {
    expect(judgeRename(rename, 'gone', early)).toEqual({ is: 'failed', why: 'web-1 no longer exists on the account.' })
  })

  test('letters alone: the old name is not taken for the new one', () => {
    const letters = { ...rename, to: 'WEB-1' }
    expect(judgeRename(letters, { name: 'web-1' }, later).is).toBe('not-started')
    expect(judgeRename(letters, { name: 'WEB-1' }, later).is).toBe('done')
  })

  test('nobody is blamed while the old name is not known', () => {
    expect(judgeRename({ ...rename, from: undefined }, { name: 'web-us-1' }, later)).toEqual({
      is: 'not-started',
      why: 'It is still called web-us-1: the rename did not take effect and nothing was changed.',
    })
  })

  test('what was accepted and still has its old name may change it yet', () => {
    expect(judgeRename(rename, { name: 'web-1' }, accepted)).toEqual({
      is: 'failed',
      why: 'The account API accepted the new name, but it is still called web-1.',
      mayStillHappen: true,
    })
  })
})
