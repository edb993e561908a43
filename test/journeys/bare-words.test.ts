import { expect, test } from 'vitest'
import { ops, people, startWorld, untilShown } from './world.ts'

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

test('a command that was mistyped can be run with one press, and a change opens its form', async () => {
  const { ada, slack, accountApi } = await startWorld()
  await ada.command('/infra serverz web-2', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean `\/infra servers`\?/), 'Run it')
  await untilShown(slack, people.ada, /1 of \d+ servers|web-2/)
  await ada.command('/infra evacuat web-1 because its disk fails', { channel: ops })
  await ada.click(await untilShown(slack, people.ada, /Did you mean `\/infra evacuate`\?/), 'Evacuate')
  const form = await slack.until(() => ada.topView())
  expect(form.title).toBe('Evacuate a server')
  expect(JSON.stringify(form)).toMatch(/"initial_option":.*web-1/)
  expect(JSON.stringify(form)).toContain('"initial_value":"its disk fails"')
  expect(accountApi.journal.writes()).toEqual([])
})

test('a word that names nothing is still answered as an unknown command, also while the account does not answer', async () => {
  const { ada, slack, accountApi } = await startWorld()
  await ada.command('/infra no-such-thing', { channel: ops })
  await untilShown(slack, people.ada, /`\/infra no-such-thing` isn't a command/)
  accountApi.faults.add({ kind: 'status', status: 503, times: Number.POSITIVE_INFINITY })
  await ada.command('/infra other-thing', { channel: ops })
  await untilShown(slack, people.ada, /other-thing/)
})
