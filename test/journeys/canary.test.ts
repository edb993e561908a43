import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type AccountApi, startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botProgram, botVariables } from '../sandbox/bot-process.ts'
import { systemEnvironment } from '../sandbox/programs.ts'
import { type Redis as OwnRedis, startRedis } from '../sandbox/redis/start-redis.ts'
import type { Message, Slack } from '../sandbox/slack/slack.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { dumpRedis } from './dump-redis.ts'
import { ops, people, untilReport, untilShown } from './world.ts'

const main = botProgram('quick-main')

let slack: Slack
let accountApi: AccountApi
let redis: OwnRedis
let monitor: Redis
const written: string[] = []
const redisCommands: string[] = []
const answers: string[] = []
let kill: () => Promise<void>
let killAtOnce: () => void

beforeAll(async () => {
  slack = await startSlack()
  accountApi = await startAccountApi()
  redis = await startRedis({ appendonly: true })
  const client = new Redis(redis.url)
  monitor = await client.monitor()
  client.disconnect()
  monitor.on('monitor', (_, args: string[]) => redisCommands.push(args.join(' ')))
  kill = await startBot()
}, 120_000)

afterAll(async () => {
  await kill?.()
  monitor?.disconnect()
  await Promise.all([slack?.close(), accountApi?.close(), redis?.stop()])
})

/** Returns the read-only key that the bot reads with. */
function readKey(): string {
  const key = accountApi.world.data.apiKeys.find(({ name }) => name === 'laptop of ada')
  if (!key) throw new Error('no key')
  return Object.assign(key, { readOnly: true }).token
}

