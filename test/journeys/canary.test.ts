import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scene, startScene } from '../faults/scene.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { dumpRedis } from './dump-redis.ts'
import { general, ops, people, untilReport, untilShown } from './world.ts'

let scene: Scene
let { slack, accountApi, redis, bots } = {} as Scene
let end = async () => {}
let monitor: Redis
const redisCommands: string[] = []
const answers: string[] = []

beforeAll(async () => {
  scene = await startScene({
    atOnce: 0,
    env: {
      LOG_LEVEL: 'trace',
      STATE_KEY: 'a-state-key-of-the-canary-32-characters',
      SHORT_MS: '1000',
      MOVE_POLL_INTERVAL: '200ms',
      WATCH_CHANGES: 'true',
      OPS_CHANNEL: general,
      ACCOUNT_WINDOW_MS: '2000',
      REPEAT_MS: '500',
    },
    onEnd: (close) => {
      end = close
    },
  })
  ;({ slack, accountApi, redis, bots } = scene)
  monitor = await scene.admin.monitor()
  monitor.on('monitor', (_, args: string[]) => redisCommands.push(args.join(' ')))
  slack.invite(general, 'U0LOCKKEEP')
  await bots.start(0)
  slack.connectBot(bots.url(0))
}, 120_000)

afterAll(async () => {
  monitor?.disconnect()
  await end()
})

/** Kills the bot without a shutdown, after its pages were read. */
async function kill(): Promise<void> {
  for (const page of ['/healthz', '/readyz', '/status', '/metrics']) {
    const answer = await bots.page(0, page).catch(() => undefined)
    if (answer) answers.push(await answer.text())
  }
  await bots.kill(0)
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

test('a key that ends: it is extended, and a new one takes its place', async () => {
  const card = await createKey('ending for 2d')
  await slack.as(people.ada).click(card, 'Create key')
  await untilReport(slack, card.ts, /Done/)
  for (const [command, button] of [['extend ending 3d'], ['rotate ending keeping the old one for 1d', 'Rotate key']] as const) {
    const known = slack.messages(ops).length
    await slack.as(people.ada).command(`/infra keys ${command}`, { channel: ops })
    const asked = await slack.until(() => slack.messages(ops)[known])
    await slack.as(people.ben).click(asked, 'Approve')
    const approvedCard = () => slack.messages(ops).find(({ ts, text }) => ts === asked.ts && /\*Approved\.\*/.test(text))
    if (button) await slack.as(people.ada).click(await slack.until(approvedCard), button)
    await untilReport(slack, asked.ts, /Done/)
  }
  expect(accountApi.world.data.apiKeys.filter(({ name }) => name.startsWith('ending ['))).toHaveLength(2)
})

test('a key that somebody else creates on a watched account is reported to the operators', async () => {
  const made = await fetch(`${accountApi.url}/auth/api_keys`, {
    method: 'POST',
    headers: { authorization: accountApi.key, 'content-type': 'application/json' },
    body: JSON.stringify({ data: { type: 'api_keys', attributes: { name: 'by-hand' } } }),
  })
  expect(made.status).toBe(201)
  await slack.until(() => slack.messages(general).find(({ text }) => text.includes('API key by-hand was created outside Lockkeeper')), {
    timeoutMs: 60_000,
  })
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

test.each(['drop-after', 'html', 'truncate', 'instead'] as const)('a key whose creation gets no usable answer: %s', async (kind) => {
  const card = await createKey(`lost-${kind}`)
  // The error page of a proxy quotes the token.
  const instead = ({ body }: { body: unknown }) => ({ status: 502, type: 'text/html', text: `<pre>${JSON.stringify(body)}</pre>` })
  const fault = accountApi.faults.add({ method: 'POST', path: /api_keys/, kind, times: 1, instead })
  await slack.as(people.ada).click(card, 'Create key')
  await untilReport(slack, card.ts, /Failed/)
  expect(fault.fired).toBe(1)
  expect(keyNamed(`lost-${kind}`)).toBeUndefined()
})

const isShown = (name: string) => slack.ephemerals(people.ada).some(({ text }) => text.includes(`Your new API key ${name}`))

/** Each lets what follows take long, and returns whether the moment has come. */
const moments: Record<string, (name: string) => () => boolean> = {
  'before it has the answer': (name) => {
    accountApi.faults.add({ method: 'POST', path: /api_keys/, kind: 'delay', delayMs: 5_000, times: 1 })
    return () => keyNamed(name) !== undefined
  },
  'while it shows the token': () => {
    const when = (args: object) => JSON.stringify(args).includes('Your new API key')
    const fault = slack.faults.add({ method: 'response_url', kind: 'delay', delayMs: 5_000, times: 1, when })
    return () => fault.fired === 1
  },
  'after the token was shown, before it is noted': (name) => {
    const stop = slack.subscribe(() => {
      if (!isShown(name)) return
      stop()
      bots.signal(0, 'SIGKILL')
    })
    return () => isShown(name)
  },
}

test.each(Object.entries(moments))(
  'a bot that is killed %s leaves no key that may not have been seen',
  async (moment, arrange) => {
    const name = `killed-${Object.keys(moments).indexOf(moment)}`
    const card = await createKey(name)
    const hasCome = arrange(name)
    const click = slack.as(people.ada).click(card, 'Create key')
    await expect.poll(hasCome).toBe(true)

    await kill()
    await click
    await bots.start(0)

    await untilReport(slack, card.ts, /Failed/)
    expect(keyNamed(name)).toBeUndefined()
  },
  60_000,
)

test('a key that is rotated, and one whose rotation gets no answer', async () => {
  const [first, second] = accountApi.world.data.apiKeys.filter((key) => key.token !== accountApi.key && !key.name.includes('['))
  const shown = await approved(`/infra keys rotate ${first?.id}`)
  await slack.as(people.ada).click(shown, 'Rotate key')
  await untilReport(slack, shown.ts, /Done/)

  const lost = await approved(`/infra keys rotate ${second?.id}`)
  accountApi.faults.add({ method: 'PUT', path: /api_keys/, kind: 'drop-after', times: 1 })
  await slack.as(people.ada).click(lost, 'Rotate key')
  await untilReport(slack, lost.ts, /Failed.*Its old token no longer works/)
  expect(accountApi.world.data.apiKeys.map(({ id }) => id)).not.toContain(second?.id)
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
  for (const secret of [redis.password, accountApi.key]) expect(Object.values(sinks).join('')).not.toContain(secret)

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
    log: bots.log.join('\n'),
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
