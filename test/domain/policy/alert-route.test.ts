import { expect, test } from 'vitest'
import { type AlertRoute, routeFor, serverNamed, targetIn } from '../../../src/domain/policy.ts'

function route(match: Record<string, string>, more: Partial<AlertRoute> = {}): AlertRoute {
  return { name: 'node down', match: new Map(Object.entries(match)), server: 'instance', to: 'standby', channelId: 'C0OPS00001', ...more }
}

const critical = route({ alertname: 'NodeDown', severity: 'critical' })
const any = route({ alertname: 'NodeDown' })

test('the route of an alert is the first whose labels the alert has with the same values, and says which label names the server', () => {
  const labels = { alertname: 'NodeDown', severity: 'critical', instance: 'web-1:9100' }

  expect(routeFor([critical, any], labels)).toBe(critical)
  expect(routeFor([any, critical], labels)).toBe(any)
  expect(routeFor([critical, any], { ...labels, severity: 'warning' })).toBe(any)
  expect(serverNamed(any, labels)).toBe('web-1:9100')
  expect(serverNamed(any, { host: 'web-1' })).toBeUndefined()
})

test.each<Record<string, string>>([
  {},
  { alertname: 'NodeDownAgain' },
  { alertname: 'nodedown' },
  { alertname: 'NodeDown ' },
  { alertname: '.*' },
  { Alertname: 'NodeDown' },
])('no route is for other labels: %j', (labels) => {
  expect(routeFor([critical, any], labels)).toBeUndefined()
})

test('a route never goes by what every object inherits', () => {
  const strange = route({ constructor: 'x', __proto__: 'y' }, { server: 'toString' })

  expect(routeFor([strange], {})).toBeUndefined()
  expect(serverNamed(strange, {})).toBeUndefined()
  expect(routeFor([strange], JSON.parse('{"constructor":"x","__proto__":"y"}'))).toBe(strange)
})

test('the target of a route is that of the site, by its slug in any case, or the same for every site', () => {
  const bySite = route({}, { to: new Map(Object.entries({ ash: 'standby-ash', fra: 'standby-fra' })) })
  const sites = [{ slug: 'ASH' }, { slug: 'fra' }, { slug: 'SAO' }, {}, undefined, { slug: 'constructor' }]

  expect(sites.map((site) => targetIn(bySite, site))).toEqual(['standby-ash', 'standby-fra', ...Array(4).fill(undefined)])
  expect(sites.map((site) => targetIn(route({}), site))).toEqual(Array(6).fill('standby'))
})
