const tries = Math.max(300, Number(process.env.CONTRACT_RUNS ?? 0))

/**
 * The number of runs of each property. `CONTRACT_RUNS=20000 npm test -- test/contract` runs more. On a failure, fast-check prints the seed
 * and the path that repeat it.
 */
export const runs = { numRuns: tries }

/** The time limit for `describe`, which grows with the number of runs. */
export const patience = { timeout: 20_000 + tries * 20 }
