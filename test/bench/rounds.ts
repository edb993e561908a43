export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const at = (index: number) => sorted[index] ?? Number.NaN
  return Number.isInteger(middle) ? (at(middle - 1) + at(middle)) / 2 : at(Math.floor(middle))
}

/**
 * Measures all variants in each round, one after the other. Each round starts with another variant, so that other work on the machine
 * affects all of them. Returns the figures of each variant by round.
 */
export async function interleave<Name extends string, Figures>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name, round: number) => Promise<Figures>,
): Promise<Record<Name, Figures[]>> {
  const found = Object.fromEntries(names.map((name) => [name, [] as Figures[]])) as Record<Name, Figures[]>
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(turn + round) % names.length]
      if (name !== undefined) found[name].push(await measure(name, round))
    }
  }
  return found
}

/** Returns the median over the rounds of a variant's figure divided by that of the base in the same round. */
export function ratio<Figures>(of: Figures[], base: Figures[], figure: (figures: Figures) => number): number {
  return median(of.map((figures, round) => figure(figures) / figure(base[round] ?? figures)))
}
