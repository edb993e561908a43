import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const run = promisify(execFile)

/** Unpacks a package of this Debian into a folder that is removed with the test. Installs nothing. Returns the folder. */
export async function unpackPackage(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-package-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  process.stderr.write(`Downloading Debian's package ${name} with apt-get. It is unpacked for this test and not installed …\n`)
  // An unreachable source may be irrelevant for this package.
  await run('apt-get', ['update']).catch(() => {})
  await run('apt-get', ['download', name], { cwd: folder })
  const [archive = ''] = await readdir(folder)
  await run('dpkg', ['-x', archive, '.'], { cwd: folder })
  return folder
}
