import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { copyOfRepository, root } from '../given/copy-of-repository.ts'
import { type Mutant, mutantsOf } from './mutate.ts'
import { matching, topics } from './topics.ts'

// `npm run test:mutants`: makes one small change after the other in a copy of the repository, and tells which of them no test notices.
// Stryker's runner does not know this version of Vitest.

const usage = `npm run test:mutants [-- <topic>…] [-- --sample=30] [-- --seed=1]. Topics: ${Object.keys(topics).join(', ')}.`

/** Tests of single parts that import a file over at most three modules are near, and are run first. Of some files there would be a hundred. */
const near = { distance: 3, atMost: 20 }

const large = /^test\/(attacks|faults|image|journeys|model|page|start\.|manifest)|\.long\.test\.ts$/

/** The pages repeat declarations. Their test would notice every change of these, and none that is wrong. */
const generatedPages = 'test/docs/generated.test.ts'

interface SampledMutant extends Mutant {
  file: string
  topic: string
}

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: { sample: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
})
const chosen = positionals.length > 0 ? positionals : Object.keys(topics)
if (chosen.some((topic) => !(topic in topics))) {
  process.stderr.write(`${usage}\n`)
  process.exit(1)
}

const copy = copyToMutate()
const importersOf = readImports()
let running: ChildProcess | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
process.on('exit', () => {
  killRunning()
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
})

const found = chosen.map((topic) => {
  const mutants = findMutants(topic)
  return { topic, count: mutants.length, sampled: mutants.slice(0, Number(values.sample)) }
})
const survivors = await tryMutants(found.flatMap(({ sampled }) => sampled))
const rows = found.map(({ topic, count, sampled: { length } }) => {
  const killed = length - survivors.filter((mutant) => mutant.topic === topic).length
  return `| ${topic} | ${count} | ${length} | ${killed} | ${Math.round((100 * killed) / length)} % |\n`
})
process.stdout.write(`\n| topic | mutants | sampled | killed | share |\n|---|---|---|---|---|\n${rows.join('')}`)

/** Prints and returns those that no test notices. */
async function tryMutants(mutants: SampledMutant[]): Promise<SampledMutant[]> {
  // Without a mutant all tests have to pass. Together they take longer than those of one mutant ever should.
  const begun = Date.now()
  if (await fails([...new Set(mutants.flatMap(testsOf).flat())], 1_800_000, 'inherit')) throw new Error('A test fails without a mutant.')
  const limitMs = 60_000 + Date.now() - begun

  const unnoticed: SampledMutant[] = []
  for (const mutant of mutants) {
    const [nearTests, largeTests] = testsOf(mutant)
    const original = read(mutant.file)
    writeFileSync(join(copy, mutant.file), mutant.text)
    // On a busy machine large tests may fail without a reason, so that only a second failure counts.
    const isNoticed = (await fails(nearTests, limitMs)) || ((await fails(largeTests, limitMs)) && (await fails(largeTests, limitMs)))
    writeFileSync(join(copy, mutant.file), original)
    if (!isNoticed) unnoticed.push(mutant)
    process.stdout.write(isNoticed ? '.' : `\n${mutant.topic}, not noticed: ${mutant.file}:${mutant.line}: ${mutant.what}\n`)
  }
  return unnoticed
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
        mutant: { ...mutant, topic, file },
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
  // Of many, those of the folder that mirrors the file's.
  const own = dirname(file).replace('src', 'test')
  const nearest = tests.toSorted((a, b) => Number(b.startsWith(own)) - Number(a.startsWith(own)))
  return [nearest.filter((path) => !chosenTests.includes(path)).slice(0, near.atMost), chosenTests]
}

async function fails(tests: string[], limitMs: number, output: 'inherit' | 'ignore' = 'ignore'): Promise<boolean> {
  if (tests.length === 0) return false
  const options = ['--mode=mutants', '--maxWorkers=1', '--bail=1', '--testTimeout=30000']
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...tests, ...options], {
    cwd: copy,
    // What a killed test leaves behind is removed with the copy.
    env: { ...process.env, TMPDIR: join(copy, 'tmp') },
    stdio: ['ignore', output, output],
    // A group of its own, so that its Redis and bots end with it.
    detached: true,
  })
  running = child
  const timer = setTimeout(killRunning, limitMs)
  const code = await new Promise<number | null>((done) => child.on('close', done))
  clearTimeout(timer)
  killRunning()
  return code !== 0
}

function killRunning(): void {
  try {
    if (running?.pid !== undefined) process.kill(-running.pid, 'SIGKILL')
  } catch {
    // All of its processes have ended.
  }
  running = undefined
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

function copyToMutate(): string {
  const folder = copyOfRepository('mutants-')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  mkdirSync(join(folder, 'tmp'))
  return folder
}

function read(file: string): string {
  return readFileSync(join(copy, file), 'utf8')
}

function hash(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex')
}
