import { expect, test } from 'vitest'
import { forgetLists, ops, people, requestMove, startWorld, untilCard, untilReport, untilShown } from './world.ts'

test.each([
  ['203.0.113.10', /203\.0\.113\.10`\* {2}Elastic IP, active\nOn web-1/, 'Move…', 'Move an Elastic IP'],
  ['WEB-1', /web-1\* {2}server, on\nElastic IPs: `203\.0\.113\.10`/, 'Evacuate…', 'Evacuate a server'],
])('an address, an id or a name alone is looked up, with its change: %s', async (typed, words, label, title) => {
  const { ada, slack } = await startWorld()
  await ada.command(`/infra ${typed}`, { channel: ops })
  const shown = await untilShown(slack, people.ada, words)
  await ada.click(shown, label)
  await slack.until(() => ada.topView()?.title === title)
})

test('a command that was mistyped can be run with one press, and a change opens its form, filled as far as possible', async () => {
  const { ada, slack, accountApi } = await startWorld()
  await ada.command('/infra serverz web-2', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean `\/infra servers`\?/), 'Run it')
  await untilShown(slack, people.ada, /1 of \d+ servers|web-2/)
  for (const [wrong, names, meant, button, ...filled] of [
    ['evacuat', 'web-1 because its disk fails', 'evacuate', 'Evacuate', /"initial_option":.*web-1/, /"initial_value":"its disk fails"/],
    [
      'moev',
      '203.0.113.10 to web-2 in 2h',
      'ip move',
      'Move IP',
      /"initial_option":.*203\.0\.113\.10.*"initial_option":.*web-2/,
      /"initial_value":"in 2h"/,
    ],
    ['ip moev', '203.0.113.10 no-such-server', 'ip move', 'Move IP', /No server .*no-such-server/, /"initial_option":.*203\.0\.113\.10/],
  ] as const) {
    await ada.command(`/infra ${wrong} ${names}`, { channel: ops })
    const answer = await untilShown(slack, people.ada, new RegExp(`/infra ${wrong}\`.* Did you mean \`/infra ${meant}`))
    await ada.click(answer, button)
    const form = JSON.stringify(await slack.until(() => ada.topView()))
    for (const fits of filled) expect(form).toMatch(fits)
    await ada.close()
  }
  expect(accountApi.journal.writes()).toEqual([])
})

test('a change with a mistyped name opens its form with one press, with the right one, the other name, the start and the reason', async () => {
  const { ada, slack } = await startWorld()
  await ada.command('/infra ip move 203.0.113.10 wbe-2 in 2h because web-1 is old', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /No server .?wbe-2.?\. Did you mean .?web-2/), 'Move IP')
  const form = JSON.stringify(await slack.until(() => ada.topView()))
  expect(form).toMatch(/"initial_option":.*203\.0\.113\.10.*"initial_option":.*web-2/)
  expect(form).toContain('"initial_value":"in 2h"')
  expect(form).toContain('"initial_value":"web-1 is old"')

  await ada.command('/infra keys revoke terrafrom', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean .?terraform/), 'Open form')
  await slack.until(() => ada.topView()?.title === 'Revoke an API key')
  await ada.close(ada.topView())
  await ada.command('/infra keys revoke grafana raed', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean “grafana read”/), 'Open form')
  expect(JSON.stringify(await slack.until(() => ada.topView()))).toMatch(/"initial_option":.*grafana read/)
  await ada.close(ada.topView())
  // What the form has no words for is not dropped without a word.
  await ada.command('/infra keys rotate terrafrm keeping the old one for 7 days', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /No API key terrafrm/), 'Open form')
  expect(JSON.stringify(await slack.until(() => ada.topView()))).toContain(
    'You also typed `keeping the old one for 7 days`: choose it below.',
  )
})

