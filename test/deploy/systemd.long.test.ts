import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findOrInstall } from '../sandbox/programs.ts'
import { environment, startProcess } from '../start-process.ts'
import { dropIn, environmentOf, type Mode, modes, valuesOf } from './systemd-unit.ts'

const source = resolve(import.meta.dirname, '../../deploy/systemd')
/** The exposure, in tenths, that docs/systemd.md names. */
const mostExposed = 15

const findAnalyze = () =>
  findOrInstall({
    names: ['systemd-analyze'],
    packages: ['systemd'],
    missing: 'There is no systemd-analyze on this machine, which checks the unit.',
    advice: 'There is no systemd-analyze on this machine. Run the command again on a Linux with systemd 252 or newer.',
  })

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-systemd-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** Copies the unit with the drop-in of a mode. The program is the Node of this run, because verification looks for it. */
async function installUnit(mode: Mode): Promise<string> {
  const folder = await temporaryFolder()
  const unit = join(folder, 'lockkeeper.service')
  const text = await readFile(join(source, 'lockkeeper.service'), 'utf8')
  await writeFile(unit, text.replace('/usr/bin/node', process.execPath))
  await mkdir(`${unit}.d`)
  for (const name of [mode, 'alerts']) await cp(join(source, dropIn(name)), join(folder, dropIn(name)))
  return unit
}

test.each(modes)(
  'systemd has nothing to say about the unit with %s, and finds it little exposed',
  async (mode) => {
    const analyze = await findAnalyze()
    const unit = await installUnit(mode)
    const run = (...args: string[]) => spawnSync(analyze, args, { encoding: 'utf8' })

    const verified = run('verify', '--man=no', unit)
    const rated = run('security', '--offline=true', `--threshold=${mostExposed}`, unit)

    expect({ status: verified.status, output: verified.stdout + verified.stderr }).toEqual({ status: 0, output: '' })
    console.log(rated.stdout.trim().split('\n').at(-1))
    expect({ status: rated.status, errors: rated.stderr }).toEqual({ status: 0, errors: '' })
  },
  300_000,
)

test.each(modes)(
  "the unit's command runs the bot with %s and secrets from credentials, and ends with 0",
  async (mode) => {
    const { env } = await environment({}, { socketMode: mode === 'socket-mode' })
    const [credentials, cache] = [await temporaryFolder(), await temporaryFolder()]
    const variables: Record<string, string> = { ...env, ...environmentOf(mode, { credentials, cache }), ALERTS_PORT: '0' }
    for (const credential of valuesOf('LoadCredential', mode).map((value) => value.split(':')[0] ?? '')) {
      const name = credential.toUpperCase()
      await writeFile(join(credentials, credential), variables[name] ?? 'a'.repeat(64), { mode: 0o400 })
      delete variables[name]
    }
    const [, ...options] = (valuesOf('ExecStart', mode)[0] ?? '').split(' ')
    expect(basename(options.pop() ?? '')).toBe('main.ts')

    const { child, exited, untilReady } = await startProcess(variables, { options })
    await untilReady()
    child.kill('SIGTERM')

    expect(await exited).toBe(0)
  },
  60_000,
)
