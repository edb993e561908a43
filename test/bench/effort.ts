/** How much is measured for a figure. The quick form only shows that the benchmarks run; its figures mean little. */
export interface Effort {
  quick: boolean
  rounds: number
}

export const full: Effort = { quick: false, rounds: 7 }
export const quick: Effort = { quick: true, rounds: 2 }
