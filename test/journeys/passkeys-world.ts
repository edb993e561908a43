import { expect, inject } from 'vitest'
import { trust } from '../../src/features/passkeys/trust.ts'
import { type Authenticator, createAuthenticator } from '../given/authenticator.ts'
import type { Json } from '../sandbox/slack/json.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { policyInFile } from './policy-in-file.ts'
import { type PolicyWorld, startWorldUnder } from './policy-world.ts'
import { ops, people, requestMove, untilCard, untilReport, type World, type WorldOptions } from './world.ts'

export const stateKey = 'the-key-of-these-tests-has-32-characters'
export const origin = 'https://lockkeeper.example.com'
export const party = { origin, rpId: 'lockkeeper.example.com' }
export const usual = 'rules:\n  - {name: addresses, approve: {any_of: [S0ONCALL01], approvals: 1}, confirm: passkey}'

type Person = World['ben']

/** Where bots with pages run: in this process, or as their own. */
export interface PasskeyPlace extends Pick<World, 'slack' | 'prefix'> {
  bots: { slackPort?: number | undefined }[]
  /** Default: the Redis of the tests. */
  redisUrl?: string
}

/** A bot whose rules ask for a passkey. */
export async function startPasskeyWorld(policy = usual, { env, ...options }: WorldOptions = {}) {
  return startWorldUnder(policy, { ...options, env: { PUBLIC_URL: origin, STATE_KEY: stateKey, OPS_CHANNEL: ops, ...env } })
}

/** Returns the address behind the button of a message. */
export function linkIn({ blocks = [] }: Message): string {
  const buttons = blocks.flatMap(({ elements }) => (Array.isArray(elements) ? (elements as Json[]) : []))
  const url = buttons.map((button) => button.url).find((each) => typeof each === 'string')
  if (url === undefined) throw new Error(`there is no link in ${JSON.stringify(blocks)}`)
  return url
}

/** The address at the port of the bot, where a proxy would send it. `bot`: which of several replicas. */
export function atPort({ bots }: Pick<PasskeyPlace, 'bots'>, url: string, bot = 0): string {
  return `http://127.0.0.1:${bots[bot]?.slackPort}${new URL(url).pathname}`
}

/** What a page tells its browser to sign. */
export async function openPage(world: Pick<PasskeyPlace, 'bots'>, url: string) {
  const response = await fetch(atPort(world, url))
  const html = await response.text()
  const [, data = '{}'] = /data-options="([^"]*)"/.exec(html) ?? []
  const options = JSON.parse(
    data.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  )
  return { status: response.status, headers: response.headers, html, challenge: String(options.challenge ?? ''), options }
}

interface SendOptions {
  headers?: Record<string, string>
  name?: string
  bot?: number
}

export async function sendAnswer(
  world: Pick<PasskeyPlace, 'bots'>,
  url: string,
  response: unknown,
  { headers, name, bot }: SendOptions = {},
) {
  const answer = await fetch(atPort(world, url, bot), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, ...headers },
    body: JSON.stringify({ name, response }),
  })
  const text = await answer.text()
  const {
    title = '',
    words = '',
    isDone = false,
  } = text === '' ? {} : (JSON.parse(text) as { title?: string; words?: string; isDone?: boolean })
  return { status: answer.status, title, words, isDone }
}

/** Presses a button, and resolves with the link in the ephemeral message that answers it. */
export async function pressForLink(
  world: Pick<World, 'slack'>,
  by: Person,
  id: string,
  ...[message, button]: Parameters<Person['click']>
): Promise<string> {
  const before = world.slack.ephemerals(id).length
  await by.click(message, button)
  return untilLink(world, id, before)
}

/** Sends the form that *Approve* opened, and resolves with the link that answers it. */
export async function submitForLink(world: Pick<World, 'slack'>, by: Person, id: string): Promise<string> {
  const before = world.slack.ephemerals(id).length
  expect((await by.submit()).errors).toBeUndefined()
  return untilLink(world, id, before)
}

/** The link in the first ephemeral message with one after the first `before`. */
async function untilLink({ slack }: Pick<World, 'slack'>, id: string, before: number): Promise<string> {
  const hasLink = ({ blocks }: Message) => JSON.stringify(blocks).includes('"url":')
  return linkIn(await slack.until(() => slack.ephemerals(id).slice(before).find(hasLink), { what: 'an answer with a link' }))
}