/** Starts the bot and points Slack at it. Returns a function that kills it without a shutdown. */
async function startBot(): Promise<() => Promise<void>> {
  const env = {
    ...botVariables({ slack, accountApi, redisUrl: redis.url }),
    INFRA_READ_KEY: readKey(),
    REDIS_PREFIX: 'canary',
    MOVE_POLL_INTERVAL: '200ms',
    LOG_LEVEL: 'trace',
  }
  const child = spawn(process.execPath, [main], { env: { ...systemEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const from = written.length
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => written.push(String(data)))
  const own = () => written.slice(from).join('')
  await vi.waitUntil(() => own().includes('Lockkeeper is ready'), { timeout: 20_000 })
  slack.connectBot(`http://127.0.0.1:${/"slackPort":(\d+)/.exec(own())?.[1]}/slack/events`)
  const opsPort = /"opsPort":(\d+)/.exec(own())?.[1]
  killAtOnce = () => void child.kill('SIGKILL')
  return async () => {
    for (const page of ['healthz', 'readyz', 'status', 'metrics']) {
      const answer = await fetch(`http://127.0.0.1:${opsPort}/${page}`).catch(() => undefined)
      if (answer) answers.push(await answer.text())
    }
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

/** Requests a key and has it approved. Its card then waits for Ada's click. */
async function approved(command: string): Promise<Message> {
  const known = slack.messages(ops).length
  await slack.as(people.ada).command(command, { channel: ops })
  const card = await slack.until(() => slack.messages(ops)[known])
  await slack.as(people.ben).click(card, 'Approve')
  return slack.until(() => slack.messages(ops).find((message) => message.ts === card.ts && /\*Approved\.\*/.test(message.text)))
}

function createKey(name: string): Promise<Message> {
  return approved(`/infra keys create ${name}`)
}

function keyNamed(name: string) {
  return accountApi.world.data.apiKeys.find((key) => key.name.startsWith(`${name} [`))
}

test('a key that is shown', async () => {
  const card = await createKey('shown')
  await slack.as(people.ada).click(card, 'Create key')
  await untilShown(slack, people.ada, /Your new API key shown/)
  await untilReport(slack, card.ts, /Done/)
})

test('a key that Slack does not show: it refuses the message, or is unavailable', async () => {
  for (const kind of ['error', 'status'] as const) {
    const card = await createKey(`hidden-${kind}`)
    const faults = [
      slack.faults.add({ method: 'response_url', kind: 'status', status: kind === 'error' ? 404 : 503, times: 3 }),
      slack.faults.add({ method: 'chat.postEphemeral', kind, error: 'user_not_in_channel', times: 1 }),
    ]
    await slack.as(people.ada).click(card, 'Create key')
    await untilReport(slack, card.ts, /Failed/)
    expect(faults.every(({ fired }) => fired > 0)).toBe(true)
    slack.faults.clear()
    expect(keyNamed(`hidden-${kind}`)).toBeUndefined()
  }
})

test.each(['drop-after', 'html', 'truncate'] as const)('a key whose creation gets no usable answer: %s', async (kind) => {
  const card = await createKey(`lost-${kind}`)
  const fault = accountApi.faults.add({ method: 'POST', path: /api_keys/, kind, times: 1 })
  await slack.as(people.ada).click(card, 'Create key')
  await untilReport(slack, card.ts, /Failed/)
  expect(fault.fired).toBe(1)
  expect(keyNamed(`lost-${kind}`)).toBeUndefined()
})

test('a key whose answer is the error page of a proxy, which quotes the token', async () => {
  const card = await createKey('quoted')
  const fault = accountApi.faults.add({
    method: 'POST',
    path: /api_keys/,
    kind: 'instead',
    instead: ({ body }) => ({ status: 502, type: 'text/html', text: `<h1>Bad gateway</h1><pre>${JSON.stringify(body)}</pre>` }),
  })
  await slack.as(people.ada).click(card, 'Create key')
  await untilReport(slack, card.ts, /Failed/)
  expect(fault.fired).toBe(1)
  expect(keyNamed('quoted')).toBeUndefined()
})

test('a bot that is killed before it has the answer leaves no key that nobody saw', async () => {
  const card = await createKey('killed-early')
  const fault = accountApi.faults.add({ method: 'POST', path: /api_keys/, kind: 'delay', delayMs: 5_000, times: 1 })
  const click = slack.as(people.ada).click(card, 'Create key')
  await expect.poll(() => keyNamed('killed-early')).toBeDefined()

  await kill()
  await click
  kill = await startBot()

  await untilReport(slack, card.ts, /Failed/)
  expect(fault.fired).toBe(1)
  expect(keyNamed('killed-early')).toBeUndefined()
}, 40_000)

test('a bot that is killed while it shows the token leaves no key that nobody saw', async () => {
  const card = await createKey('killed-late')
  const fault = slack.faults.add({
    method: 'response_url',
    kind: 'delay',
    delayMs: 5_000,
    times: 1,
    when: (args) => JSON.stringify(args).includes('Your new API key'),
  })
  const click = slack.as(people.ada).click(card, 'Create key')
  await expect.poll(() => fault.fired).toBe(1)

  await kill()
  await click
  kill = await startBot()

  await untilReport(slack, card.ts, /Failed/)
  expect(keyNamed('killed-late')).toBeUndefined()
}, 40_000)

test('a bot that is killed after the token was shown, before it is noted, leaves no key that may not have been seen', async () => {
  const card = await createKey('killed-after')
  const stop = slack.subscribe(() => {
    if (slack.ephemerals(people.ada).some(({ text }) => text.includes('Your new API key killed-after'))) killAtOnce()
  })
  await slack.as(people.ada).click(card, 'Create key')
  await untilShown(slack, people.ada, /Your new API key killed-after/)
  stop()
  await kill()
  kill = await startBot()

  await untilReport(slack, card.ts, /Failed/)
  expect(keyNamed('killed-after')).toBeUndefined()
}, 40_000)

test('a key that is rotated, and one whose rotation gets no answer', async () => {
  const [first, second] = accountApi.world.data.apiKeys.filter((key) => key.token !== accountApi.key && !key.name.includes('['))
  const shown = await approved(`/infra keys rotate ${first?.id}`)
  await slack.as(people.ada).click(shown, 'Rotate key')
  await untilReport(slack, shown.ts, /Done/)

  const lost = await approved(`/infra keys rotate ${second?.id}`)
  accountApi.faults.add({ method: 'PUT', path: /api_keys/, kind: 'drop-after', times: 1 })
  await slack.as(people.ada).click(lost, 'Rotate key')
  await untilReport(slack, lost.ts, /Failed/)
})

test('afterwards no token is anywhere except in what its requester was shown', async () => {
  await kill()
  const tokens = accountApi.world.issuedTokens
  expect(tokens.length).toBeGreaterThanOrEqual(10)
  const sinks = await collectSinks()
  expect(Object.entries(sinks).filter(([, text]) => text === '')).toEqual([])

  const found = tokens.flatMap((token) =>
    formsOf(token).flatMap((form) =>
      Object.entries(sinks)
        .filter(([, text]) => text.includes(form))
        .map(([sink]) => sink),
    ),
  )
  expect(found).toEqual([])
  for (const secret of [redis.password, accountApi.key, readKey()]) expect(Object.values(sinks).join('')).not.toContain(secret)

  const showing = slack.journal.filter(({ args }) => tokens.some((token) => JSON.stringify(args).includes(token)))
  expect(showing.length).toBeGreaterThanOrEqual(2)
  expect(showing.map(({ method }) => method).filter((method) => method !== 'response_url' && method !== 'chat.postEphemeral')).toEqual([])
  const seen = Object.values(people).filter((id) => tokens.some((token) => JSON.stringify(slack.ephemerals(id)).includes(token)))
  expect(seen).toEqual([people.ada])
})

/** Returns the forms in which a token could be stored. Its beginning alone counts as a leak. */
function formsOf(token: string): string[] {
  const bytes = Buffer.from(token)
  // The Base64 of a part depends on its offset in the whole text. The middle of one of these three occurs in it.
  const offsets = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(4, 4 + 24),
  )
  return [token, token.slice(0, 12), bytes.toString('hex'), bytes.subarray(0, 12).toString('hex'), encodeURIComponent(token), ...offsets]
}

async function collectSinks(): Promise<Record<string, string>> {
  const visible = [people.ben, people.chiara, people.dov].map((id) => slack.as(id).sees(ops))
  const calls = slack.journal.filter(({ method }) => method !== 'response_url' && method !== 'chat.postEphemeral')
  const folder = join(redis.folder, 'appendonlydir')
  return {
    log: written.join(''),
    monitor: redisCommands.join('\n'),
    keys: await dumpRedis(redis.url),
    'append-only file': readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'latin1'))
      .join('\n'),
    'what others see': JSON.stringify(visible),
    'calls to Slack': JSON.stringify(calls),
    'texts of notifications': JSON.stringify(slack.ephemerals(people.ada).map(({ text }) => text)),
    "operators' pages": answers.join('\n'),
  }
}
