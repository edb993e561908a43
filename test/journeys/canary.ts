import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createKeys } from '../../src/redis/key-names.ts'
import { startScene } from '../faults/scene.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { dumpRedis } from './dump-redis.ts'
import { general, ops, people, untilReport } from './world.ts'

/** Starts a bot with the most detailed log, and notes everything that leaves it. */
export async function startCanary() {
  let close = async () => {}
  const scene = await startScene({
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
    onEnd: (end) => {
      close = end
    },
  })
  const { slack, accountApi, redis, bots } = scene
  const redisCommands: string[] = []
  const answers: string[] = []
  const monitor = await scene.admin.monitor()
  monitor.on('monitor', (_, args: string[]) => redisCommands.push(args.join(' ')))
  slack.invite(general, 'U0LOCKKEEP')
  await bots.start(0)
  slack.connectBot(bots.url(0))

  async function end(): Promise<void> {
    monitor.disconnect()
    await close()
  }

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

  /** Waits for the first copy of the account's keys. What is in it is not new. */
  async function untilKeysAreKnown(): Promise<void> {
    const seen = createKeys(scene.prefix).outside
    await expect.poll(() => scene.admin.get(seen)).toContain('"apiKeys":{"at"')
  }

  function keyNamed(name: string) {
    return accountApi.world.data.apiKeys.find((key) => key.name.startsWith(`${name} [`))
  }

  const createKey = (name: string) => approved(`/infra keys create ${name}`)

  /** Ada makes a key that Slack does not show: it refuses the message, or is unavailable. */
  async function hideKey(kind: 'error' | 'status'): Promise<void> {
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

  /** Ada makes a key whose creation gets no usable answer. */
  async function loseKey(kind: 'drop-after' | 'html' | 'truncate' | 'instead'): Promise<void> {
    const card = await createKey(`lost-${kind}`)
    // The error page of a proxy quotes the token.
    const instead = ({ body }: { body: unknown }) => ({ status: 502, type: 'text/html', text: `<pre>${JSON.stringify(body)}</pre>` })
    const fault = accountApi.faults.add({ method: 'POST', path: /api_keys/, kind, times: 1, instead })
    await slack.as(people.ada).click(card, 'Create key')
    await untilReport(slack, card.ts, /Failed/)
    expect(fault.fired).toBe(1)
    expect(keyNamed(`lost-${kind}`)).toBeUndefined()
  }

  /** Kills the bot. No token may be anywhere except in what Ada was shown. `tokens`, `shown`: the least tokens, and messages with one. */
  async function expectNoLeak({ tokens: least, shown }: { tokens: number; shown: number }): Promise<void> {
    await kill()
    const tokens = accountApi.world.issuedTokens
    expect(tokens.length).toBeGreaterThanOrEqual(least)
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
    expect(showing.length).toBeGreaterThanOrEqual(shown)
    expect(showing.map(({ method }) => method).filter((method) => method !== 'response_url' && method !== 'chat.postEphemeral')).toEqual([])
    const seen = Object.values(people).filter((id) => tokens.some((token) => JSON.stringify(slack.ephemerals(id)).includes(token)))
    expect(seen).toEqual([people.ada])
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

  return {
    slack,
    accountApi,
    bots,
    kill,
    approved,
    createKey,
    untilKeysAreKnown,
    keyNamed,
    hideKey,
    loseKey,
    expectNoLeak,
    end,
  }
}
export type Canary = Awaited<ReturnType<typeof startCanary>>

/** Returns the forms in which a token or a password could be stored. Its beginning alone counts as a leak. */
export function formsOf(token: string): string[] {
  const bytes = Buffer.from(token)
  // The Base64 of a part depends on its offset in the whole text. The middle of one of these three occurs in it.
  const offsets = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(4, 4 + 24),
  )
  return [token, token.slice(0, 12), bytes.toString('hex'), bytes.subarray(0, 12).toString('hex'), encodeURIComponent(token), ...offsets]
}
