import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unlessAborted } from '../../src/domain/within.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { elasticIp, elasticIps } from './account-api/data.ts'
import { documentedLimits, type Limits } from './account-api/rate-limiter.ts'
import { startAccountApi } from './account-api/start-account-api.ts'
import { botVariables, createBotProcess } from './bot-process.ts'
import { type Breakage, createBreakages, createOutage, openStoredRequests, type Rules } from './breakages.ts'
import { commandSuggestions, shortcutSuggestions } from './features.ts'
import { serveConfirmation, trustNewest } from './passkeys.ts'
import { freePort } from './programs.ts'
import { findRedis } from './redis/start-redis.ts'
import { serveSandbox } from './serve-page.ts'
import { startSlack } from './slack/start-slack.ts'

export interface SandboxOptions {
  port?: number
  transport?: 'http' | 'socket'
  moveTakes?: { min: number; max: number }
  /** What the account API answers in a minute. Default: the documented 60 reads and 20 writes. `{}`: everything. */
  limits?: Limits
  env?: Record<string, string>
  botOutput?: (line: string) => void
  /** Called when the bot ends without having been stopped, with words such as `ended with exit code 1`. */
  botEnded?: (how: string) => void
}

/** What the bot may spend, as it is shipped. */
const shippedLimits = { INFRA_READS_PER_MINUTE: '60', INFRA_WRITES_PER_MINUTE: '20', MOVE_POLL_BUDGET: '20' }

const policyText = readFileSync(new URL('./policy.yml', import.meta.url), 'utf8')

const hourMs = 3_600_000

/** How long the bot stays down at most, in ms, while its data is changed. Without an answer of Redis, it would never start again. */
const longestDownMs = 20_000
const timeOfDay = (ms: number) => new Date(ms).toISOString().slice(11, 16)

/** The policy with a window of four hours each day. */
function policyWith(opensAt: number, { approvals, confirmBy }: Rules): string {
  const hours = `from: "${timeOfDay(opensAt)}", to: "${timeOfDay(opensAt + 4 * hourMs)}"`
  return policyText
    .replace(/from: "\d\d:\d\d", to: "\d\d:\d\d"/, hours)
    .replaceAll(/approve: \[(S\w+)\]/g, `approve: {any_of: [$1], approvals: ${approvals}}${confirmBy ? `\n    confirm: ${confirmBy}` : ''}`)
}

/** web-1 has several Elastic IPs here, so that it is worth to evacuate it. */
function moreOfWeb1() {
  return ['203.0.113.14', '203.0.113.15', '203.0.113.16'].map((address) => elasticIp(address, 'storefront', 'ASH', 'web-1'))
}

