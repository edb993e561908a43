import { expect, test } from 'vitest'
import { type AlertList, alertList, nameOf, nameOfAlert } from '../../../src/features/alerts/alert-list.ts'
import { unread } from '../../../src/features/alerts/unread.ts'
import { mrkdwn } from '../../../src/slack/text.ts'

const minutes = 60_000
const startsAt = Date.parse('2026-11-22T03:00:00Z')

const listOf = (alerts: Partial<AlertList['alerts'][number]>[], more: Partial<AlertList> = {}): AlertList => ({
  channelId: 'C0OPS00001',
  command: '/infra',
  kind: 'ip.evacuate',
  listedAt: startsAt + minutes,
  alerts: alerts.map((each, index) => ({ key: `k${index}`, startsAt, source: { name: 'NodeDown' }, why: 'No.', ...each })),
  ...more,
})

test('shows of each alert after how long it resolved, and calls nobody once all have', () => {
  const list = listOf(
    [
      { server: 'web-1', serverId: 'sv_1' },
      { server: 'web-2', serverId: 'sv_2', startsAt: 0 },
    ],
    {
      calls: '<!subteam^S0ONCALL01>',
    },
  )
  const [one, other] = list.alerts.map(nameOfAlert)
  const at = (name = '', ms = 0): [string, number] => [name, startsAt + ms]
  const texts = [[], [at(one, 12 * minutes)], [at(one, 12 * minutes), at(other, 9 * minutes)]].map((resolvedAt) => {
    const { text, blocks } = alertList(list, new Map(resolvedAt))
    const buttons = (blocks ?? []).flatMap((block) => ('elements' in block && block.type === 'actions' ? block.elements : []))
    return [text, ...buttons.map((each) => `[${'text' in each ? each.text?.text : ''}]`)].join('\n')
  })

  expect(texts.join('\n\n')).toMatchInlineSnapshot(`
    ":warning: *2 alerts:* web-1, web-2. Nothing was requested. <!subteam^S0ONCALL01>, evacuate by hand: \`/infra evacuate\`.
    •  web-1: No. Alert NodeDown
    •  web-2: No. Alert NodeDown
    [Evacuate web-1…]
    [Evacuate web-2…]

    :warning: *2 alerts:* web-1, web-2. Nothing was requested. <!subteam^S0ONCALL01>, evacuate by hand: \`/infra evacuate\`.
    •  web-1: No. Alert NodeDown (resolved after 12 min)
    •  web-2: No. Alert NodeDown
    [Evacuate web-2…]

    :white_check_mark: *Resolved.* Nothing was requested for 2 alerts.
    •  web-1: No. Alert NodeDown (resolved after 12 min)
    •  web-2: No. Alert NodeDown (resolved after 8 min)"
  `)
})

test('several alerts are one list, which names those that it has no room for', () => {
  const alerts = Array.from({ length: 36 }, (_, index) => ({
    why: 'The account shows no server.',
    server: index === 1 ? undefined : `web-${index}`,
  }))

  const lines = alertList(listOf(alerts, { calls: '' }), new Map()).text.split('\n')

  expect([...lines.slice(0, 3), lines.length, lines.at(-1)].join('\n')).toMatchInlineSnapshot(`
    ":warning: *36 alerts:* web-0, NodeDown, web-2 and 33 more. Nothing was requested. By hand: \`/infra evacuate\`.
    •  web-0: The account shows no server. Alert NodeDown
    •  The account shows no server. Alert NodeDown
    12
    And 26 more: web-10, web-11, web-12, web-13, web-14, web-15, web-16, web-17, web-18, web-19 and 16 more."
  `)
})

test('an alert after which nothing can be evacuated offers nothing', () => {
  const why = 'The account shows no Elastic IPs on db-1.'
  expect(alertList(listOf([{ server: 'db-1', why }]), new Map()).text).toBe(
    ':warning: *Alert:* db-1. Nothing was requested.\n•  db-1: The account shows no Elastic IPs on db-1. Alert NodeDown',
  )
})

test('what an alert says is never markup', () => {
  const hostile = '<!channel> *Approved* `x` <https://evil.example|open> :white_check_mark:'
  const source = { name: hostile, link: `https://evil.example/|a>${hostile}` }
  const why = mrkdwn`The account shows no server ${nameOf(hostile)}.`.text
  const listed = alertList(listOf(Array(30).fill({ source, why, server: hostile })), new Map()).text

  expect(listed).not.toMatch(/<!|<https:\/\/evil/)
  expect(listed.split('\n')[1]).toMatchInlineSnapshot(
    `"•  \`&lt;!channel&gt; *Approved* ’x’ &lt;https://evil.example|open&gt; :white_check_mark:\`: The account shows no server \`&lt;!channel&gt; *Approved* ’x’ &lt;https://evil.example|open&gt; :white_check_mark:\`. Alert \`&lt;!channel&gt; *Approved* ’x’ &lt;https://evil.example|open&gt; :white_check_mark:\`"`,
  )
})

test('the operators are notified of what was not read', () => {
  const all = (['wrong-token', 'too-large', 'unreadable'] as const).map((reason) => unread(reason).text)

  expect([...all, unread('truncated', 12).text].join('\n')).toMatchInlineSnapshot(`
    ":warning: Somebody sent alerts with a token that isn't in \`ALERTS_TOKEN\`. They were not read. If they are yours, set the sender's token. Otherwise find out who sends them.
    :warning: A delivery of alerts has more than 1 MB or 1000 alerts. It was not read. Group alerts by more labels, or set \`max_alerts\`.
    :warning: A delivery of alerts, or a part of it, could not be read. Check that it comes from Alertmanager or Grafana.
    :warning: The sender of alerts left out 12 alerts of a group. Lockkeeper doesn't know them. Group alerts by more labels, or raise \`max_alerts\`."
  `)
})
