import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { findProgram } from './find-program.ts'

/** Whether this is a Debian or an Ubuntu on which packages can be installed. */
export function canInstallWithApt(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && findProgram(['apt-get']) !== undefined
}

/**
 * Installs packages and prints that, because it changes the machine and takes a while. Returns whether it worked. The output of apt is
 * printed only if it did not.
 */
export async function installWithApt(packages: string[], why: string): Promise<boolean> {
  const say = (sentence: string) => process.stderr.write(`${sentence}\n`)
  say(`${why} Installing ${packages.join(' and ')} with apt-get now (this changes this machine and can take some minutes) …`)
  const began = Date.now()
  const install = ['install', '--yes', '--no-install-recommends', ...packages]
  say('  apt-get update')
  // An unreachable source may be irrelevant for these packages.
  await apt(['update'])
  say(`  apt-get ${install.join(' ')}`)
  const failure = await apt(install)
  if (failure !== undefined) {
    say(`  apt-get install failed:\n${failure}`)
    return false
  }
  say(`  Installed, in ${Math.round((Date.now() - began) / 1000)} s.`)
  return true
}

/** Returns undefined if it worked, otherwise the end of the output. */
async function apt(args: string[]): Promise<string | undefined> {
  // Test files run at the same time and may both install something. The second one waits for the lock.
  const child = spawn('apt-get', ['-o', 'DPkg::Lock::Timeout=600', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const keep = (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const [code] = await once(child, 'close')
  return code === 0 ? undefined : said
}
