/** How much is measured for a figure. The quick form only shows that the benchmarks run; its figures mean little. */
export interface Effort {
  quick: boolean
  rounds: number
  /** For `following`, whose rounds take minutes. */
  followRounds: number
}

export const full: Effort = { quick: false, rounds: 7, followRounds: 5 }
export const quick: Effort = { quick: true, rounds: 2, followRounds: 1 }
