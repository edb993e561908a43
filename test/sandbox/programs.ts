import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'

/** Folders with programs that a usual PATH leaves out. */
const otherFolders = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/snap/bin', '/opt/homebrew/bin', '/opt/local/bin']

/** Returns the first of these programs that exists, on PATH or in other usual folders. A name can also be a whole path. */
export function findProgram(names: string[], path = process.env.PATH ?? ''): string | undefined {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ''), ...otherFolders]
  const candidates = names.flatMap((name) => (/[\\/]/.test(name) ? [name] : folders.map((folder) => join(folder, name))))
  return candidates.find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether this is a Debian or an Ubuntu on which packages can be installed. */
function canInstallWithApt(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && findProgram(['apt-get']) !== undefined
}

/** Installs packages and prints that, because it changes the machine and takes a while. The output of apt is printed only if it failed. */
async function installWithApt(packages: string[], why: string): Promise<void> {
  const say = (sentence: string) => process.stderr.write(`${sentence}\n`)
  say(`${why} Installing ${packages.join(' and ')} with apt-get now (this changes this machine and can take some minutes) …`)
  // Test files run at the same time and may both install something. The second one waits for the lock.
  const apt = (...args: string[]) => runQuietly('apt-get', ['-o', 'DPkg::Lock::Timeout=600', ...args])
  // An unreachable source may be irrelevant for these packages.
  await apt('update')
  const failure = await apt('install', '--yes', '--no-install-recommends', ...packages)
  say(failure === undefined ? '  Installed.' : `  apt-get install failed:\n${failure}`)
}

/** Resolves when a program has ended: with undefined if it succeeded, and otherwise with the end of its output. */
export async function runQuietly(program: string, args: string[], cwd?: string): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said = `${said}${chunk}`.slice(-2_000)))
  const [code] = await once(child, 'close')
  return code === 0 ? undefined : said
}

export interface WantedProgram {
  names: string[]
  packages: string[]
  /** Printed before the installation: `There is no Redis on this machine.` */
  missing: string
  advice: string
}

/** Returns the path of a program. Installs it first if that needs no permission. Throws the advice if there is none. */
export async function findOrInstall(
  { names, packages, missing, advice }: WantedProgram,
  { find = (names: string[]) => findProgram(names), install = installWithApt } = {},
): Promise<string> {
  const found = find(names)
  if (found) return found
  if (canInstallWithApt()) await install(packages, missing)
  const installed = find(names)
  if (installed) return installed
  throw new Error(advice)
}

/** Above the ports that `fetch` refuses, and below those that systems give to outgoing connections: one of these could take the port. */
const ports = { from: 10_100, to: 32_000 }

const mostTries = 100

/** Returns a port on loopback that is free now. It is drawn at random, so that others who do the same hardly ever get the same one. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    const port = randomInt(ports.from, ports.to)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port was found in ${mostTries} tries.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Returns the variables without which some systems start programs slowly or not at all. None of them configures the bot. */
export function systemEnvironment(): Record<string, string> {
  const { PATH, SystemRoot, TZ, BOT_COMPILE_CACHE: NODE_COMPILE_CACHE } = process.env
  const all = { PATH, SystemRoot, TZ, NODE_COMPILE_CACHE }
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
