import { expect, test } from 'vitest'
import { type AlertList, alertList, nameOf, nameOfAlert } from '../../../src/features/alerts/alert-list.ts'
import { unread } from '../../../src/features/alerts/unread.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { expectDocument } from '../../messages/documents.ts'

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

/** The text of a list, and its buttons. */
function shown(list: AlertList, resolvedAt: [name: string, at: number][] = []): string {
  const { text, blocks } = alertList(list, new Map(resolvedAt))
  const buttons = (blocks ?? []).flatMap((block) => ('elements' in block && block.type === 'actions' ? block.elements : []))
  return [text, ...buttons.map((each) => `[${'text' in each ? each.text?.text : ''}]`)].join('\n')
}

const hostile = '<!channel> *Approved* `x` <https://evil.example|open> :white_check_mark:'
const ofHostile = listOf(
  Array(30).fill({
    source: { name: hostile, link: `https://evil.example/|a>${hostile}` },
    why: mrkdwn`The account shows no server ${nameOf(hostile)}.`.text,
    server: hostile,
    summary: hostile,
  }),
)

test('lists of alerts that led to no request, and what the operators are told', async () => {
  const servers = [
    { server: 'web-1', serverId: 'sv_1', summary: 'web-1 has been down for 2 minutes.' },
    { server: 'web-2', serverId: 'sv_2', startsAt: 0 },
  ]
  const two = listOf(servers, { calls: '<!subteam^S0ONCALL01>' })
  const [one = '', other = ''] = two.alerts.map(nameOfAlert)
  const first: [string, number] = [one, startsAt + 12 * minutes]
  const many = Array.from({ length: 36 }, (_, index) => ({
    why: 'The account shows no server.',
    server: index === 1 ? undefined : `web-${index}`,
  }))
  const nothingThere = { server: 'db-1', why: 'The account shows no Elastic IPs on db-1.' }
  const reasons = ['wrong-token', 'too-large', 'unreadable', 'truncated'] as const
  await expectDocument('words.md', 'Lists of alerts that led to no request, and what the operators are told', [
    ['Two fire', shown(two)],
    ['One of them has resolved', shown(two, [first])],
    [
      'An open request has what the other one needs',
      shown(listOf([{ server: 'web-1', notByHand: true }, ...servers.slice(1)], { calls: two.calls })),
    ],
    ['The same alone', shown(listOf([{ server: 'web-1', notByHand: true }], { calls: two.calls }))],
    ['All have resolved, so that nobody is called', shown(two, [first, [other, startsAt + 9 * minutes]])],
    ['More than a list has room for', shown(listOf(many, { calls: '' }))],
    ['Nothing can be evacuated', shown(listOf([nothingThere]))],
    ['What an alert says is never markup', shown(ofHostile).split('\n')[1] ?? ''],
    ['The alert has a link', shown(listOf([{ ...nothingThere, source: { name: 'NodeDown', link: 'https://prometheus.example.com/g' } }]))],
    ['To the operators', reasons.map((reason) => unread(reason, 12).text).join('\n')],
  ])
})

test('what an alert says is never markup', () => {
  expect(shown(ofHostile)).not.toMatch(/<!|<https:\/\/evil/)
})
