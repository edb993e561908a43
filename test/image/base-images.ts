import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findOrInstall, findProgram } from '../sandbox/programs.ts'

const run = promisify(execFile)

/** The names under which the Dockerfile and docker-compose.yml want their bases, and what the real ones set. */
const bases: Record<string, string> = { 'node:24-slim': 'CMD ["node"]', 'redis:8.2': 'WORKDIR /data' }
const names = Object.keys(bases)

/**
 * Makes images with the names of the bases from Debian's packages, for an engine that cannot pull: a minimal Debian with this Node, this
 * machine's npm and Debian's Redis. They are no replacement for the real ones: the public checks build with those.
 */
export async function makeBaseImages(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const debootstrap = await findOrInstall({
    names: ['debootstrap'],
    packages: ['debootstrap'],
    missing: 'There is no debootstrap on this machine, which makes the base of the image.',
    advice: 'The base images cannot be pulled, and there is no debootstrap. Run the command again where images can be pulled.',
  })
  const base = join(folder, 'base')
  process.stderr.write(`Making ${names.join(' and ')} from Debian's packages, because images cannot be pulled (about 2 minutes) …\n`)
  await run(debootstrap, ['--variant=minbase', '--include=ca-certificates,redis-server', 'bookworm', base, await mirror()], {
    maxBuffer: 100_000_000,
  })
  await addNode(base)
  await mkdir(join(base, 'data'))
  await run('chroot', [base, 'sh', '-c', 'useradd --uid 1000 --create-home node && chown redis:redis /data'])
  await Promise.all(names.map((name) => importImage(base, name, environment)))
}

/** Returns the address from which this machine installs its packages. */
async function mirror(): Promise<string> {
  const { stdout } = await run('apt-cache', ['policy', 'base-files'])
  return /(https?:\/\/\S+debian\/?)\s+bookworm\/main/.exec(stdout)?.[1] ?? 'http://deb.debian.org/debian'
}

/** Adds the Node of this run, and npm as this machine has it: with the certificates that it trusts. */
async function addNode(base: string): Promise<void> {
  const local = join(base, 'usr/local')
  await cp(process.execPath, join(local, 'bin/node'))
  await chmod(join(local, 'bin/node'), 0o755)
  const cli = await realpath(findProgram(['npm'], '/usr/bin:/usr/local/bin') ?? 'npm')
  await cp(dirname(dirname(cli)), join(local, 'lib/node_modules/npm'), { recursive: true })
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  const certificates = '/etc/ssl/certs/ca-certificates.crt'
  await writeFile(join(base, certificates), await readFile(certificates))
  await mkdir(join(local, 'etc'), { recursive: true })
  await writeFile(join(local, 'etc/npmrc'), `cafile=${certificates}\n`)
}

async function importImage(base: string, name: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const archive = spawn('tar', ['--create', '--directory', base, '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const load = spawn('docker', ['import', '--change', bases[name] ?? '', '-', name], {
    env: environment,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  archive.stdout.pipe(load.stdin)
  const [code] = await once(load, 'close')
  if (code !== 0) throw new Error(`docker import ${name} ended with ${code}`)
}
