import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { cpus, release, totalmem, type } from 'node:os'
import { promisify } from 'node:util'
import { findRedisServer } from '../sandbox/redis/start-redis.ts'

/** Describes the machine that the figures were measured on, in one paragraph. */
export async function describeMachine(): Promise<string> {
  const [first, ...others] = cpus()
  const { stdout } = await promisify(execFile)(await findRedisServer(), ['--version'])
  const os = /^PRETTY_NAME="?([^"\n]*)/m.exec(await readFile('/etc/os-release', 'utf8').catch(() => ''))?.[1]
  return [
    `${others.length + 1} × ${first?.model.trim() ?? 'unknown CPU'}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `${os ?? type()} (${type()} ${release()})`,
    `Node ${process.versions.node}`,
    `Redis ${/v=([\d.]+)/.exec(stdout)?.[1] ?? 'unknown'}, append-only`,
    'everything on loopback',
  ].join(', ')
}
