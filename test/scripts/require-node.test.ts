import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Makes a folder for each of these versions, with a program `node` that says that it is this version. */
function installed(versions: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'require-node-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return versions.map((version) => {
    const bin = join(folder, version)
    mkdirSync(bin)
    writeFileSync(join(bin, 'node'), `#!/bin/sh\ncase "$1" in --print) echo ${version};; *) echo v${version};; esac\n`)
    chmodSync(join(bin, 'node'), 0o755)
    return bin
  })
}

/** Runs the guard as that version of Node would. `folders`: what else is in the PATH. */
function guard(version: string, args: string[], folders: string[] = []) {
  const pretended = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${version}'}})`
  const env = { PATH: ['relative/bin', ...folders].join(delimiter) }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pretended, join(root, 'scripts/require-node.js'), ...args], {
    env,
    encoding: 'utf8',
  })
  return { status, stdout: stdout.trim(), stderr: stderr.trim() }
}

const own = resolve(process.execPath, '..')

test.each([
  ['20.20.2', 1, 'Lockkeeper needs Node 24 or newer, and this is Node 20.20.2'],
  ['24.0.0', 0, ''],
])('a command with Node %s ends with %i, and says why', (version, status, why) => {
  const ended = guard(version, [])

  expect([ended.status, ended.stdout]).toEqual([status, ''])
  expect(ended.stderr.slice(0, why.length || undefined)).toBe(why)
})

test.each([
  ['20.20.2', 1, '', /^Lockkeeper needs Node 24 or newer/],
  ['24.9.9', 0, own, /^Warning: this is Node 24\.9\.9 .*, without the security release 24\.22\.1\. Install a newer Node 24/],
  ['24.22.0', 0, own, /^Warning: this is Node 24\.22\.0 /],
  ['24.22.1', 0, own, /^$/],
  ['26.0.0', 0, own, /^$/],
])('npm start with Node %s alone', (version, status, folder, said) => {
  expect(guard(version, ['--newest'])).toEqual({ status, stdout: folder, stderr: expect.stringMatching(said) })
})

test('npm start takes the newest Node in the PATH, as the packages of Node follow its releases late', () => {
  const [old = '', newer = '', newest = ''] = installed(['22.1.0', '24.22.9', '24.22.10'])

  expect(guard('24.22.0', ['--newest'], [old, newer, newest])).toEqual({ status: 0, stdout: newest, stderr: '' })
  expect(guard('20.0.0', ['--newest'], [newer])).toEqual({ status: 0, stdout: newer, stderr: '' })
  expect(guard('24.23.0', ['--newest'], [old, newest])).toEqual({ status: 0, stdout: own, stderr: '' })
})

test.each([
  ['24.21.9', 1],
  ['24.22.0', 1],
  ['24.22.1', 0],
  ['24.22.10', 0],
  ['25.0.0', 0],
])('a build of the image from Node %s ends with %i', (version, status) => {
  const [check = ''] = /(?<=^RUN )printf [^\n]*\\\n[^\n]*/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
  const built = spawnSync('/bin/sh', ['-c', check], { env: { PATH: `${installed([version])[0]}:/usr/bin:/bin` }, encoding: 'utf8' })

  expect(built).toMatchObject({ status, stdout: '', stderr: status === 0 ? '' : expect.stringContaining(`has Node v${version}, without`) })
})
