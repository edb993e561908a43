import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Command, commands } from './commands.ts'
import { mutants, unharmed } from './mutants.ts'
import { type Mutate, startSession } from './session.ts'
import { members } from './staff.ts'
import { checkAudit, checkWrites, type Model } from './story.ts'

/** `npm run test:model` takes its time. */
const seconds = Number(process.env.MODEL_SECONDS ?? (process.env.MODE === 'model' ? 60 : 8))
const seed = Number(process.env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Lets people do all of this, with new bots. Throws where anything is not as the model says. */
async function play(some: Iterable<Command>, mutate?: Mutate): Promise<{ clicks: number; seen: Model['seen'] }> {
  const session = await startSession(mutate)
  const model: Model = { requests: [], members: structuredClone(members), refusals: {}, seen: {} }
  try {
    await fc.asyncModelRun(() => ({ model, real: session }), some)
    expect(session.leftovers()).toEqual([])
    await checkWrites(session, model)
    await checkAudit(session, model)
    return { clicks: session.slack.deliveries.length, seen: model.seen }
  } finally {
    await session.close()
  }
}

test(
  'ten people who click at random on two replicas find no way round the approval, and each click its answer',
  async () => {
    const until = performance.now() + seconds * 1_000
    const total = { runs: 0, clicks: 0, answers: {} as Record<string, number> }
    const property = fc.asyncProperty(fc.noBias(fc.commands(commands, { maxCommands: 40, size: 'max' })), async (some) => {
      const { clicks, seen } = await play(some)
      total.clicks += clicks
      for (const [answer, count] of Object.entries(seen)) total.answers[answer] = (total.answers[answer] ?? 0) + count
    })
    console.info(`MODEL_SEED=${seed} MODEL_SECONDS=${seconds}`)

    // A seed of its own for every run, so that one that fails can be had again at once. Not made smaller: it is another race each time.
    for (; performance.now() < until; total.runs += 1)
      await fc.assert(property, { seed: seed + total.runs, numRuns: 1, endOnFailure: true })

    console.info(total)
    expect(total.runs).toBeGreaterThan(0)
  },
  (seconds + 30) * 1_000,
)

test.each(Object.entries(mutants))(
  '%s would be found out',
  async (_, mutant) => {
    await play(mutant.commands)
    await play(mutant.commands, unharmed)

    await expect(play(mutant.commands, mutant.mutate)).rejects.toThrow('no order of these clicks explains what came of them')
  },
  60_000,
)
