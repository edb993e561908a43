import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { freePort } from '../free-port.ts'
import { systemEnvironment } from '../system-environment.ts'

const Answer = z.object({ data: z.object({ result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })) }) })

interface PrometheusOptions {
  program: string
  /** The ports on loopback whose `/metrics` it scrapes every second. */
  scrapes: number[]
}

/** Starts a real Prometheus on loopback, with its own folder. */
export async function startPrometheus({ program, scrapes }: PrometheusOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'lockkeeper-prometheus-'))
  const config = join(folder, 'prometheus.yml')
  const targets = scrapes.map((port) => `127.0.0.1:${port}`)
  const jobs = [{ job_name: 'lockkeeper', static_configs: [{ targets }] }]
  // Prometheus reads JSON as YAML.
  writeFileSync(config, JSON.stringify({ global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: jobs }))
  const port = await freePort()
  const child = spawn(
    program,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { env: systemEnvironment(), stdio: 'ignore' },
  )
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
