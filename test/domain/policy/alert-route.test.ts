import { describe, expect, test } from 'vitest'
import { type AlertRoute, routeFor, serverNamed, targetIn } from '../../../src/domain/policy.ts'

function route(match: Record<string, string>, more: Partial<AlertRoute> = {}): AlertRoute {
  return { name: 'node down', match: new Map(Object.entries(match)), server: 'instance', to: 'standby', channelId: 'C0OPS00001', ...more }
}

describe('the route of an alert', () => {
  const critical = route({ alertname: 'NodeDown', severity: 'critical' })
  const any = route({ alertname: 'NodeDown' })

  test('is the first whose labels the alert has with the same values', () => {
    const labels = { alertname: 'NodeDown', severity: 'critical', instance: 'web-1:9100' }

    expect(routeFor([critical, any], labels)).toBe(critical)
    expect(routeFor([any, critical], labels)).toBe(any)
    expect(routeFor([critical, any], { ...labels, severity: 'warning' })).toBe(any)
  })

  test.each([
    ['a missing label', {}],
    ['a longer value', { alertname: 'NodeDownAgain' }],
    ['another case', { alertname: 'nodedown' }],
    ['white space', { alertname: 'NodeDown ' }],
    ['a pattern', { alertname: '.*' }],
    ['the label by another case', { Alertname: 'NodeDown' }],
  ])('is missing with %s', (_, labels: Record<string, string>) => {
    expect(routeFor([critical, any], labels)).toBeUndefined()
  })

  test('never goes by what every object inherits', () => {
    const strange = route({ constructor: 'x', __proto__: 'y' }, { server: 'toString' })

    expect(routeFor([strange], {})).toBeUndefined()
    expect(serverNamed(strange, {})).toBeUndefined()
    expect(routeFor([strange], JSON.parse('{"constructor":"x","__proto__":"y"}'))).toBe(strange)
  })

  test('says which label names the server', () => {
    expect(serverNamed(any, { instance: 'web-1:9100' })).toBe('web-1:9100')
    expect(serverNamed(any, { host: 'web-1' })).toBeUndefined()
  })
})

describe('the target of a route', () => {
  const bySite = route(
    {},
    {
      to: new Map([
        ['ash', 'standby-ash'],
        ['fra', 'standby-fra'],
      ]),
    },
  )

  test('is that of the site, by its slug in any case', () => {
    expect(targetIn(bySite, { slug: 'ASH' })).toBe('standby-ash')
    expect(targetIn(bySite, { slug: 'fra' })).toBe('standby-fra')
  })

  test('is missing for other sites, and for a site without a slug', () => {
    expect(targetIn(bySite, { slug: 'SAO' })).toBeUndefined()
    expect(targetIn(bySite, {})).toBeUndefined()
    expect(targetIn(bySite, undefined)).toBeUndefined()
    expect(targetIn(bySite, { slug: 'constructor' })).toBeUndefined()
  })

  test('is the same for every site if there is one', () => {
    expect(targetIn(route({}), { slug: 'SAO' })).toBe('standby')
    expect(targetIn(route({}), undefined)).toBe('standby')
  })
})
