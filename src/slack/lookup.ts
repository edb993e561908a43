interface Look<Found> {
  beganAt: number
  found: Found
}

/**
 * Asks Slack and remembers the answers. Those who ask at once share one look. How old an answer is counts from when its look began:
 * what Slack says may have changed since.
 */
export function createLookup<Found>(look: (id: string) => Promise<Found>, now: () => number) {
  const kept = new Map<string, Look<Found>>()
  const underway = new Map<string, Look<Promise<Found>>>()

  /** What was answered within the last `maxAgeMs`. */
  function known(id: string, maxAgeMs: number): Found | undefined {
    const last = kept.get(id)
    return last && isYoung(last, maxAgeMs) ? last.found : undefined
  }

  /** By a look that began within the last `maxAgeMs`, ended or not; with 0 by one that begins now. Throws what the look throws. */
  function find(id: string, maxAgeMs: number): Found | Promise<Found> {
    const current = underway.get(id)
    return known(id, maxAgeMs) ?? (current && isYoung(current, maxAgeMs) ? current.found : begin(id))
  }

  function isYoung({ beganAt }: Look<unknown>, maxAgeMs: number): boolean {
    return now() - beganAt < maxAgeMs
  }

  async function begin(id: string): Promise<Found> {
    const started = { beganAt: now(), found: look(id) }
    underway.set(id, started)
    try {
      const found = await started.found
      keep(id, { beganAt: started.beganAt, found })
      return found
    } finally {
      if (underway.get(id) === started) underway.delete(id)
    }
  }

  /** An answer that was long on its way does not take the place of one to a later question. */
  function keep(id: string, answer: Look<Found>): void {
    if ((kept.get(id)?.beganAt ?? 0) > answer.beganAt) return
    if (kept.size >= 10_000) kept.clear()
    kept.set(id, answer)
  }

  return { known, find }
}
