import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VirtualMachineResponse } from '../../src/account/objects.ts'
import type { Moment, Preflight } from '../../src/domain/change.ts'
import { UserError } from '../../src/domain/errors.ts'
import { observeRename, type RenameFacts, renameChange, renameFindings } from '../../src/features/vm-rename.ts'
import { offerThings } from '../../src/kit/thing.ts'
import { virtualMachines as things } from '../../src/kit/things.ts'
import { optionsAnswer } from '../../src/slack/read-interactions.ts'
import { fakeApp } from '../fake-app.ts'
import { problemsWithOptions } from '../sandbox/slack/validate-blocks.ts'
import { accountOf } from './account.ts'
import { virtualMachines } from './documented.ts'
import { answersOf, patience, runs, virtualMachineWords, type Wire } from './generate.ts'
import { names, pairs, type Show, shown } from './visible.ts'

const aMachine = answersOf(VirtualMachineResponse, virtualMachineWords) as fc.Arbitrary<Wire>
const documented = virtualMachines.map(({ wire }) => wire as Wire)
/** New names. Some machines already have the names that begin with `search`. */
const aName = fc.constantFrom('search-1', 'search-2', 'SEARCH-2', 'search-9', 'web-1')

async function preflight(
  machine: Wire,
  name: string,
  unavailable: string[] = [],
): Promise<{ refused: string } | { passed: Preflight<RenameFacts> }> {
  const change = renameChange(fakeApp({ account: accountOf({ virtualMachines: [machine], unavailable }) }))
  try {
    return { passed: await change.preflight({ virtualMachineId: String(machine.id), name }, {}) }
  } catch (error) {
    if (error instanceof UserError) return { refused: error.message }
    throw error
  }
}

function nameOf(machine: Wire): string | undefined {
  return shown(machine, 'attributes', 'name')
}

describe('the preflight check of a rename', patience, () => {
  const check = async (machine: Wire, name: string) => {
    const outcome = await preflight(machine, name)

    expect('refused' in outcome).toBe(nameOf(machine) === name)
    if ('refused' in outcome) {
      expect(names(outcome.refused, name)).toBe(true)
      return
    }
    const { facts, unchecked, incomplete } = outcome.passed
    expect({ oldName: facts.oldName, unchecked: unchecked.length, incomplete }).toEqual({
      oldName: nameOf(machine),
      unchecked: nameOf(machine) === undefined ? 1 : 0,
      incomplete: false,
    })
  }

  test('refuses the current name, and lists a missing name', async () => {
    for (const machine of documented) for (const name of ['search-2', 'search-3', 'search-9']) await check(machine, name)
    await fc.assert(fc.asyncProperty(aMachine, aName, check), runs)
  })

  test('refuses nothing if the account API does not answer', async () => {
    await fc.assert(
      fc.asyncProperty(aMachine, aName, async (machine, name) => {
        expect(await preflight(machine, name, ['/virtual_machines'])).toMatchObject({ passed: { incomplete: true } })
      }),
      { numRuns: Math.ceil(runs.numRuns / 10) },
    )
  })
})

describe('what has changed since the approval of a rename', patience, () => {
  test('is reported with both values exactly if both reads show a member and it differs', async () => {
    let reported = 0
    await fc.assert(
      fc.asyncProperty(aMachine, aMachine, async (one, two) => {
        const [then, now] = [one, { ...two, id: one.id }]
        const [approved, latest] = [await preflight(then, 'web-1'), await preflight(now, 'web-1')]
        if (!('passed' in approved && 'passed' in latest)) throw new Error('no machine is called web-1')

        const { differences: differencesOf, explain } = renameChange(fakeApp({}))
        const differences = differencesOf(approved.passed.facts, latest.passed.facts).map((finding) => explain(finding)?.why ?? '')

        const projects = [then, now].map(
          (machine): Show =>
            (member) =>
              shown(machine, 'attributes', 'project', member),
        ) as [Show, Show]
        const slugs = projects.map((show) => show('slug')?.toLowerCase())
        const [before, today] = [nameOf(then), nameOf(now)]
        const changes = [
          ...(before && today && before !== today ? [[[before, today] as [string, string]]] : []),
          ...(pairs(...projects, ['id']).length > 0 && (slugs[0] === undefined || slugs[0] !== slugs[1])
            ? [pairs(...projects, ['name', 'slug', 'id'])]
            : []),
        ]
        expect({ differences, changes }).toMatchObject({ differences: changes.map(() => expect.any(String)) })
        for (const change of changes) {
          const named = differences.filter((sentence) => change.some((pair) => pair.every((value) => names(sentence, value))))
          expect(named, JSON.stringify({ differences, change })).not.toEqual([])
        }
        reported += changes.length
      }),
      runs,
    )
    expect(reported).toBeGreaterThan(0)
  })
})

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
        const [machine] = await accountOf({ virtualMachines: [wire] }).virtualMachines.list()
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

describe('the picker of virtual machines', patience, () => {
  test('offers all virtual machines within the limits of Slack', async () => {
    const check = async (all: Wire[]) => {
      const lists = { virtualMachines: () => accountOf({ virtualMachines: all }).virtualMachines.list() }
      const choices = await offerThings(fakeApp({ lists }), things, '')
      expect(problemsWithOptions(optionsAnswer(choices))).toEqual([])
      const offered = all.filter(({ id }) => String(id).length <= 74).length
      expect(choices.options).toHaveLength(offered)
      expect(choices.note !== undefined).toBe(offered > 0 && offered < all.length)
    }
    for (const machine of documented) await check([machine])
    await fc.assert(fc.asyncProperty(fc.uniqueArray(aMachine, { selector: ({ id }) => id, maxLength: 6 }), check), runs)
  })
})
