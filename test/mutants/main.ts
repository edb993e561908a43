import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './mutate.ts'
import { matching, topics } from './topics.ts'

// `npm run test:mutants`: makes one small change after the other in a copy of the repository, and tells which of them no test notices.
// Stryker's runner does not know this version of Vitest.

const usage = `npm run test:mutants [-- <topic>…] [-- --sample=30] [-- --seed=1] [-- --results=<file>]. Topics: ${Object.keys(topics).join(', ')}.`

/** Tests of single parts that import a file over at most three modules are near, and are run first. Of some files there would be a hundred. */
const near = { distance: 3, atMost: 20 }

const large = /^test\/(attacks|faults|image|journeys|model|page|start\.|manifest)|\.long\.test\.ts$/

/** The pages repeat declarations. Their test would notice every change of these, and none that is wrong. */
const generatedPages = 'test/docs/generated.test.ts'

interface SampledMutant extends Mutant {
  id: string
  topic: string
  file: string
}

/** A line of the results. A mutant with the same id, file and change is not tried again. */
interface Tried extends Omit<SampledMutant, 'text'> {
  killedBy: string | null
}

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    results: { type: 'string', default: 'test/results/mutants.jsonl' },
  },
})
const chosen = positionals.length > 0 ? positionals : Object.keys(topics)
if (chosen.some((topic) => !(topic in topics))) {
  process.stderr.write(`${usage}\n`)
  process.exit(1)
}

const copy = copyOfRepository()
const importersOf = readImports()
let running: ChildProcess | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
process.on('exit', () => {
  killRunning()
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
})

const found = chosen.map((topic) => ({ topic, mutants: findMutants(topic) }))
const sampled = found.flatMap(({ topic, mutants }) => mutants.slice(0, Number(values.sample ?? topics[topic]?.sample)))
const results = readResults()
await tryMutants(sampled.filter(({ id }) => !results.has(id)))
printResults()

async function tryMutants(mutants: SampledMutant[]): Promise<void> {
  if (mutants.length === 0) return
  // Without a mutant all tests have to pass. Together they take longer than those of one mutant ever should.
  const begun = Date.now()
  const failure = await failureOf([...new Set(mutants.flatMap(testsOf).flat())], 1_800_000)
  if (failure) throw new Error(`A test fails without a mutant: ${failure}`)
  const limitMs = 60_000 + Date.now() - begun

  mkdirSync(dirname(values.results), { recursive: true })
  for (const mutant of mutants) {
    const { text, ...rest } = mutant
    const [nearTests, largeTests] = testsOf(mutant)
    const original = read(mutant.file)
    writeFileSync(join(copy, mutant.file), text)
    const killedBy = (await failureOf(nearTests, limitMs)) ?? (await failureOf(largeTests, limitMs)) ?? null
    writeFileSync(join(copy, mutant.file), original)
    const tried: Tried = { ...rest, killedBy }
    results.set(tried.id, tried)
    appendFileSync(values.results, `${JSON.stringify(tried)}\n`)
    process.stdout.write(killedBy === null ? `\nsurvived: ${mutant.file}:${mutant.line}: ${mutant.what}\n` : '.')
  }
}

function printResults(): void {
  const rows = found.map(({ topic, mutants }) => {
    const tried = sampled.filter((mutant) => mutant.topic === topic).map(({ id }) => results.get(id))
    const survivors = tried.filter((mutant) => mutant?.killedBy === null)
    process.stdout.write(`\n${topic}: ${survivors.length} of ${tried.length} survived\n`)
    for (const survivor of survivors) process.stdout.write(`  ${survivor?.file}:${survivor?.line}: ${survivor?.what}\n`)
    const killed = tried.length - survivors.length
    return `| ${topic} | ${mutants.length} | ${tried.length} | ${killed} | ${Math.round((100 * killed) / tried.length)} % |\n`
  })
  process.stdout.write(`\n| topic | mutants | sampled | killed | share |\n|---|---|---|---|---|\n${rows.join('')}`)
}

/**
 * Returns all mutants of a topic, in the order in which they are sampled: by hashes of the changed lines. So a larger sample has all mutants
 * of a smaller one, and a seed chooses mostly the same ones after files were joined.
 */
function findMutants(topic: string): SampledMutant[] {
  const ranked = (topics[topic]?.files ?? [])
    .flatMap((pattern) => matching(pattern, copy))
    .flatMap((file) => {
      const lines = read(file).split('\n')
      return mutantsOf(file, read(file)).map((mutant) => ({
        mutant: { ...mutant, topic, file, id: hash(file, mutant.text) },
        // With the line before, because the same early return is often in many places.
        rank: hash(values.seed, ...lines.slice(Math.max(0, mutant.line - 2), mutant.line).map((line) => line.trim()), mutant.what),
      }))
    })
  return ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ mutant }) => mutant)
}