/** Starts Redis, the stand-ins, the page, and the real bot as its own process. Resolves when all of them are ready. */
export async function startSandbox(options: SandboxOptions = {}) {
  const fixed: Fixed = {
    ports: [await freePort(), await freePort(), await freePort(), await freePort()],
    tokens: [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')],
  }
  const sandbox = await open(options, fixed, startOver)

  /** Everything ends, and starts again at the same addresses and with the same tokens, because the start has printed them. */
  async function startOver(): Promise<void> {
    await sandbox.close()
    Object.assign(sandbox, await open({ ...options, port: Number(new URL(sandbox.url).port) }, fixed, startOver))
  }

  return sandbox
}

interface Fixed {
  ports: readonly [number, number, number, number]
  tokens: readonly [string, string]
}

async function open(options: SandboxOptions, { ports, tokens }: Fixed, startOver: () => Promise<void>) {
  const { transport = 'http', moveTakes = { min: 6_000, max: 12_000 }, limits = documentedLimits } = options
  const closing: (() => Promise<void>)[] = []
  /** Closes everything in the order of dependence: the bot first. */
  async function close(): Promise<void> {
    for (const step of closing.splice(0).reverse()) await step()
  }

  try {
    let breakages: Breakage[] = []
    const commands = commandSuggestions()
    const [port, opsPort, alertsPort, machinesPort] = ports
    const confirmation = serveConfirmation(`http://127.0.0.1:${port}`, () => publicUrl)
    const serve = serveSandbox(() => breakages)
    const slack = await startSlack({
      serve: (...call) => confirmation(...call) || serve(...call),
      commands,
      shortcuts: shortcutSuggestions(),
      ...(options.port === undefined ? {} : { port: options.port }),
    })
    closing.push(slack.close)
    // Browsers take passkeys of no other host without TLS.
    const publicUrl = `http://localhost:${new URL(slack.url).port}`
    // The page shows times in the zone of this machine.
    slack.workspace.zone = Intl.DateTimeFormat().resolvedOptions().timeZone
    const redis = await findRedis({ appendonly: true })
    closing.push(redis.stop)
    const redisUrl = new URL(redis.url)
    const proxy = await startTcpProxy({ host: redisUrl.hostname, port: Number(redisUrl.port || 6379) })
    closing.push(proxy.close)
    redisUrl.host = `127.0.0.1:${proxy.port}`
    const outage = createOutage(proxy)
    const accountApi = await startAccountApi({ moveTakes, limits, data: { elasticIps: [...structuredClone(elasticIps), ...moreOfWeb1()] } })
    closing.push(accountApi.close)

    const [alertsToken, machineToken] = tokens
    // In an existing Redis, data of an earlier sandbox must not be found.
    const redisPrefix = `sandbox-${randomBytes(4).toString('hex')}`
    const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-sandbox-'))
    closing.push(() => rm(folder, { recursive: true, force: true }))
    const policyFile = join(folder, 'policy.yml')
    let opensAt = Date.now() + 1.5 * hourMs
    let rules: Rules = { approvals: 1, confirmBy: undefined }
    await writeFile(policyFile, policyWith(opensAt, rules))
    slack.connectBot(`http://127.0.0.1:${port}/slack/events`)
    const env = {
      ...botVariables({ slack, accountApi, redisUrl: redisUrl.href, socketMode: transport === 'socket' }),
      ...(limits === documentedLimits ? shippedLimits : {}),
      HOST: '127.0.0.1',
      REDIS_PREFIX: redisPrefix,
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      OPS_PORT: String(opsPort),
      ALERTS_PORT: String(alertsPort),
      ALERTS_TOKEN: alertsToken,
      MACHINES_PORT: String(machinesPort),
      CI_TOKEN: machineToken,
      POLICY_FILE: policyFile,
      APPROVAL_TTL: '4h',
      MOVE_POLL_INTERVAL: '2s',
      MOVE_TIMEOUT: '2m',
      ENVIRONMENT: 'sandbox',
      STATE_KEY: randomBytes(32).toString('hex'),
      ...options.env,
    }
    const bot = createBotProcess({ opsPort, onLine: options.botOutput, onEnd: options.botEnded, env })
    let restarting = Promise.resolve()
    closing.push(async () => {
      await restarting
      await bot.kill('SIGTERM')
    })
    await bot.start()
    const requests = openStoredRequests({ ...env, REDIS_URL: redis.url })
    closing.push(async () => requests.close())
    const alerts = { url: `http://127.0.0.1:${alertsPort}/alerts/alertmanager`, token: alertsToken }
    const machine = { url: `http://127.0.0.1:${machinesPort}`, token: machineToken }
    /** Restarts the bot with the policy as it is then, after the restarts before it: two at once would end each other's bot. */
    function restart(whileDown: () => Promise<void> = async () => {}): Promise<void> {
      const turn = restarting.then(() => restartNow(whileDown))
      restarting = turn.catch(() => {})
      return turn
    }
    async function restartNow(whileDown: () => Promise<void>): Promise<void> {
      outage.turn(false)
      await bot.kill('SIGTERM')
      await writeFile(policyFile, policyWith(opensAt, rules))
      try {
        await unlessAborted(AbortSignal.timeout(longestDownMs), whileDown())
      } finally {
        await bot.start()
      }
    }
    /** Makes the hours of the policy older. `shift`: what else becomes older meanwhile. */
    async function passTime(ms: number, shift: () => Promise<void>): Promise<void> {
      // If the window opens meanwhile, it has just opened, so that nothing is missed that waits for it.
      opensAt = opensAt > Date.now() ? Math.max(opensAt - ms, Date.now() - 10 * 60_000) : opensAt - ms
      await restart(shift)
    }
    async function changeRules(change: Partial<Rules>): Promise<void> {
      rules = { ...rules, ...change }
      commands.splice(0, commands.length, ...commandSuggestions(rules.confirmBy))
      await restart()
    }
    const trusting = () => trustNewest({ ...env, REDIS_URL: redis.url })
    breakages = createBreakages({
      slack,
      accountApi,
      requests,
      alerts,
      machine,
      passTime,
      changeRules,
      trustNewest: trusting,
      outage,
      startOver,
    })
    return { url: slack.url, slack, accountApi, redis, redisPrefix, bot, machine, close }
  } catch (error) {
    await close()
    throw error
  }
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>
