import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { AccountApi } from './account-api/start-account-api.ts'
import { systemEnvironment } from './programs.ts'
import type { Slack } from './slack/slack.ts'
import { endChild, endsWithUs, isRunning, untilReady } from './watchdog.ts'

const root = resolve(import.meta.dirname, '..', '..')

export const botPrograms = {
  main: join(root, 'src/main.ts'),
  verify: join(root, 'src/audit/verify.ts'),
  setup: join(root, 'scripts/setup.ts'),
  'bot-for-faults': join(root, 'test/faults/bot-for-faults.ts'),
}

/** Returns the file to run: of `npm test` a bundle, which starts in half the time. */
export function botProgram(name: keyof typeof botPrograms): string {
  const { BOT_BUNDLES: bundles } = process.env
  return bundles === undefined ? botPrograms[name] : join(bundles, `${name}.mjs`)
}

/**
 * Fills a compile cache as the build of the image does: without a configuration the bot ends by itself. A killed process would not write the
 * cache.
 */
export async function fillCompileCache(main: string, folder: string): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: folder }
  await once(spawn(process.execPath, [main], { env, stdio: 'ignore' }), 'exit')
}

interface Surroundings {
  slack: Pick<Slack, 'botToken' | 'appToken' | 'signingSecret' | 'apiUrl'>
  accountApi: Pick<AccountApi, 'url' | 'key'>
  redisUrl: string
  socketMode?: boolean
}

/** Tests make more calls in a minute than the account allows. Those of the limits set them. */
export const withoutLimits = { INFRA_READS_PER_MINUTE: '99999', INFRA_WRITES_PER_MINUTE: '99999', MOVE_POLL_BUDGET: '99999' }

/** Returns the variables of a bot between these stand-ins: with its own prefix in Redis, free ports, and the group on call as approvers. */
export function botVariables({ slack, accountApi, redisUrl, socketMode = false }: Surroundings) {
  return {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(socketMode ? { SLACK_APP_TOKEN: slack.appToken } : { SLACK_SIGNING_SECRET: slack.signingSecret }),
    SLACK_API_URL: slack.apiUrl,
    INFRA_API_URL: accountApi.url,
    INFRA_API_KEY: accountApi.key,
    ...withoutLimits,
    REDIS_URL: redisUrl,
    REDIS_PREFIX: `test-${randomBytes(6).toString('hex')}`,
    APPROVERS: 'S0ONCALL01',
    PORT: '0',
    OPS_PORT: '0',
  }
}

interface BotProcessOptions {
  env: Record<string, string>
  opsPort: number
  onLine?: (line: string) => void
  onEnd?: (how: string) => void
}

/** Runs the real bot as in production: as its own process, from its real entry point, which `npm test` bundles. */
export function createBotProcess({ env, opsPort, onLine, onEnd }: BotProcessOptions) {
  const lines: string[] = []
  let bot: ChildProcess | undefined

  async function start(): Promise<void> {
    if (isRunning(bot)) throw new Error('The bot is already running.')
    const from = lines.length
    const child = endsWithUs(
      spawn(process.execPath, [botProgram('main')], {
        cwd: root,
        env: { ...systemEnvironment(), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        // Its own process group keeps Ctrl+C in a terminal from the bot until the page is closed.
        detached: true,
      }),
    )
    bot = child
    child.once('exit', (code, signal) => {
      if (bot === child) onEnd?.(signal ? `was ended by ${signal}` : `ended with exit code ${code}`)
    })
    const written = [child.stdout, child.stderr].map((stream) => relay(stream))
    try {
      await untilReady(child, `http://127.0.0.1:${opsPort}/readyz`)
    } catch (error) {
      // Another start may have followed meanwhile, and its bot stays.
      if (bot === child) bot = undefined
      await endChild(child, 'SIGKILL')
      await Promise.all(written)
      throw new Error(`The bot did not start. ${(error as Error).message}\n${lines.slice(from).join('\n')}`)
    }
  }

  async function relay(stream: NodeJS.ReadableStream): Promise<void> {
    for await (const line of createInterface({ input: stream })) {
      lines.push(line)
      onLine?.(line)
    }
  }

  async function kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = bot
    bot = undefined
    await endChild(child, signal)
  }

  return { start, kill }
}