/** Returns the tests near a mutated file, and the large ones that its topic names. */
function testsOf({ file, topic }: SampledMutant): [near: string[], large: string[]] {
  const chosenTests = (topics[topic]?.tests ?? []).flatMap((pattern) => matching(pattern, copy))
  const reached = new Set([file])
  let last = [file]
  for (let distance = 0; distance < near.distance; distance++) {
    last = last.flatMap((imported) => importersOf.get(imported) ?? []).filter((importer) => !reached.has(importer))
    for (const importer of last) reached.add(importer)
  }
  const tests = [...reached].filter((path) => path.endsWith('.test.ts') && !large.test(path) && path !== generatedPages)
  return [tests.filter((path) => !chosenTests.includes(path)).slice(0, near.atMost), chosenTests]
}

/** Runs tests. On a busy machine those that wait may fail without a reason, so their failure counts only if it happens twice. */
async function failureOf(tests: string[], limitMs: number): Promise<string | undefined> {
  if (tests.length === 0) return undefined
  const failure = await runTests(tests, limitMs)
  return failure && (failure.includes('timed out') || large.test(failure)) ? runTests(tests, limitMs) : failure
}

async function runTests(tests: string[], limitMs: number): Promise<string | undefined> {
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const options = ['--mode=mutants', '--maxWorkers=1', '--bail=1', '--testTimeout=30000', '--reporter=json', `--outputFile=${report}`]
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...tests, ...options], {
    cwd: copy,
    // What a killed test leaves behind is removed with the copy.
    env: { ...process.env, TMPDIR: join(copy, 'tmp') },
    stdio: 'ignore',
    // A group of its own, so that its Redis and bots end with it.
    detached: true,
  })
  running = child
  const timer = setTimeout(killRunning, limitMs)
  const code = await new Promise<number | null>((done) => child.on('close', done))
  clearTimeout(timer)
  killRunning()
  if (code === 0) return undefined
  if (code === null) return `timed out after ${limitMs} ms`
  return existsSync(report) ? firstFailure(readFileSync(report, 'utf8')) : 'Vitest stopped'
}

function killRunning(): void {
  try {
    if (running?.pid !== undefined) process.kill(-running.pid, 'SIGKILL')
  } catch {
    // All of its processes have ended.
  }
  running = undefined
}

interface TestFile {
  name: string
  status: string
  message: string
  assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
}

function firstFailure(report: string): string {
  const { testResults } = JSON.parse(report) as { testResults: TestFile[] }
  const file = testResults.find(({ status }) => status === 'failed')
  const test = file?.assertionResults.find(({ status }) => status === 'failed')
  const [message = ''] = (test?.failureMessages[0] ?? file?.message ?? 'an error outside of the tests').split('\n')
  return [file?.name.slice(copy.length + 1), test?.fullName, message].filter(Boolean).join(': ')
}

/** Returns who imports a file. A script for Redis is imported by the modules beside its folder that read scripts. */
function readImports(): Map<string, string[]> {
  const importers = new Map<string, string[]>()
  const add = (imported: string, importer: string) => importers.set(imported, [...(importers.get(imported) ?? []), importer])
  for (const file of globSync('{src,test}/**/*.ts', { cwd: copy }).toSorted()) {
    const text = read(file)
    for (const [, path = ''] of text.matchAll(/^(?:import|export)\s(?!type\s)[^'"]*?from\s+'(\.[^']+)'/gm))
      add(join(dirname(file), path), file)
    if (!/\b(readScripts|scriptsOf)\(import\.meta\.url/.test(text)) continue
    for (const script of globSync('lua/*.lua', { cwd: join(copy, dirname(file)) })) add(join(dirname(file), script), file)
  }
  return importers
}

function copyOfRepository(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mutants-')))
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root(), encoding: 'utf8' })
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(root(), file)))
  for (const file of files) cpSync(join(root(), file), join(folder, file), { recursive: true })
  symlinkSync(join(root(), 'node_modules'), join(folder, 'node_modules'), 'junction')
  mkdirSync(join(folder, 'tmp'))
  return folder
}

function root(): string {
  return resolve(import.meta.dirname, '../..')
}

function readResults(): Map<string, Tried> {
  const lines = existsSync(values.results) ? readFileSync(values.results, 'utf8').split('\n').filter(Boolean) : []
  return new Map(lines.map((line) => JSON.parse(line) as Tried).map((tried) => [tried.id, tried]))
}

function read(file: string): string {
  return readFileSync(join(copy, file), 'utf8')
}

function hash(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex')
}
