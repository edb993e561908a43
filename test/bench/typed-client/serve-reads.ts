export type Kind = 'elasticIps' | 'plans'

export interface ReadsWanted {
  kind: Kind
  count: number
}

export interface ReadsDone {
  /** The CPU time of this process, with its threads, for one list. */
  cpuMs: number
  wallMs: number
  /** The number of items in each list. */
  items: number
}

/** Reads lists when its parent requests them, and sends back what they cost. */
export function serveReads(lists: Record<Kind, () => Promise<number>>): void {
  process.on('message', async ({ kind, count }: ReadsWanted) => {
    const before = process.cpuUsage()
    const startedAt = performance.now()
    let items = 0
    for (let done = 0; done < count; done += 1) items = await lists[kind]()
    const { user, system } = process.cpuUsage(before)
    const done: ReadsDone = { cpuMs: (user + system) / 1_000 / count, wallMs: (performance.now() - startedAt) / count, items }
    process.send?.(done)
  })
  process.on('disconnect', () => process.exit(0))
}
