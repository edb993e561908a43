import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Alert, readPayload, reasonOf, sourceOf } from '../../../src/features/alerts/payload.ts'
import { alertWords } from '../../../src/messages/request-words.ts'
import type { WireAlert } from '../../journeys/alerts-world.ts'
import { expectDocument } from '../../messages/documents.ts'
import { arrange, down, route, server } from './scene.ts'

const folder = new URL('./payloads/', import.meta.url)

function read(file: string) {
  const reading = readPayload(readFileSync(new URL(file, folder), 'utf8'))
  if (reading.is !== 'read') throw new Error(`${file} is ${reading.is}`)
  return reading
}

test('every alert that Alertmanager and Grafana send is read as in recorded-payloads.md, whichever version sent it', async () => {
  const files = ['alertmanager', 'grafana', 'published'].flatMap((sender) =>
    readdirSync(new URL(sender, folder)).map((name) => `${sender}/${name}`),
  )
  const situations = files.map((file): [string, string] => {
    const { unreadable, truncated, alerts } = read(file)
    expect([file, unreadable, truncated]).toEqual([file, 0, 0])
    const named = ({ isFiring, labels }: Alert) =>
      `${isFiring ? 'fires' : 'resolved'}: ${labels.get('alertname')} ${labels.get('instance') ?? '(no instance)'}`
    const words = (alert: Alert) => `${alertWords(sourceOf(alert)).text}: ${reasonOf(alert, 'web-1')}`
    return [file, alerts.flatMap((alert) => [named(alert), `  ${words(alert)}`]).join('\n')]
  })
  await expectDocument('recorded-payloads.md', 'What recorded payloads say: what fires or resolved, and what people read of it', situations)
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
