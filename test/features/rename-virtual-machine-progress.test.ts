import { describe, expect, test } from 'vitest'
import type { Moment } from '../../src/domain/change.ts'
import { observeRename } from '../../src/features/vm-rename.ts'

const rename = { id: 'vm_1zHfNurvp25kg', from: 'web-1', to: 'web-eu-1' }
const early: Moment = { phase: 'sent', sinceSentMs: 1_000, early: true, isUnsettled: true }
const later: Moment = { phase: 'sent', sinceSentMs: 900_000, early: false, isUnsettled: false }
const accepted: Moment = { ...later, phase: 'accepted' }

describe('what a read of the virtual machine means for a rename', () => {
  test.each([
    ['the new name', 'web-eu-1', early, 'done'],
    ['the new name in another case, as the account API may write it', 'WEB-EU-1', early, 'done'],
    ['the old name, soon after the write', 'web-1', early, 'unclear'],
    ['the old name, long after a write without an answer', 'web-1', later, 'not-started'],
    ['the old name, long after it was accepted', 'web-1', accepted, 'failed'],
    ['a third name', 'web-us-1', early, 'superseded'],
    ['no name', undefined, later, 'unclear'],
  ] as const)('%s', (_, name, moment, is) => {
    expect(observeRename(rename, { name }, moment).is).toBe(is)
  })

  test('a missing virtual machine means failed', () => {
    expect(observeRename(rename, 'gone', early)).toEqual({ is: 'failed', cause: { code: 'virtual-machine-gone', name: 'web-1' } })
  })

  test('a rename that changes only the case is done with the new case', () => {
    const letters = { ...rename, to: 'WEB-1' }
    expect(observeRename(letters, { name: 'web-1' }, later).is).toBe('not-started')
    expect(observeRename(letters, { name: 'WEB-1' }, later).is).toBe('done')
  })

  test('another name does not mean superseded while the old name is unknown', () => {
    expect(observeRename({ ...rename, from: undefined }, { name: 'web-us-1' }, later)).toEqual({
      is: 'not-started',
      cause: { code: 'still-called', now: 'web-us-1' },
    })
  })

  test('an accepted rename that shows the old name after 15 minutes failed', () => {
    expect(observeRename(rename, { name: 'web-1' }, accepted)).toEqual({
      is: 'failed',
      cause: { code: 'accepted-without-effect', now: 'web-1' },
    })
  })
})