test('several names that were perhaps meant have a button each, and so have commands and what is looked up', async () => {
  const { ada, slack } = await startWorld()
  await ada.command('/infra ip move 203.0.113.10 web', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /No server web\. Did you mean web-1/), 'Use web-2')
  expect(JSON.stringify(await slack.until(() => ada.topView()))).toMatch(/"initial_option":.*203\.0\.113\.10.*"initial_option":.*web-2/)
  await ada.close(ada.topView())

  await ada.command('/infra move', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean `\/infra ip move` or `\/infra moves`/), 'Open ip move')
  await slack.until(() => ada.topView()?.title === 'Move an Elastic IP')
  await ada.close(ada.topView())
  await ada.command('/infra hlep', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean `\/infra help`/), 'Run it')
  await untilShown(slack, people.ada, /\*What you can do\*/)

  await ada.command('/infra terrafrom', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean terraform\?/), 'Look it up')
  await untilShown(slack, people.ada, /\*terraform\* {2}API key/)
})

test('an address and a server are taken in either order, also in the form', async () => {
  const { ada, slack } = await startWorld()
  await ada.command('/infra ip moev web-2 203.0.113.10', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean/), 'Move IP')
  expect(JSON.stringify(await slack.until(() => ada.topView()))).toMatch(/"initial_option":.*203\.0\.113\.10.*"initial_option":.*web-2/)
  await ada.close(ada.topView())
  await ada.command('/infra ip move web-2 to 203.0.113.10', { channel: ops })
  await slack.until(() => slack.messages(ops).find(({ text }) => /Move 203\.0\.113\.10: web-1 → web-2/.test(text)))
})

test('a server in place of an address is called one, with the form that moves all of its addresses', async () => {
  const { ada, slack } = await startWorld()
  await ada.command('/infra ip move web-1 web-2 because disk errors', { channel: ops })
  const refused = await untilShown(
    slack,
    people.ada,
    /^web-1 is a server\. To move all of its Elastic IPs: `\/infra evacuate web-1 web-2`\.$/,
  )
  await ada.click(refused, 'Open form')
  expect(JSON.stringify(await slack.until(() => ada.topView()))).toMatch(/"Evacuate a server".*web-1.*web-2.*disk errors/)
})

