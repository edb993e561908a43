import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findOrInstall, freePort } from '../programs.ts'
import { endChild, endsWithUs, temporaryFolder, untilReady } from '../watchdog.ts'

const advice = [
  'There is no Alertmanager on this machine, and this test sends alerts through one. Do one of these and run the command again:',
  '  Debian, Ubuntu:  sudo apt-get install prometheus-alertmanager',
  '  macOS:           download it from https://prometheus.io/download/#alertmanager and put it into a folder of PATH',
].join('\n')

export interface SentAlert {
  labels: Record<string, string>
  annotations?: Record<string, string>
  startsAt?: string
  endsAt?: string
  generatorURL?: string
}

interface AlertmanagerOptions {
  config: string
  /** More files in the folder of the configuration, which it can name without a path. */
  files?: Record<string, string>
  /** The port on which it listens for others of its cluster, and those of these others. Absent: it is alone. */
  cluster?: { port: number; peers: number[] } | undefined
}

/** Starts a real Alertmanager on loopback, with a folder that is removed at the end. It ends with this process. */
export async function startAlertmanager({ config, files = {}, cluster }: AlertmanagerOptions) {
  const program = await findOrInstall({
    names: ['prometheus-alertmanager', 'alertmanager'],
    packages: ['prometheus-alertmanager'],
    missing: 'There is no Alertmanager on this machine.',
    advice,
  })
  const { folder, remove } = await temporaryFolder('alertmanager')
  for (const [name, content] of Object.entries({ ...files, 'alertmanager.yml': config })) {
    await writeFile(join(folder, name), content, { mode: 0o600 })
  }
  const url = `http://127.0.0.1:${await freePort()}`
  const args = [
    `--config.file=${join(folder, 'alertmanager.yml')}`,
    `--storage.path=${folder}`,
    `--web.listen-address=${new URL(url).host}`,
    // Empty: it looks for no others.
    `--cluster.listen-address=${cluster ? `127.0.0.1:${cluster.port}` : ''}`,
    ...(cluster ? ['--cluster.peer-timeout=1s', '--cluster.settle-timeout=2s'] : []),
    ...(cluster?.peers ?? []).map((port) => `--cluster.peer=127.0.0.1:${port}`),
    '--log.level=debug',
  ]
  const child = endsWithUs(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true }))
  const log: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => void log.push(...String(chunk).trimEnd().split('\n')))
  }

  async function stop(): Promise<void> {
    await endChild(child)
    await remove()
  }

  try {
    await untilReady(child, `${url}/-/ready`)
  } catch (error) {
    await stop()
    throw new Error(`Alertmanager did not start: ${(error as Error).message}\n${log.join('\n')}`)
  }

  return {
    log,

    async send(...alerts: SentAlert[]): Promise<void> {
      const body = JSON.stringify(alerts)
      const answer = await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      if (!answer.ok) throw new Error(`Alertmanager refused the alerts: ${answer.status} ${await answer.text()}`)
    },

    /** Silences every alert with this label from now on. */
    async silence(name: string, value: string): Promise<void> {
      const [startsAt, endsAt] = [0, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString())
      const matchers = [{ name, value, isRegex: false, isEqual: true }]
      const body = JSON.stringify({ matchers, startsAt, endsAt, createdBy: 'ada', comment: 'Known.' })
      const answer = await fetch(`${url}/api/v2/silences`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      if (!answer.ok) throw new Error(`Alertmanager refused the silence: ${answer.status} ${await answer.text()}`)
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
