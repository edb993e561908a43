import { expect, inject, test } from 'vitest'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { dumpRedis } from '../journeys/dump-redis.ts'
import { openRecords } from '../journeys/records.ts'
import { ops, people, sendPayload, startWorld, untilShown, type World } from '../journeys/world.ts'

/** Has Ada type a word after each command, into each field of a form and into each picker. Returns the answers to forms and pickers. */
async function typeEverywhere(world: World, word: string) {
  const { ada, bots, slack } = world
  const [{ commands, interactions } = { commands: [], interactions: { options: {} } }] = bots
  const ofCommands = commands.flatMap(({ words }) => [`${words} ${word}`, `${words} ${word} ${word}`, `${words} ${word} x because ${word}`])
  for (const text of [word, `x ${word}`, `help ${word}`, ...ofCommands]) await ada.command(`/infra ${text}`, { channel: ops })

  const answers: { what: string; body: string }[] = []
  const forms = commands.filter(({ form }) => form)
  for (const { words } of forms) {
    const last = ada.openViews().at(-1)
    await ada.command(`/infra ${words}`, { channel: ops })
    const { view } = await slack.until(() => (ada.topView() !== last ? ada.topView() : undefined))
    const inputs = (view.blocks as { block_id: string; element?: { type: string } }[]).filter(
      ({ element }) => element?.type === 'plain_text_input',
    )
    const values = Object.fromEntries(inputs.map(({ block_id }) => [block_id, { typed: { type: 'plain_text_input', value: word } }]))
    answers.push({ what: words, body: await sendPayload(world, { type: 'view_submission', view: { ...view, state: { values } } }) })
  }
  const origin = { teamId: 'T0NIMBUS01', channelId: ops, userId: people.ada, command: '/infra' }
  const view = { id: 'V1', type: 'modal', hash: '1', private_metadata: writeMetadata({ origin }) }
  for (const id of Object.keys(interactions.options)) {
    answers.push({
      what: id,
      body: await sendPayload(world, { type: 'block_suggestion', action_id: id, block_id: 'b', value: word, view }),
    })
  }
  await ada.command('/infra whoami', { channel: ops })
  await untilShown(slack, people.ada, /you can request/)
  return { answers, forms }
}

test('what people type is never in the log', async () => {
  const world = await startWorld({ env: { LOG_LEVEL: 'trace' } })

  await typeEverywhere(world, 'canary7q')

  const lines = world.log.filter((line) => line.includes('"at":"command '))
  expect(lines.length).toBeGreaterThan(10)
  expect(world.log.filter((line) => line.includes('canary7q') && !line.includes('"stream":"audit"'))).toEqual([])
})

test.each([
  ['of the account', 'f0e1d2c3b4a5968778695a4b3c2d1e0f1234'],
  ['of Slack', 'xoxb-7364829105-canaryCANARY'],
])('a token %s that somebody types by mistake is refused, shown nowhere, and neither kept nor sent to the account', async (_, token) => {
  const world = await startWorld({ env: { LOG_LEVEL: 'trace' } })
  const { answers, forms } = await typeEverywhere(world, token)

  expect(forms.length).toBeGreaterThan(3)
  for (const { what, body } of answers) expect(`${what}: ${body}`).toMatch(/token/)
  const advice = world.slack.ephemerals(people.ada).filter(({ text }) => text.includes('Revoke that token now'))
  expect(advice.length).toBeGreaterThan(20)
  expect(await openRecords(world).all()).toEqual([])
  const stored = await dumpRedis(inject('redisUrl'), `*${world.prefix}*`)
  expect(stored).toContain(world.prefix)
  const sinks = { log: world.log, answers, slack: world.slack.journal, account: world.accountApi.journal, stored }
  expect(Object.entries(sinks).flatMap(([sink, found]) => (JSON.stringify(found).includes(token) ? [sink] : []))).toEqual([])
})

test.each(['5b0c8f1de2a34796b8c0d1e2f3a4b5c6', '3f786850e387550fdab836ed7e6dc881de23001b', 'xapp-1'])(
  'the id of a request, the hash of a commit and a short name are no tokens: %s',
  async (hash) => {
    const world = await startWorld()
    await world.ada.command(`/infra servers ${hash}`, { channel: ops })
    await untilShown(world.slack, people.ada, new RegExp(hash))
  },
)
