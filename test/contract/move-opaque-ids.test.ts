import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documentedMoveObjects, moveObjects } from './account.ts'
import { patience, runs, type Wire } from './generate.ts'
import { preflight, summaryOf } from './move-outcome.ts'
import type { MoveObjects } from './visible.ts'

/** Replaces the values at these places. Equal values stay equal, and different values stay different. */
function renamed(wire: Wire | undefined, places: string[][]): Wire | undefined {
  return wire && places.reduce((before, place) => replaceAt(before, place), wire)
}

function replaceAt(wire: Wire, [member = '', ...rest]: string[]): Wire {
  const value = wire[member]
  if (typeof value === 'string' && value !== '' && rest.length === 0) return { ...wire, [member]: `~${value}` }
  if (typeof value === 'object' && value !== null && rest.length > 0) return { ...wire, [member]: replaceAt(value as Wire, rest) }
  return wire
}

describe('opaque ids and names', patience, () => {
  const location = ['id', 'name'].map((member) => ['attributes', 'region', 'location', member])
  const site = ['id', 'name'].map((member) => ['attributes', 'region', 'site', member])
  const onServer = [['attributes', 'server', 'id']]

  test.each<[string, (objects: MoveObjects) => MoveObjects]>([
    [
      'the ids and names of all sites, as Elastic IPs show them',
      (objects) => ({ ...objects, elasticIp: renamed(objects.elasticIp, location) as Wire }),
    ],
    [
      'the ids and names of all sites, as servers show them',
      (objects) => ({ ...objects, target: renamed(objects.target, site) as Wire, assigned: renamed(objects.assigned, site) }),
    ],
    [
      'the ids of all servers',
      (objects) => ({
        elasticIp: renamed(objects.elasticIp, onServer) as Wire,
        target: renamed(objects.target, [['id']]) as Wire,
        assigned: renamed(objects.assigned, [['id']]),
      }),
    ],
    [
      'the ids of all Elastic IPs, behind the mark of those that BGP announces',
      ({ elasticIp, ...objects }) => ({ ...objects, elasticIp: { ...elasticIp, id: String(elasticIp.id).replace(/^(ueip_)?/, '$1~') } }),
    ],
  ])('may be others: %s', async (_, rename) => {
    const compare = async (objects: MoveObjects) => {
      const other = rename(objects)
      const [before, after] = [await preflight(objects), await preflight(other)]
      expect('refused' in after).toBe('refused' in before)
      expect(summaryOf(other, after)).toEqual(summaryOf(objects, before))
      if ('passed' in before && 'passed' in after) {
        expect(after.passed.unchecked).toHaveLength(before.passed.unchecked.length)
        expect(after.passed.facts.site).toBe(before.passed.facts.site)
      }
    }
    for (const objects of documentedMoveObjects(2)) await compare(objects)
    await fc.assert(fc.asyncProperty(moveObjects, compare), runs)
  })
})
