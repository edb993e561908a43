import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readPayload, reasonOf, sourceOf } from '../../../src/features/alerts/payload.ts'
import { alertWords } from '../../../src/messages/request-words.ts'
import type { WireAlert } from '../../journeys/alerts-world.ts'
import { arrange, down, route, server } from './scene.ts'

const folder = new URL('./payloads/', import.meta.url)

function read(file: string) {
  const reading = readPayload(readFileSync(new URL(file, folder), 'utf8'))
  if (reading.is !== 'read') throw new Error(`${file} is ${reading.is}`)
  return reading
}

test('every alert that Alertmanager and Grafana send is read, with what fires and what resolved, whichever version sent it', () => {
  const files = ['alertmanager', 'grafana', 'published'].flatMap((sender) =>
    readdirSync(new URL(sender, folder)).map((name) => `${sender}/${name}`),
  )

  const all = files.map((file) => ({ file, ...read(file) }))

  expect(all.map(({ unreadable, truncated }) => unreadable + truncated)).toEqual(files.map(() => 0))
  expect(
    all.map(
      ({ file, alerts }) =>
        `${file}: ${alerts.map(({ isFiring, labels }) => `${isFiring ? '+' : '-'}${labels.get('alertname')} ${labels.get('instance')}`)}`,
    ),
  ).toMatchInlineSnapshot(`
    [
      "alertmanager/firing-and-resolved.json: +NodeDown web-1:9100,-NodeDown web-2:9100,+NodeDown web-3:9100",
      "alertmanager/firing.json: +NodeDown web-1:9100",
      "alertmanager/resolved.json: -NodeDown web-1:9100,-NodeDown web-3:9100",
      "grafana/firing.json: +NodeDown web-1:9100",
      "grafana/resolved.json: -NodeDown web-1:9100,-NodeDown web-3:9100",
      "grafana/test-button.json: +TestAlert Grafana",
      "published/error.json: +DatasourceError undefined,+DatasourceError undefined,+DatasourceError undefined",
      "published/image.json: +NodeDown undefined",
      "published/no-data.json: +DatasourceNoData undefined",
      "published/resolved.json: -NodeDown 10.108.0.2:9100",
    ]
  `)
})

/** Returns the alerts of a file as they were sent. */
const sentIn = (file: string): WireAlert[] => JSON.parse(readFileSync(new URL(file, folder), 'utf8')).alerts

describe('what Grafana really sent', () => {
  const source = server('web-1', { primaryIpv4: '10.108.0.2' })

  test('is proposed for the server whose address it names, and ends with its resolved alert', async () => {
    const { take, submitted, resolvedRequests } = arrange({ servers: [server('standby'), source] })
    const ended = sentIn('published/resolved.json')

    await take(ended.map((each) => ({ ...each, status: 'firing', endsAt: '0001-01-01T00:00:00Z' })))
    await take(ended)

    expect(submitted).toMatchObject([{ input: { serverId: 'sv_web-1' }, reason: 'Node down', alert: { name: 'NodeDown' } }])
    expect(resolvedRequests).toHaveLength(1)
  })

  test.each([
    ['without the label of the server', 'image', 'The alert has no label `instance`, which names the server.'],
    [
      'about a rule without data',
      'no-data',
      "Grafana got no result for the rule “Node down”, so it doesn't know whether a server is down.",
    ],
    [
      'about a rule that cannot be evaluated',
      'error',
      "Grafana got no result for the rule `web_1_down`, so it doesn't know whether a server is down.",
    ],
  ])('%s is posted once, and proposes nothing', async (_, file, words) => {
    const folderOf = { image: 'device', 'no-data': 'GrafanaCloud', error: 'nodes' }[file] ?? ''
    const { take, submitted, posts } = arrange({ servers: [server('standby'), source], routes: [{ ...route, match: inFolder(folderOf) }] })
    const sent = sentIn(`published/${file}.json`)

    await take(sent)
    await take(sent)

    expect(submitted).toEqual([])
    expect(posts.map(({ text }) => text)).toEqual([expect.stringContaining(words)])
  })

  test('about a rule that has no data proposes nothing although it has the label, unless the policy names this alert', async () => {
    const labels = { alertname: 'DatasourceNoData', rulename: 'NodeDown', severity: 'critical' }
    const bySeverity = arrange({ routes: [{ ...route, match: new Map([['severity', 'critical']]) }] })
    const byName = arrange({ routes: [{ ...route, match: new Map([['alertname', 'DatasourceNoData']]) }] })

    for (const { take } of [bySeverity, byName]) expect(await take([down('web-1', labels)])).toBe('accepted')

    expect(bySeverity.submitted).toEqual([])
    expect(bySeverity.posts.map(({ text }) => text)).toEqual([expect.stringContaining('Grafana got no result for the rule NodeDown')])
    expect(byName.submitted).toMatchObject([{ input: { serverId: 'sv_web-1' } }])
  })

  test('of an entry for other alerts, such as the button *Test*, leads to nothing', async () => {
    const { take, submitted, posts } = arrange()

    for (const file of ['grafana/test-button.json', 'published/error.json', 'published/no-data.json'])
      expect(await take(sentIn(file))).toBe('accepted')

    expect([...submitted, ...posts]).toEqual([])
  })
})

function inFolder(name: string): Map<string, string> {
  return new Map([['grafana_folder', name]])
}

test('an alert keeps its key from its first delivery to its end', () => {
  for (const sender of ['alertmanager', 'grafana']) {
    const keys = ['firing', 'resolved'].map((name) => read(`${sender}/${name}.json`).alerts[0]?.key)
    expect(new Set(keys).size).toBe(1)
  }
})

test('people read the name, the link and the summary of an alert, whoever sent it', () => {
  const shown = ['alertmanager/firing.json', 'grafana/firing.json', 'grafana/test-button.json'].map((file) => {
    const [alert] = read(file).alerts
    if (!alert) throw new Error(`${file} has no alert`)
    return `${alertWords(sourceOf(alert)).text}: ${reasonOf(alert, 'web-1')}`
  })

  expect(shown).toMatchInlineSnapshot(`
    [
      "Alert NodeDown, <http://prometheus.nimbus.example:9090/graph?g0.expr=up%7Bjob%3D%22node%22%7D+%3D%3D+0&amp;g0.tab=1|open it> (\`prometheus.nimbus.example:9090\`): web-1 has been down for 2 minutes",
      "Alert NodeDown, <https://grafana.nimbus.example/alerting/grafana/dfe3kq1x0n4zkc/view?orgId=1|open it> (\`grafana.nimbus.example\`): web-1 has been down for 2 minutes",
      "Alert TestAlert: Notification test",
    ]
  `)
})
