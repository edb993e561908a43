import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Command } from './commands.ts'
import { someRun } from './random-commands.ts'
import { startSession } from './session.ts'
import { members } from './staff.ts'
import { checkAudit, checkReports, checkWrites, type Model } from './story.ts'
import { settleDown } from './waiting.ts'

/** The number of runs. If it is not set, as many as fit into the time. */
const mostRuns = Number(process.env.MODEL_RUNS ?? 0)
const seconds = Number(process.env.MODEL_SECONDS ?? 60)
/** The number of commands drawn for a run. Commands that find nothing to act on are left out, such as a click if no request waits. */
const steps = Number(process.env.MODEL_STEPS ?? 50)
const seed = Number(process.env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Runs these commands against new bots. Throws if anything differs from the model. */
async function play(some: Command[]): Promise<{ clicks: number; ends: Record<string, number> } & Pick<Model, 'seen' | 'steps' | 'faults'>> {
  const session = await startSession()
  const model: Model = {
    requests: [],
    members: structuredClone(members),
    refusals: {},
    unsure: {},
    seen: {},
    steps: 0,
    faults: { lost: 0, crashes: 0, inTheMiddle: 0 },
  }
  try {
    await fc.asyncModelRun(() => ({ model, real: session }), some.map(counted))
    for (const request of model.requests) {
      await settleDown(session, request)
      await checkReports(session, request)
    }
    expect(session.leftovers()).toEqual([])
    await checkWrites(session, model)
    await checkAudit(session, model)
    const { seen, steps, faults } = model
    const ends: Record<string, number> = {}
    for (const { state } of model.requests) add(ends, { [state]: 1 })
    return { ends, clicks: session.slack.deliveries.length, seen, steps, faults }
  } finally {
    await session.close()
  }
}

function add(total: Record<string, number>, counts: Record<string, number>): void {
  for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count
}

function counted(command: Command): Command {
  return {
    check: (model) => command.check(model),
    toString: () => command.toString(),
    run: async (model, session) => {
      await command.run(model, session)
      model.steps += 1
    },
  }
}

test(
  'ten people who click at random on two replicas that lose answers and crash find no way round the approval, and each click its answer',
  async () => {
    const start = performance.now()
    const until = start + seconds * 1_000
    const total = {
      runs: 0,
      steps: 0,
      seconds: 0,
      clicks: 0,
      lost: 0,
      crashes: 0,
      inTheMiddle: 0,
      ends: {} as Record<string, number>,
      answers: {} as Record<string, number>,
    }
    const property = fc.asyncProperty(someRun(steps), async (some) => {
      const { clicks, seen, ends, steps, faults } = await play(some)
      total.clicks += clicks
      total.steps += steps
      total.lost += faults.lost
      total.crashes += faults.crashes
      total.inTheMiddle += faults.inTheMiddle
      add(total.ends, ends)
      add(total.answers, seen)
    })
    console.info(`MODEL_SEED=${seed} MODEL_STEPS=${steps} ${mostRuns > 0 ? `MODEL_RUNS=${mostRuns}` : `MODEL_SECONDS=${seconds}`}`)

    // Each run has its own seed, so that a failing run can be repeated alone. It is not shrunk, because each repetition is a new race.
    for (; mostRuns > 0 ? total.runs < mostRuns : performance.now() < until; total.runs += 1)
      await fc.assert(property, { seed: seed + total.runs, numRuns: 1, endOnFailure: true })

    total.seconds = Math.round((performance.now() - start) / 1_000)
    console.info(total)
    expect(total.runs).toBeGreaterThan(0)
  },
  mostRuns > 0 ? mostRuns * 60_000 : (seconds + 60) * 1_000,
)
