import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findOrInstall, freePort } from '../programs.ts'
import { startWatchdog } from '../watchdog.ts'

const advice = [
  'There is no Alertmanager on this machine, and this test sends alerts through one. Do one of these and run the command again:',
  '  Debian, Ubuntu:  sudo apt-get install prometheus-alertmanager',
  '  macOS:           download it from https://prometheus.io/download/#alertmanager and put it into a folder of PATH',
].join('\n')

export function findAlertmanager(): Promise<string> {
  return findOrInstall({
    names: ['prometheus-alertmanager', 'alertmanager'],
    packages: ['prometheus-alertmanager'],
    missing: 'There is no Alertmanager on this machine.',
    advice,
  })
}

export interface AlertmanagerOptions {
  config: string
  /** Additional files in the folder of the configuration, which it can name without a path. */
  files?: Record<string, string>
  /** Its address as people know it, which payloads name. Default: the one that it listens on. */
  externalUrl?: string
}

export interface SentAlert {
  labels: Record<string, string>
  annotations?: Record<string, string>
  startsAt?: string
  endsAt?: string
  generatorURL?: string
}

/** The time limit for the start, in ms. */
const patienceMs = 20_000

/** Starts a real Alertmanager on loopback, without a cluster and with a folder that is removed at the end. It ends with this process. */
export async function startAlertmanager({ config, files = {}, externalUrl }: AlertmanagerOptions) {
  const program = await findAlertmanager()
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-alertmanager-'))
  const watchdog = startWatchdog({ folder })
  const log: string[] = []
  for (const [name, content] of Object.entries({ ...files, 'alertmanager.yml': config })) {
    await writeFile(join(folder, name), content, { mode: 0o600 })
  }
  const url = `http://127.0.0.1:${await freePort()}`
  const child = spawn(
    program,
    [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${folder}`,
      `--web.listen-address=${new URL(url).host}`,
      // Empty: it looks for no others.
      '--cluster.listen-address=',
      '--log.level=debug',
      ...(externalUrl === undefined ? [] : [`--web.external-url=${externalUrl}`, '--web.route-prefix=/']),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  )
  if (child.pid !== undefined) watchdog.guard(child.pid)
  const keep = (chunk: Buffer) => void log.push(...String(chunk).trimEnd().split('\n'))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)

  async function stop(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
    await watchdog.end()
  }

  try {
    await untilReady(child, url)
  } catch (error) {
    await stop()
    throw new Error(`Alertmanager did not start: ${(error as Error).message}\n${log.join('\n')}`)
  }

  return {
    url,
    log,

    async send(...alerts: SentAlert[]): Promise<void> {
      const body = JSON.stringify(alerts)
      const answer = await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      if (!answer.ok) throw new Error(`Alertmanager refused the alerts: ${answer.status} ${await answer.text()}`)
    },

    /** How many notifications it has tried to send, and how many of these were not accepted. */
    async notifications(): Promise<{ tried: number; failed: number }> {
      const metrics = await (await fetch(`${url}/metrics`)).text()
      const count = (name: string) => Number(new RegExp(`^${name}{integration="webhook"} (\\d+)`, 'm').exec(metrics)?.[1])
      return { tried: count('alertmanager_notification_requests_total'), failed: count('alertmanager_notification_requests_failed_total') }
    },

    stop,
  }
}
export type Alertmanager = Awaited<ReturnType<typeof startAlertmanager>>

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended with ${child.exitCode ?? child.signalCode}.`)
    const answer = await fetch(`${url}/-/ready`).catch(() => undefined)
    if (answer?.ok) return
    await delay(50)
  }
  throw new Error(`not ready after ${patienceMs / 1000} s.`)
}
