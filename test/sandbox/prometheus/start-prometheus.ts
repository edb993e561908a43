import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { canInstallWithApt, findProgram, freePort, systemEnvironment } from '../programs.ts'
import { endsWithUs } from '../watchdog.ts'

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
  const found = lookFor(process.env.PATH ?? '') ?? lookFor(join(unpacked, 'usr/bin'))
  if (found) return found
  if (canInstallWithApt()) await unpackWithApt()
  const now = lookFor(join(unpacked, 'usr/bin'))
  if (now) return now
  throw new Error(advice)
}

function lookFor(path: string): Prometheus | undefined {
  const [prometheus, promtool] = [findProgram(['prometheus'], path), findProgram(['promtool'], path)]
  return prometheus && promtool ? { prometheus, promtool } : undefined
}

async function unpackWithApt(): Promise<void> {
  const say = (sentence: string) => process.stderr.write(`${sentence}\n`)
  say(
    `There is no Prometheus on this machine. Unpacking Debian's package into ${unpacked} now (this takes a minute and installs nothing) …`,
  )
  mkdirSync(dirname(unpacked), { recursive: true })
  const folder = mkdtempSync(`${unpacked}-`)
  try {
    say('  apt-get update')
    // An unreachable source may be irrelevant for this package.
    await run('apt-get', ['update'], folder)
    say('  apt-get download prometheus')
    const failure = await run('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', 'prometheus'], folder)
    const archive = readdirSync(folder).find((file) => file.endsWith('.deb'))
    if (!archive) {
      say(`  apt-get download failed:\n${failure}`)
      return
    }
    await run('dpkg-deb', ['--extract', archive, 'whole'], folder)
    // Two test files may do this at the same time. The first one wins.
    if (!existsSync(unpacked)) renameSync(join(folder, 'whole'), unpacked)
    say('  Unpacked.')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function run(program: string, args: string[], cwd: string): Promise<string | undefined> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const keep = (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const [code] = await once(child, 'close')
  return code === 0 ? undefined : said
}

const Answer = z.object({ data: z.object({ result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })) }) })

interface PrometheusOptions {
  program: string
  /** The ports on loopback whose `/metrics` it scrapes every second. */
  scrapes: number[]
}

export async function startPrometheus({ program, scrapes }: PrometheusOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'lockkeeper-prometheus-'))
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
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    rmSync(folder, { recursive: true, force: true })
  }

  const deadline = Date.now() + 20_000
  while (!(await fetch(`${base}/-/ready`).catch(() => undefined))?.ok) {
    if (Date.now() > deadline) {
      await stop()
      throw new Error('Prometheus was not ready after 20 s.')
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }

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
