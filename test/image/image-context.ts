import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Stands for every secret that an operator has beside the code. */
export const canary = 'canary-in-a-coal-mine-7f3a'

/** Copies what an operator has: the code, the compose file, and settings and secrets, which must not get into the image. */
export async function copyProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-image-'))
  const files = ['Dockerfile', '.dockerignore', '.npmrc', 'package.json', 'package-lock.json', 'docker-compose.yml', 'src']
  for (const file of files) await cp(join(root, file), join(folder, file), { recursive: true })
  await mkdir(join(folder, 'secrets'), { mode: 0o755 })
  await writeFile(join(folder, '.env'), `ENVIRONMENT=${canary}\n`)
  await writeFile(join(folder, 'secrets/infra_api_key'), canary)
  await writeFile(join(folder, 'src/../id_rsa'), canary)
  return folder
}

export const versionOf = async () => JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version as string
