import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { waits } from './test/waits.ts'

/**
 * What takes long, because processes, Redis and connections are killed over and over, the bot is attacked, programs are installed, the
 * commands of the docs are run, every feature is deleted and the rest compiled, everybody tries everything, benchmarks run, or the sandbox is
 * used as newcomers do: `npm run test:faults`.
 */
const long = ['test/*.long.test.ts', 'test/{faults,attacks,bench,deploy,docs,features,journeys,page,sandbox}/**/*.long.test.ts']

/** Random clicks, compared with a model. */
const model = 'test/model/**/*.test.ts'

/** Deletes each large ability in a copy, and runs `npm test` there: `npm run test:deletions`. */
const deletions = 'test/deletions/**/*.test.ts'

/** What builds the image and runs it in a container engine: `npm run test:image`. */
const image = 'test/image/**/*.long.test.ts'

/** A mode of its own for each of the long suites, so that words after `npm run test:faults --` choose among its files, and one for mutants of all tests. */
const suites: Record<string, string[]> = {
  faults: ['test/{faults,attacks}/**/*.test.ts', model, ...long],
  model: [model],
  deletions: [deletions],
  image: [image],
  mutants: ['test/**/*.test.ts'],
}

/** These mostly wait: begun first, they do not leave one worker busy alone in the end. */
const longest = /test\/(faults|start\.|page|journeys|attacks|model|bench)/

/** Each takes a minute or more. One that begins last runs alone. */
const first =
  /test\/(docs\/commands|deploy\/setup|sandbox\/(breakages|sandbox)|start|page\/page|bench\/bench|journeys\/(gate|freeze|clicks)|attacks\/machines)\./

const rank = ({ moduleId }: TestSpecification) => (first.test(moduleId) ? 2 : Number(longest.test(moduleId)))

/** These keep more than one processor busy. Side by side they starve each other, so they are begun far apart. */
const busiest = /\/(chaos\.long|garbage\.long|ablations\.long|soak\.long|docs\/commands\.long)\.test|test\/model\//

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = (await super.sort(files)).toSorted((a, b) => rank(b) - rank(a))
    const busy = sorted.filter(({ moduleId }) => busiest.test(moduleId))
    const others = sorted.filter((file) => !busy.includes(file))
    const apart = Math.ceil(others.length / busy.length)
    return busy.length === 0 ? others : busy.flatMap((file, index) => [file, ...others.slice(index * apart, (index + 1) * apart)])
  }
}

export default defineConfig(({ mode }) => ({
  test: {
    include: suites[mode] ?? ['test/**/*.test.ts'],
    exclude: mode in suites ? [] : [...long, model, deletions, image],
    globalSetup: 'test/sandbox/set-up-for-tests.ts',
    snapshotSerializers: ['test/no-break-spaces.ts'],
    testTimeout: mode === 'faults' ? waits.longTest : waits.test,
    hookTimeout: mode === 'faults' ? waits.longTest : waits.test,
    expect: { poll: { timeout: waits.poll } },
    // A machine that stalls for seconds fails a test once, a defect twice. The long suites have no second try: they look for what happens seldom.
    retry: mode in suites ? 0 : 1,
    reporters: ['default', './test/retried-tests.ts'],
    // Most tests wait most of the time: for a clock, for a process, or for something to go wrong long enough. Those of the long suites do not.
    maxWorkers: mode === 'faults' ? Math.min(4, availableParallelism() + 1) : 6,
    // Each of these has processes of its own.
    maxConcurrency: 3,
    // Nothing here keeps anything in a module, so that files can share what one worker has loaded.
    isolate: false,
    // Node removes the types itself, as it does for the bot. It costs less than a second transformation.
    experimental: { viteModuleRunner: false },
    sequence: { sequencer: LongestFirst },
  },
}))
