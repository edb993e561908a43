import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VirtualMachineResponse } from '../../src/account/objects.ts'
import type { Moment } from '../../src/domain/change.ts'
import { observeRename, renameFindings } from '../../src/features/vm-rename.ts'
import { accountOf } from './account.ts'
import { answersOf, patience, runs, virtualMachineWords, type Wire } from './generate.ts'
import { names, shown } from './visible.ts'

const aMachine = answersOf(VirtualMachineResponse, virtualMachineWords) as fc.Arbitrary<Wire>
function nameOf(machine: Wire): string | undefined {
  return shown(machine, 'attributes', 'name')
}

describe('what one read means for a rename', patience, () => {
  const phases: Moment['phase'][] = ['sent', 'accepted']
  const aRename = fc.record({
    id: fc.constant('vm_19o9skue5y1L0'),
    from: fc.constantFrom('search-1', 'search-2', 'SEARCH-2', undefined),
    to: fc.constantFrom('search-1', 'search-2', 'web-1'),
  })

  test('is done only with the new name, ends only with a shown name, and is never superseded while the old name is unknown', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(aRename, aMachine, fc.constantFrom(...phases), fc.boolean(), async (rename, wire, phase, isUnsettled) => {
        fc.pre(rename.from !== rename.to)
        const [machine] = (await accountOf({ virtualMachines: [wire] }).virtualMachines.list()).items
        if (!machine) throw new Error('it was not read')
        const observation = observeRename(rename, machine, { phase, sinceSentMs: 1, early: isUnsettled, isUnsettled })
        seen.add(observation.is)

        const name = nameOf(wire)
        if (observation.is !== 'unclear') expect(name).toBeDefined()
        expect(observation.is === 'done').toBe(isDone(rename, name))
        if (observation.is === 'superseded') {
          expect(rename.from).toBeDefined()
          expect([rename.from, rename.to]).not.toContain(name)
          const { why } = renameFindings.words(renameFindings.schema.parse(observation.cause))
          expect(names(why, name ?? ''), why).toBe(true)
        }
        if (observation.is === 'not-started' || observation.is === 'failed') {
          expect(isUnsettled).toBe(false)
          expect([rename.from ?? name, name]).toEqual([name, name])
        }
      }),
      { numRuns: runs.numRuns * 2 },
    )
    expect(seen).toEqual(new Set(['done', 'superseded', 'not-started', 'failed', 'unclear']))
  })

  /** Compares without regard to case, because the account API may write a hostname in another case. */
  function isDone({ from, to }: { from: string | undefined; to: string }, name: string | undefined): boolean {
    if (name === to) return true
    const fold = (text: string | undefined) => text?.toLowerCase()
    return from !== undefined && name !== from && fold(name) === fold(to) && fold(from) !== fold(to)
  }
})
