import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readPayload } from '../../src/alerts/payload.ts'
import { reasonOf, sourceOf } from '../../src/alerts/source-alert.ts'
import { alertWords } from '../../src/requests/messages/alert-words.ts'

const folder = new URL('./payloads/', import.meta.url)

function read(file: string) {
  const reading = readPayload(readFileSync(new URL(file, folder), 'utf8'))
  if (reading.is !== 'read') throw new Error(`${file} is ${reading.is}`)
  return reading
}

/** Returns `+` or `-` with the server of each alert that fires or has resolved, and how many the sender left out. */
function summaryOf(file: string): string {
  const { alerts, truncated } = read(file)
  const each = alerts.map(({ isFiring, labels }) => `${isFiring ? '+' : '-'}${labels.instance}`)
  return [...each, ...(truncated > 0 ? [`${truncated} left out`] : [])].join(' ')
}

test.each(['alertmanager', 'grafana'])(
  'every alert that %s sends is read, with what fires, what resolved and what was left out',
  (sender) => {
    const files = readdirSync(new URL(sender, folder)).map((name) => `${sender}/${name}`)

    const summaries = Object.fromEntries(files.map((file) => [file.split('/')[1], summaryOf(file)]))

    expect(summaries).toMatchObject({
      'firing.json': '+web-1:9100',
      'firing-and-resolved.json': '+web-1:9100 -web-2:9100 +web-3:9100',
      'resolved.json': '-web-1:9100 -web-3:9100',
      'truncated.json': '+edge-ash-1:9100 +web-1:9100 2 left out',
    })
    expect(files.map((file) => read(file).unreadable)).toEqual(files.map(() => 0))
  },
)

test('an alert keeps its key from its first delivery to its end', () => {
  for (const sender of ['alertmanager', 'grafana']) {
    const keys = ['firing', 'firing-and-resolved', 'resolved'].map((name) => read(`${sender}/${name}.json`).alerts[0]?.key)
    expect(new Set(keys).size).toBe(1)
  }
})

test('people read the name, the link and the summary of an alert, whoever sent it', () => {
  const shown = ['alertmanager/firing.json', 'grafana/firing.json', 'grafana/test-button.json'].map((file) => {
    const [alert] = read(file).alerts
    if (!alert) throw new Error(`${file} has no alert`)
    return `${alertWords(sourceOf(alert)).text}: ${reasonOf(alert)}`
  })

  expect(shown).toMatchInlineSnapshot(`
    [
      "Alert \`NodeDown\`, <http://prometheus.nimbus.example:9090/graph?g0.expr=up%7Bjob%3D%22node%22%7D+%3D%3D+0&amp;g0.tab=1|open it> (\`prometheus.nimbus.example:9090\`): web-1 has been down for 2 minutes",
      "Alert \`NodeDown\`, <https://grafana.nimbus.example/alerting/grafana/dfe3kq1x0n4zkc/view?orgId=1|open it> (\`grafana.nimbus.example\`): web-1 has been down for 2 minutes",
      "Alert \`TestAlert\`: Notification test",
    ]
  `)
})
