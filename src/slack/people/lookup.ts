interface Read<Found> {
  beganAt: number
  found: Found
}

/**
 * Caches what `read` returns. Concurrent callers share one read. The age of an answer counts from when its read began, because the data may
 * have changed since then.
 */
export function createLookup<Found>(read: (id: string) => Promise<Found>, now: () => number) {
  const cached = new Map<string, Read<Found>>()
  const underway = new Map<string, Read<Promise<Found>>>()
  const queued = new Map<string, Promise<Found>>()

  /** Returns the answer of a read that began within the last `maxAgeMs`, if it has ended. */
  function known(id: string, maxAgeMs: number): Found | undefined {
    const last = cached.get(id)
    return last && isYoung(last, maxAgeMs) ? last.found : undefined
  }

  /** Returns the answer of a read that began within the last `maxAgeMs`, also of one that has not ended. */
  function share(id: string, maxAgeMs: number): Found | Promise<Found> | undefined {
    const current = underway.get(id)
    return known(id, maxAgeMs) ?? (current && isYoung(current, maxAgeMs) ? current.found : undefined)
  }

  /** Returns the answer of a read that began within the last `maxAgeMs`, or else of a new one (always with 0). Throws what `read` throws. */
  function find(id: string, maxAgeMs: number): Found | Promise<Found> {
    return share(id, maxAgeMs) ?? begin(id)
  }

  /** Returns the answer of a read that begins after this call. All who call while a read is under way share the next one. */
  function findNew(id: string): Promise<Found> {
    const current = underway.get(id)
    if (!current) return begin(id)
    const next =
      queued.get(id) ??
      Promise.allSettled([current.found]).then(() => {
        queued.delete(id)
        return begin(id)
      })
    queued.set(id, next)
    return next
  }

  function isYoung({ beganAt }: Read<unknown>, maxAgeMs: number): boolean {
    return now() - beganAt < maxAgeMs
  }

  async function begin(id: string): Promise<Found> {
    const started = { beganAt: now(), found: read(id) }
    underway.set(id, started)
    try {
      const found = await started.found
      cache(id, { beganAt: started.beganAt, found })
      return found
    } finally {
      if (underway.get(id) === started) underway.delete(id)
    }
  }

  /** Keeps an answer, unless the answer of a read that began later is already there. */
  function cache(id: string, answer: Read<Found>): void {
    if ((cached.get(id)?.beganAt ?? 0) > answer.beganAt) return
    if (cached.size >= 10_000) cached.clear()
    cached.set(id, answer)
  }

  return { known, share, find, findNew }
}
