const tries = Math.max(300, Number(process.env.CONTRACT_RUNS ?? 0))

/**
 * How often each property of the contract kit is tried: `CONTRACT_RUNS=20000 npm test -- test/contract` tries harder. On a failure,
 * fast-check prints the seed and the path that repeat it.
 */
export const runs = { numRuns: tries }

/** For `describe`: more tries take longer. In ms. */
export const patience = { timeout: 20_000 + tries * 20 }
