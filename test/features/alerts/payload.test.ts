import { describe, expect, test } from 'vitest'
import { mostAlerts, readPayload, routeFor } from '../../../src/features/alerts/payload.ts'
import { alert, delivery } from '../../journeys/alerts-world.ts'

const read = (payload: unknown) => readPayload(JSON.stringify(payload))
const alertsOf = (alerts: unknown[], more = {}) => {
  const payload = read(delivery(alerts, more))
  return payload.is === 'read' ? payload.alerts : []
}

describe('a payload', () => {
  test('needs no version, and says how many alerts were left out', () => {
    expect(read({ alerts: [alert()] })).toMatchObject({ is: 'read', truncated: 0 })
    expect(read(delivery([alert()], { truncatedAlerts: 7 }))).toMatchObject({ truncated: 7 })
    expect(read(delivery([alert()], { truncatedAlerts: null }))).toMatchObject({ truncated: 0 })
  })

  test('keeps the other alerts if one cannot be read', () => {
    const payload = read(delivery([null, 'x', { status: 'pending', labels: {} }, alert()]))

    expect(payload).toMatchObject({ is: 'read', unreadable: 3, alerts: [{ isFiring: true }] })
  })

  test.each(['', 'null', '[]', '"x"', '{"alerts":{}}', '{"alerts":'])('is unreadable as %.20s', (body) => {
    expect(readPayload(body)).toEqual({ is: 'unreadable' })
  })

  test('with too many alerts is not read', () => {
    expect(read({ alerts: Array.from({ length: mostAlerts }, () => alert()) })).toMatchObject({ is: 'read' })
    expect(read({ alerts: Array.from({ length: mostAlerts + 1 }, () => alert()) })).toEqual({ is: 'too-many' })
  })
})

describe('an alert', () => {
  test('without a status of its own has that of its group', () => {
    const { status: _, ...bare } = alert()

    expect(alertsOf([bare, { ...alert({ instance: 'web-2' }), status: 'firing' }], { status: 'resolved' })).toMatchObject([
      { isFiring: false },
      { isFiring: true },
    ])
    expect(read({ alerts: [bare] })).toMatchObject({ unreadable: 1 })
  })

  test.each([
    ['2026-11-22T03:00:00.123456789Z', 1_795_316_400_123],
    ['2026-11-22T04:00:00.123+01:00', 1_795_316_400_123],
    ['0001-01-01T00:00:00Z', 0],
    ['yesterday', 0],
    [null, 0],
    [undefined, 0],
  ])('that began %s has the start %i', (startsAt, at) => {
    expect(alertsOf([{ ...alert(), startsAt }])).toMatchObject([{ startsAt: at }])
  })

  test('keeps no start and no address that fill Redis', () => {
    const long = `https://g.example/${'x'.repeat(100_000)}`

    const [one] = alertsOf([alert({}, { startsAt: long, generatorURL: long })])

    expect(one).toMatchObject({ startsAt: 0, link: undefined })
  })

  test('is the same with another start, and without a fingerprint by its labels in any order', () => {
    const keys = alertsOf([
      alert(),
      alert({}, { startsAt: '2027-01-01T00:00:00Z' }),
      { ...alert(), fingerprint: undefined },
      { ...alert(), fingerprint: '', labels: Object.fromEntries(Object.entries(alert().labels).toReversed()) },
      { ...alert(), fingerprint: 7, annotations: {} },
      { ...alert({ job: 'ping' }), fingerprint: undefined },
    ]).map(({ key }) => key)

    expect(keys[1]).toBe(keys[0])
    expect([new Set(keys.slice(2, 5)).size, new Set(keys.slice(2)).size]).toEqual([1, 2])
  })

  test('loses labels that are no texts, and what every object inherits', () => {
    const [read] = alertsOf([
      JSON.parse('{"status":"firing","labels":{"a":1,"b":null,"c":["x"],"d":"x","__proto__":{"instance":"web-1"}}}'),
    ])

    expect([...(read?.labels ?? [])]).toEqual([['d', 'x']])
  })
})

test('the route of an alert is the first whose labels the alert has with the same values', () => {
  const route = (match: Record<string, string>) => ({
    name: 'node down',
    match: new Map(Object.entries(match)),
    server: 'instance',
    to: 'standby',
    channelId: 'C0OPS00001',
  })
  const [critical, any] = [route({ alertname: 'NodeDown', severity: 'critical' }), route({ alertname: 'NodeDown' })]
  const find = (labels: Record<string, string>) => routeFor([critical, any], new Map(Object.entries(labels)))

  expect(find({ alertname: 'NodeDown', severity: 'critical', instance: 'web-1:9100' })).toBe(critical)
  expect(find({ alertname: 'NodeDown', severity: 'warning' })).toBe(any)
  for (const name of ['NodeDownAgain', 'nodedown', 'NodeDown ', '.*']) expect(find({ alertname: name })).toBeUndefined()
  expect(find({ Alertname: 'NodeDown' })).toBeUndefined()
})
