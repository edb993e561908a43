import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

// The platform packages of Node come from the npm registry, and not from those who make Node. This compares their binary with the official one.

const downloadMs = 300_000

interface NodePackage {
  /** As in the names of Node's archives: `linux-x64`. */
  platform: string
  version: string
  /** The path of the binary that npm installed. */
  binary: string
}

/**
 * Returns what is wrong with the binary of a package, in words, or undefined if it is the one of the official archive. The archive must have
 * the checksum that `SHASUMS256.txt` names. Throws if one of them cannot be downloaded. `source` is the address of Node's releases.
 */
export async function differenceFromOfficial({ platform, version, binary }: NodePackage, source: string): Promise<string | undefined> {
  const release = `${source}/v${version}`
  const folder = `node-v${version}-${platform}`
  const name = `${folder}.tar.gz`
  const sums = (await download(`${release}/SHASUMS256.txt`)).toString()
  const expected = sums
    .split('\n')
    .find((line) => line.endsWith(`  ${name}`))
    ?.slice(0, 64)
  if (expected === undefined) return `SHASUMS256.txt of ${version} does not list ${name}.`
  const archive = await download(`${release}/${name}`)
  if (hashOf(archive) !== expected) return `${name} does not have the checksum that SHASUMS256.txt names.`
  const official = await unpack(archive, `${folder}/bin/node`)
  if (hashOf(official) === hashOf(await readFile(binary))) return undefined
  return `${binary} is not the binary of the official ${name}. Do not run it.`
}

async function download(url: string): Promise<Buffer> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(downloadMs) })
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

async function unpack(archive: Buffer, member: string): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'compare-node-'))
  try {
    await writeFile(join(directory, 'archive.tar.gz'), archive)
    await promisify(execFile)('tar', ['-xzf', 'archive.tar.gz', member], { cwd: directory })
    return await readFile(join(directory, member))
  } finally {
    await rm(directory, { recursive: true })
  }
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Returns the platform packages of package.json that npm installed in this directory. CI has none for Windows. */
export function installedPackages(root: string): NodePackage[] {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  return Object.entries(optionalDependencies).flatMap(([name, version]) => {
    const platform = name.replace(/^node-/, '')
    const binary = join(root, 'node_modules', name, 'bin/node')
    return existsSync(binary) ? [{ platform, version, binary }] : []
  })
}

if (process.argv[1] === import.meta.filename) {
  const packages = installedPackages(process.cwd())
  const problems = await Promise.all(packages.map((each) => differenceFromOfficial(each, 'https://nodejs.org/dist')))
  const lines = packages.length === 0 ? ['No platform package of Node is installed, so nothing was compared.'] : problems
  for (const line of lines) if (line !== undefined) process.stderr.write(`${line}\n`)
  if (lines.some((line) => line !== undefined)) process.exitCode = 1
}
