import { expect, test } from 'vitest'
import { nameOf, nothingRequested, unread } from '../../src/inbound/alert-words.ts'
import { mrkdwn } from '../../src/slack/text.ts'

test('several alerts are one list, which names those that it has no room for', () => {
  const alerts = Array.from({ length: 36 }, (_, index) => ({
    source: { name: 'NodeDown' },
    why: mrkdwn`The account shows no server.`,
    server: index === 1 ? undefined : `web-${index}`,
  }))

  const lines = nothingRequested(alerts, '/infra').text.split('\n')

  expect([...lines.slice(0, 3), lines.length, lines.at(-1)].join('\n')).toMatchInlineSnapshot(`
    ":warning: *Nothing was requested for 36 alerts.* By hand: \`/infra evacuate\`.
    •  web-0: The account shows no server. Alert NodeDown
    •  The account shows no server. Alert NodeDown
    12
    And 26 more: web-10, web-11, web-12, web-13, web-14, web-15, web-16, web-17, web-18, web-19 and 16 more."
  `)
})

test('what an alert says is never markup', () => {
  const hostile = '<!channel> *Approved* `x` <https://evil.example|open> :white_check_mark:'
  const source = { name: hostile, link: `https://evil.example/|a>${hostile}` }
  const listed = nothingRequested(
    Array(30).fill({ source, why: mrkdwn`The account shows no server ${nameOf(hostile)}.`, server: hostile }),
    '/infra',
  ).text

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
