import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { moveDifferences, moveWords } from '../../src/moves/move.ts'
import { anElasticIp, aServer, assemble } from './account.ts'
import { patience, runs, type Wire } from './generate.ts'
import { preflight } from './move-outcome.ts'
import { type MoveObjects, names, pairs, type Show, shown } from './visible.ts'

describe('what has changed since the approval of a move', patience, () => {
  const member =
    (wire: Wire, ...path: string[]): Show =>
    (name) =>
      shown(wire, ...path, name)
  const bare = (address: string) => address.replace(/\/\d+$/, '').toLowerCase()

  /** Returns the project of the address, or that of the target if the address shows none. */
  function projectOf({ elasticIp, target }: MoveObjects): Show {
    return (
      [elasticIp, target].map((wire) => member(wire, 'attributes', 'project')).find((show) => show('id') !== undefined) ?? (() => undefined)
    )
  }

  /** Returns the pairs of values of each member that both reads show and that differs, and the server that only the later read shows. */
  function visibleChanges(then: MoveObjects, now: MoveObjects): [string, string][][] {
    const servers = [then, now].map(({ elasticIp }) => member(elasticIp, 'attributes', 'server')) as [Show, Show]
    const shownServer = servers[1]('id') === undefined ? undefined : (servers[1]('hostname') ?? servers[1]('id'))
    const addresses = [then, now].map(({ elasticIp }) => shown(elasticIp, 'attributes', 'address'))
    const projects = [projectOf(then), projectOf(now)] as const
    const slugs = projects.map((show) => show('slug')?.toLowerCase())
    const differ = (shows: readonly [Show, Show]) => pairs(...shows, ['id']).length > 0
    return [
      ...(differ(servers) ? [pairs(...servers, ['hostname', 'id'])] : []),
      ...(servers[0]('id') === undefined && shownServer !== undefined ? [[[shownServer, shownServer] as [string, string]]] : []),
      ...(addresses[0] && addresses[1] && bare(addresses[0]) !== bare(addresses[1])
        ? [[[addresses[0], addresses[1]] as [string, string]]]
        : []),
      ...(differ(projects) && (slugs[0] === undefined || slugs[0] !== slugs[1]) ? [pairs(...projects, ['name', 'slug', 'id'])] : []),
    ]
  }

  const active = anElasticIp.map((wire) => ({ ...wire, attributes: { ...(wire.attributes as Wire), status: 'active' } }))

  test('is reported with both values exactly if both reads show a member and it differs, or if only the later one shows a server', async () => {
    let reported = 0
    await fc.assert(
      fc.asyncProperty(active, active, aServer, fc.option(aServer, { nil: undefined }), async (one, two, target, other) => {
        const then = assemble({ ...one, id: 'eip_KeQbB4BoO6x10' }, target, other)
        const now = assemble({ ...two, id: 'eip_KeQbB4BoO6x10' }, target, other)
        const [approved, latest] = [await preflight(then), await preflight(now)]
        fc.pre('passed' in approved && 'passed' in latest)

        const differences = moveDifferences(approved.passed.facts, latest.passed.facts).map((finding) => moveWords(finding).why)

        const changes = visibleChanges(then, now)
        expect({ differences, changes }).toMatchObject({ differences: changes.map(() => expect.any(String)) })
        for (const pairs of changes) {
          const named = differences.filter((sentence) => pairs.some((pair) => pair.every((value) => names(sentence, value))))
          expect(named, JSON.stringify({ differences, pairs })).not.toEqual([])
        }
        reported += changes.length
      }),
      runs,
    )
    expect(reported).toBeGreaterThan(0)
  })
})
