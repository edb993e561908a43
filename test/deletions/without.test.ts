import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyOfRepository, root } from '../given/copy-of-repository.ts'
import { systemEnvironment } from '../sandbox/programs.ts'

/** The file that lists all features. */
const list = 'features/index.ts'

/** Fits relative imports, also those that are loaded only when they are needed. */
const specifier = /(?<=\bfrom '|^import '|\bimport\(')\.{1,2}\/[^']+(?=')/gm

/** Removes the line that imports a feature, and the line with its name. */
function withoutLines(text: string, feature: string): string {
  const lines = text.split('\n')
  const isImport = (line: string) => line.startsWith('import ') && line.includes(`'./${feature}/`)
  const names = lines.filter(isImport).flatMap((line) => /\{(.*)\}/.exec(line)?.[1]?.split(',') ?? [])
  const isName = (line: string) => names.some((name) => line.trim() === `${name.trim()},`)
  return lines.filter((line) => !isImport(line) && !isName(line)).join('\n')
}

/** The abilities that are folders, each with how one names it. A test that does is a test of it, wherever it is, and goes with it. */
const abilities: [string, RegExp][] = [
  ['alerts', /\balerts?\b/i],
  ['keys', /\bapi[- ]keys?\b|\bkeys?[. ](?:create|extend|rotate|revoke|list)|\/infra keys|keyEnds|requestKey|approvedKey|create key/i],
  ['machines', /\bmachines?\b/i],
  // The sandbox starts with a policy for moves.
  ['moves', /ip-move|ip-evacuate|\bip move|evacuat|\bmoves?\b|(?:request|start)Move|dirname, 'main\.ts'/i],
  ['outside', /\boutside\b|WATCH_CHANGES/i],
]

/** They hold that pages, pictures, the manifest and other documents list exactly what there is. */
const documents = [
  'test/{docs,scripts,mutants}/**',
  'test/{manifest,pages,repository}.test.ts',
  'test/config/{config,policy,policy-recipes}.test.ts',
  'test/features/{index,whoami}.test.ts',
  'test/journeys/clicks.test.ts',
  'test/start/repeated-of.test.ts',
]

/** It makes pages from declarations of abilities, too. */
const writesDocuments = 'scripts/write-docs.ts'

/** It finds what nothing uses any more: names that are contracts, so that they stay in their lists until somebody deletes them. */
const orphans = 'test/orphans.test.ts'

/** More names than these would be a part of the ability that is told outside its folder. */
const most = 12

interface Report {
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
  }[]
  numPassedTests: number
}

describe.each(abilities)('without %s', (ability, named) => {
  let folder = ''
  let ours: string[] = []

  beforeAll(() => {
    folder = copyOfRepository(`without-${ability}-`)
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    rmSync(join(folder, 'src/features', ability), { recursive: true })
    const features = join(folder, 'src', list)
    writeFileSync(features, withoutLines(readFileSync(features, 'utf8'), ability))
    ours = testsOf(ability, named)
    for (const file of ours) rmSync(join(folder, file))
    rmSync(join(folder, 'test/features', ability), { recursive: true, force: true })
    mkdirSync(join(folder, 'tmp'))
  }, 120_000)

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

  /** Tests, and worlds of tests, that name the ability, whatever imports it, and what imports that. */
  function testsOf(ability: string, named: RegExp): string[] {
    const files = globSync('test/**/*.ts', { cwd: folder }).filter((file) => file !== orphans)
    const importsOf = (file: string) => [...read(file).matchAll(specifier)].map(([target]) => join(dirname(file), target))
    const isOf = (path: string) => path.startsWith(`src/features/${ability}/`) || path.startsWith(`test/features/${ability}/`)
    const gone = new Set(files.filter((file) => isOf(file) || (/(?:\.test|-world)\.ts$/.test(file) && named.test(read(file)))))
    for (let size = -1; size !== gone.size; ) {
      size = gone.size
      for (const file of files) if (importsOf(file).some((path) => isOf(path) || gone.has(path))) gone.add(file)
    }
    return [...gone]
  }

  const read = (file: string) => readFileSync(join(folder, file), 'utf8')

  const vitest = (...args: string[]) => run('node_modules/vitest/vitest.mjs', 'run', ...args)

  function run(...args: string[]): Promise<string> {
    return new Promise((resolve) => {
      const environment = { ...systemEnvironment(), TMPDIR: join(folder, 'tmp'), NO_COLOR: '1' }
      execFile(process.execPath, args, { cwd: folder, env: environment, maxBuffer: 2 ** 28 }, (_, output, errors) =>
        resolve(`${output}${errors}`),
      )
    })
  }

  test('the rest compiles, with its tests', { timeout: 600_000 }, async () => {
    const output = await run('node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false')
    expect(output.split('\n').filter((line) => line.includes('error TS') && !line.startsWith(writesDocuments))).toEqual([])
  })

  test('its tests pass', { timeout: 1_800_000 }, async () => {
    const report = join(folder, 'report.json')
    const without = [...documents, orphans].map((pattern) => `--exclude=${pattern}`)
    await vitest('--reporter=json', `--outputFile=${report}`, ...without)
    expect(existsSync(report)).toBe(true)
    const { testResults, numPassedTests } = JSON.parse(readFileSync(report, 'utf8')) as Report
    const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
      const file = name.slice(folder.length + 1)
      const tests = assertionResults.filter((one) => one.status === 'failed')
      if (tests.length === 0 && status === 'failed') return [{ file, test: '', message }]
      return tests.map(({ fullName, failureMessages }) => ({ file, test: fullName, message: failureMessages.join('\n') }))
    })
    const elsewhere = ours.filter((file) => !file.startsWith(`test/features/${ability}/`)).toSorted()
    process.stdout.write(`without ${ability}: ${numPassedTests} tests passed, and these gone:\n  ${elsewhere.join('\n  ')}\n`)
    expect(failed).toEqual([])
    expect(numPassedTests).toBeGreaterThan(500)
  })

  test('few names in the shared lists are left without a user', { timeout: 120_000 }, async () => {
    const output = await vitest('--reporter=default', '--retry=0', orphans)
    const [, ...failures] = output.split(/^ FAIL {2}\S+ > /m)
    const left = failures.flatMap((failure) => {
      const [list = ''] = failure.split('\n')
      return [...failure.matchAll(/^\s*\+\s+"(.+)",?$/gm)].map(([, name]) => `${list.replace(/.* > /, '')}: ${name}`)
    })
    process.stdout.write(`${['without a user now:', ...left].join('\n  ')}\n`)
    // Each list with such names is a failed test, so that this has read the report as it is.
    const [, failed = '0'] = /Tests +(?:(\d+) failed)?[ |]*\d+ passed/.exec(output) ?? expect.fail(output)
    expect(failures).toHaveLength(Number(failed))
    expect(left.length).toBeGreaterThanOrEqual(failures.length)
    expect(left.length).toBeLessThanOrEqual(most)
  })
})
