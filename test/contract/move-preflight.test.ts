import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documentedMoveObjects, moveObjects } from './account.ts'
import { patience, runs } from './generate.ts'
import { expectVisible, preflight, summaryOf } from './move-outcome.ts'
import { isBgpOnWire, shown, visibleReasons } from './visible.ts'

describe('the preflight check of a move', patience, () => {
  test('refuses documented objects exactly if a reason is visible, and each active Elastic IP passes with some server', async () => {
    const passed = new Set<unknown>()
    const all = documentedMoveObjects()
    for (const objects of all) {
      const outcome = await preflight(objects)
      expectVisible(objects, outcome)
      if ('passed' in outcome) passed.add(objects.elasticIp)
    }
    const active = all.filter(
      ({ elasticIp }) => (shown(elasticIp, 'attributes', 'status') ?? 'active') === 'active' && !isBgpOnWire(elasticIp),
    )
    expect(passed.size).toBeGreaterThan(2)
    expect(passed).toEqual(new Set(active.map(({ elasticIp }) => elasticIp)))
  })

  test('refuses generated objects exactly if a reason is visible', async () => {
    await fc.assert(
      fc.asyncProperty(moveObjects, async (objects) => expectVisible(objects, await preflight(objects))),
      runs,
    )
  })

  test('has every result at least twice, so that the property above covers all of them', async () => {
    const results = new Map<string, number>()
    for (const objects of fc.sample(moveObjects, { numRuns: 1_000, seed: 1 })) {
      const key = JSON.stringify(summaryOf(objects, await preflight(objects)))
      results.set(key, (results.get(key) ?? 0) + 1)
    }
    const often = [...results].filter(([, count]) => count >= 2).map(([key]) => key)
    expect(often).toEqual(
      expect.arrayContaining([
        '["bgp"]',
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

  test('refuses nothing if the account API does not answer, except for what is known without it', async () => {
    const anyUnavailable = fc.constantFrom<string[]>(['/elastic_ips'], ['/servers'], ['/elastic_ips', '/servers'])
    await fc.assert(
      fc.asyncProperty(moveObjects, anyUnavailable, async (objects, unavailable) => {
        const outcome = await preflight(objects, unavailable)
        // The id alone shows that BGP announces an address.
        const seen = unavailable.includes('/elastic_ips') ? { ...objects, elasticIp: { id: objects.elasticIp.id } } : objects
        const visible = visibleReasons({ ...seen, assigned: undefined }).filter(({ is }) => is === 'bgp' || is === 'not active')

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

  test('does not need the server that the address is on', async () => {
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