test('words after the names of a change are refused with how a time begins', async () => {
  const { ada, slack } = await startWorld()
  await ada.command('/infra ip move 203.0.113.10 web-2 tomorrow', { channel: ops })
  await untilShown(slack, people.ada, /couldn't read `tomorrow`\. Usage: .*\. A time begins with `at` or `in`, a reason with `because`\.$/)
})

test('the short id of a request and the name of a key are looked up, too', async () => {
  const world = await startWorld()
  const { ada, ben, slack } = world
  const { card } = await requestMove(world)
  const [, id = ''] = /`([0-9a-f]{8})`/.exec(card.text) ?? []
  const shown = (state: string) =>
    new RegExp(`Request ${id}: Move .*203\\.0\\.113\\.10.*, ${state}  ·  by <@${people.ada}>, <!date[^>]*>  ·  <https:[^|]+\\|Open>`)
  await ada.command(`/infra ${id}`, { channel: ops })
  await untilShown(slack, people.ada, shown('waiting for approval'))
  await ben.click(card, 'Approve')
  await untilReport(slack, card.ts, /Done/)
  await ben.command(`/infra ${id}`, { channel: ops })
  await untilShown(slack, people.ben, shown('done'))

  await ada.command('/infra terraform', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /\*terraform\* {2}API key, .*\nDoesn't end by itself\n/), 'Show key')
  await untilShown(slack, people.ada, /1 API key matching `terraform`/)
  const ending = world.accountApi.world.data.apiKeys.find(({ name }) => name === 'terraform')?.token.slice(-5)
  await ada.command(`/infra ${ending}`, { channel: ops })
  await untilShown(slack, people.ada, /\*terraform\* {2}API key/)
  await ada.command(`/infra keys rotate ${ending}`, { channel: ops })
  await untilCard(slack, /Rotate API key terraform/)
  await ada.command('/infra grafana read', { channel: ops })
  await untilShown(slack, people.ada, /\*“grafana read”\* {2}API key/)
  await ada.command('/infra terrafrom', { channel: ops })
  await untilShown(slack, people.ada, /Nothing is called terrafrom\. Did you mean terraform\?/)
})

test('a word that names nothing is still answered as an unknown command, also while the account does not answer', async () => {
  const { ada, slack, accountApi } = await startWorld()
  await ada.command('/infra no-such-thing', { channel: ops })
  await untilShown(slack, people.ada, /`\/infra no-such-thing` isn't a command/)
  for (const id of ['deadbeef', 'deadbeef'.repeat(4)]) {
    await ada.command(`/infra ${id}`, { channel: ops })
    const words = `^No request \`${id}\`\\. Requests are kept for 30 days after their end: see \`/infra audit ${id}\`\\.$`
    await untilShown(slack, people.ada, new RegExp(words))
  }
  accountApi.faults.add({ kind: 'status', status: 503, times: Number.POSITIVE_INFINITY })
  await ada.command('/infra other-thing', { channel: ops })
  await untilShown(slack, people.ada, /other-thing/)
})

test('the name or the id of a key that was revoked says where to find what became of it', async () => {
  const { ada, ben, slack, accountApi } = await startWorld()
  const { id = '' } = accountApi.world.data.apiKeys.find(({ name }) => name === 'terraform') ?? {}
  await ada.command('/infra keys revoke terraform', { channel: ops })
  const card = await untilCard(slack, /Revoke API key terraform/)
  await ada.command('/infra terraform', { channel: ops })
  await untilShown(slack, people.ada, /\*terraform\* {2}API key[\s\S]*\nOpen request: Revoke API key terraform, waiting for approval/)
  await ben.click(card, 'Approve')
  await untilReport(slack, card.ts, /Done/)
  await ada.command('/infra terraform', { channel: ops })
  await untilShown(slack, people.ada, /^No API key is called terraform now\. See `\/infra audit terraform`\.$/)
  await ada.command(`/infra ${id}`, { channel: ops })
  await untilShown(slack, people.ada, new RegExp(`^No API key is called .${id}. now\\. See ./infra audit ${id}.\\.$`))
  await ada.command(`/infra audit ${id}`, { channel: ops })
  await untilShown(slack, people.ada, /Revoke API key terraform/)
  await ada.command('/infra tok_Fjg4Unknown', { channel: ops })
  await untilShown(slack, people.ada, /^`\/infra tok_Fjg4Unknown` isn't a command\./)
})

test('the name of a key whose creation waits is that of its request', async () => {
  const { ada, slack } = await startWorld()
  await ada.command('/infra keys create ci-deploy', { channel: ops })
  await untilCard(slack, /Create API key ci-deploy/)
  await ada.command('/infra CI-deploy', { channel: ops })
  await untilShown(slack, people.ada, /^Open request: Create API key ci-deploy, waiting for approval {2}· {2}by <@U0ADA00001>.*\|Open>$/)
})

test('while the account is away, every look-up and all details that an earlier list shows have its age', async () => {
  const world = await startWorld()
  const { ada, slack, accountApi } = world
  for (const list of ['ip list', 'servers', 'vms', 'keys']) await ada.command(`/infra ${list}`, { channel: ops })
  await slack.until(() => slack.ephemerals(people.ada).length === 4)
  await forgetLists(world)
  accountApi.faults.add({ kind: 'status', status: 503, times: Number.POSITIVE_INFINITY })

  for (const [typed, words] of [
    ['terraform', /\*terraform\* {2}API key[\s\S]*As of/],
    ['web-2', /\*web-2\* {2}server[\s\S]*As of/],
    ['terrafrom', /Did you mean terraform\?[\s\S]*As of/],
    ['198.18.7.77', /Couldn't read every list of the account, so `198\.18\.7\.77` wasn't found/],
  ] as const) {
    await ada.command(`/infra ${typed}`, { channel: ops })
    await untilShown(slack, people.ada, words)
  }
  await ada.command('/infra keys terraform', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /1 API key matching `terraform`/), 'Details')
  await untilShown(slack, people.ada, /^\*terraform\*[\s\S]*Id: [\s\S]*As of/)
})