/** Types the command, and resolves with its answer. */
export async function listPasskeys(world: Pick<World, 'slack'>, by: Person, id: string): Promise<Message> {
  const before = world.slack.ephemerals(id).length
  await by.command('/infra passkeys', { channel: ops })
  return world.slack.until(
    () =>
      world.slack
        .ephemerals(id)
        .slice(before)
        .find(({ text }) => /^(?:\*Your passkeys|You have no passkey|Your new passkey)/.test(text)),
    {
      what: 'the list of passkeys',
    },
  )
}

/** Makes a passkey on the page, and resolves with the code that it shows. */
export async function makePasskey(world: PasskeyPlace, by: Person, id: string, authenticator: Authenticator = createAuthenticator(party)) {
  const list = await listPasskeys(world, by, id)
  const url = await pressForLink(world, by, id, list, 'Add a passkey')
  const { challenge } = await openPage(world, url)
  const answer = await sendAnswer(world, url, authenticator.create(challenge), { name: 'Laptop' })
  return { authenticator, code: answer.title, answer, url }
}

/** Runs the program on the server. */
export async function runTrust(
  { prefix, redisUrl = inject('redisUrl') }: Pick<PasskeyPlace, 'prefix' | 'redisUrl'>,
  args: string[],
  { env = {}, answer = 'yes' } = {},
) {
  let output = ''
  const variables = { REDIS_URL: redisUrl, REDIS_PREFIX: prefix, STATE_KEY: stateKey, ...env }
  const exitCode = await trust(variables, args, {
    write: (text) => {
      output += text
    },
    ask: async () => answer,
  })
  return { exitCode, output }
}

/** Whose passkeys are trusted in a world. */
const holders = new WeakMap<World['slack'], Map<string, { by: Person; authenticator: Authenticator }>>()

/** Gives a person a passkey that counts: the first one is trusted on the server, and the next ones are confirmed by its holder. */
export async function givePasskey(world: PasskeyPlace, by: Person, id: string): Promise<Authenticator> {
  const { authenticator, code, answer } = await makePasskey(world, by, id)
  const known = holders.get(world.slack) ?? new Map<string, { by: Person; authenticator: Authenticator }>()
  holders.set(world.slack, known)
  if (answer.title.startsWith('Requested')) {
    const [other, holder] = [...known].find(([holderId]) => holderId !== id) ?? []
    if (!other || !holder) throw new Error('nobody else has a passkey')
    const card = await untilCard(world.slack, /Add passkey[\s\S]*needs approval from/)
    await approveWithPasskey(world, holder.by, other, card, holder.authenticator)
    await untilReport(world.slack, card.ts, /Done/)
  } else {
    const { exitCode, output } = await runTrust(world, ['trust', code, '--yes'])
    if (exitCode !== 0) throw new Error(output)
  }
  known.set(id, { by, authenticator })
  return authenticator
}

/** Returns the only move that is stored. Passkeys are requested, too. */
export async function onlyMove({ records }: Pick<PolicyWorld, 'records'>) {
  const [move, ...others] = (await records.all()).filter(({ kind }) => kind === 'ip.move')
  if (!move || others.length > 0) throw new Error('there is not one move')
  return move
}

/** Presses *Approve*, opens the page, and confirms. */
export async function approveWithPasskey(world: PasskeyPlace, by: Person, id: string, card: Message, authenticator: Authenticator) {
  const url = await pressForLink(world, by, id, card, 'Approve')
  const { challenge } = await openPage(world, url)
  return { url, challenge, answer: await sendAnswer(world, url, authenticator.get(challenge)) }
}

/** A request that waits, and Ben's link to confirm it. Chiara has a passkey, too. */
export async function startLinked(policy = usual) {
  const world = await startPasskeyWorld(policy)
  const ben = await givePasskey(world, world.ben, people.ben)
  const chiara = await givePasskey(world, world.chiara, people.chiara)
  const { card } = await requestMove(world)
  const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
  const { challenge } = await openPage(world, url)
  return { world, ben, chiara, card, url, challenge }
}

interface RestartOptions {
  policy?: string
  env?: Record<string, string>
  meanwhile?: () => Promise<unknown>
}

/** Stops the bot, and starts it with other settings. */
export async function restartWith(world: PolicyWorld, { policy, env, meanwhile }: RestartOptions = {}): Promise<void> {
  await world.bots[0]?.stop()
  await meanwhile?.()
  const bot = await world.startBot({ ...env, ...(policy !== undefined && { POLICY_FILE: policyInFile(policy) }) })
  world.bots.splice(0, 1, bot)
  world.slack.connectBot(bot.slackUrl)
}
