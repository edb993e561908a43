import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documentedMoveObjects, moveObjects } from './move-objects.ts'
import { check, expectVisible, preflight, sortOf } from './move-outcome.ts'
import { patience, runs } from './runs.ts'
import { reasonsThatCanBeSeen, shown } from './visible.ts'

describe('the preflight check of a move', patience, () => {
  test('refuses documented objects exactly where a person sees why', async () => {
    const all = documentedMoveObjects()
    expect(all.length).toBeGreaterThan(1_000)
    for (const objects of all) {
      expectVisible(objects, await preflight(objects))
      expectVisible(objects, await check(objects))
    }
  })

  test('passes every documented Elastic IP that is active, to some documented server', async () => {
    const passed = new Set<unknown>()
    const all = documentedMoveObjects(1)
    for (const objects of all) if ('passed' in (await preflight(objects))) passed.add(objects.elasticIp)
    const active = all.filter(({ elasticIp }) => (shown(elasticIp, 'attributes', 'status') ?? 'active') === 'active')
    expect(passed).toEqual(new Set(active.map(({ elasticIp }) => elasticIp)))
  })

  test('refuses generated objects exactly where a person sees why', async () => {
    await fc.assert(
      fc.asyncProperty(moveObjects, async (objects) => {
        expectVisible(objects, await preflight(objects))
        expectVisible(objects, await check(objects))
      }),
      runs,
    )
  })

  test('comes to every end that there is, so that the property above says something', async () => {
    const ends = new Map<string, number>()
    for (const objects of fc.sample(moveObjects, { numRuns: 1_000, seed: 1 })) {
      const key = JSON.stringify(sortOf(objects, await preflight(objects)))
      ends.set(key, (ends.get(key) ?? 0) + 1)
    }
    const often = [...ends].filter(([, count]) => count >= 2).map(([key]) => key)
    expect(often).toEqual(
      expect.arrayContaining([
        '["not active"]',
        '["on it already"]',
        '["another project"]',
        '["another site"]',
        '{"passed":[]}',
        '{"passed":["status"]}',
        '{"passed":["server"]}',
        '{"passed":["project"]}',
        '{"passed":["site"]}',
      ]),
    )
  })

  test('refuses nothing because the account API does not answer', async () => {
    const away = fc.constantFrom<string[]>(['/elastic_ips'], ['/servers'], ['/elastic_ips', '/servers'])
    await fc.assert(
      fc.asyncProperty(moveObjects, away, async (objects, silent) => {
        const outcome = await preflight(objects, silent)
        const visible = silent.includes('/elastic_ips')
          ? []
          : reasonsThatCanBeSeen({ ...objects, assigned: undefined }).filter(({ is }) => is === 'not active')

        if ('refused' in outcome) expect(visible).not.toEqual([])
        else
          expect(outcome.passed).toMatchObject({
            incomplete: true,
            unchecked: expect.arrayContaining([expect.objectContaining({ code: expect.stringMatching(/-unread$/) })]),
          })
      }),
      runs,
    )
  })

  test('does not depend on the server that the address is on being readable', async () => {
    await fc.assert(
      fc.asyncProperty(moveObjects, async (objects) => {
        const on = shown(objects.elasticIp, 'attributes', 'server', 'id')
        fc.pre(on !== undefined && on !== objects.target.id)
        expectVisible({ ...objects, assigned: undefined }, await preflight(objects, [`/servers/${on}`]))
      }),
      runs,
    )
  })
})
