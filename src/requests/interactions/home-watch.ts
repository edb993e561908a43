import type { Origin } from '../../domain/approval/origin.ts'
import type { Request } from '../../domain/request/request.ts'

/**
 * How often the requests on watched Home tabs are read, and how long after a person has opened theirs. Slack takes 100 calls of
 * `views.publish` a minute, and people who open their Home tab come first: at most 4 others are published each time, which is 48 a minute.
 */
const limits = { everyMs: 5_000, forMs: 10 * 60_000, viewers: 20, requests: 20, publishedAtOnce: 4 }

interface Watched {
  viewer: Origin
  until: number
  /** The revisions that the tab shows, by the ids of the requests. */
  shown: Map<string, number>
  /** Whether its person has requested something since. */
  isOutdated?: true
}

interface HomeWatchParts {
  findMany: (ids: string[]) => Promise<Pick<Request, 'id' | 'revision'>[]>
  /** Publishes the tab as it is now, and returns the open requests on it. Undefined if the person may no longer see it. */
  publish: (viewer: Origin) => Promise<Pick<Request, 'id' | 'revision'>[] | undefined>
  onError: (error: unknown) => void
  now?: () => number
}

/**
 * Publishes the Home tab of a person again when a request on it changes or they send a form, because Slack shows it as it was published,
 * and reports neither that it is still open nor that it was closed. This process watches the tabs that it has published. Nothing is stored: a tab
 * that is not watched is as old as it says at its end, and opening it again updates it.
 */
export function createHomeWatch({ findMany, publish, onError, now = Date.now }: HomeWatchParts) {
  const watched = new Map<string, Watched>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  /** Watches the tab that a person has just opened, with the open requests on it. Undefined: they may not see it, or it could not be shown. */
  function watch(viewer: Origin, open: Pick<Request, 'id' | 'revision'>[] | undefined): void {
    watched.delete(viewer.userId)
    if (open === undefined) return
    watched.set(viewer.userId, { viewer, until: now() + limits.forMs, shown: shownOf(open) })
    const [oldest = ''] = watched.keys()
    if (watched.size > limits.viewers) watched.delete(oldest)
    timer ??= setInterval(lookUnlessLooking, limits.everyMs).unref()
  }

  /** Publishes the tab of a person who has just requested something, if it is watched. */
  function outdate(userId: string): void {
    const found = watched.get(userId)
    if (!found) return
    found.isOutdated = true
    lookUnlessLooking()
  }

  function lookUnlessLooking(): void {
    looking ??= look().finally(() => {
      looking = undefined
    })
  }

  /** Publishes the tabs on which something has changed, those first that were opened first. */
  async function look(): Promise<void> {
    try {
      for (const { viewer, until } of watched.values()) if (until <= now()) watched.delete(viewer.userId)
      if (watched.size === 0) return stop()
      const ids = new Set([...watched.values()].flatMap(({ shown }) => [...shown.keys()]))
      const revisions = shownOf(ids.size > 0 ? await findMany([...ids]) : [], ids.size)
      const outdated = [...watched.values()].filter(
        ({ shown, isOutdated }) => isOutdated || [...shown].some(([id, revision]) => isNewer(revisions.get(id), revision)),
      )
      for (const each of outdated.slice(0, limits.publishedAtOnce)) await publishAgain(each)
    } catch (error) {
      // The tabs say when they were updated. Watching a service that is away would only fill the log.
      stop()
      onError(error)
    }
  }

  async function publishAgain(before: Watched): Promise<void> {
    const open = await publish(before.viewer)
    const { userId } = before.viewer
    // The person may have opened it meanwhile.
    if (watched.get(userId) !== before) return
    if (open === undefined) watched.delete(userId)
    else watched.set(userId, { viewer: before.viewer, until: before.until, shown: shownOf(open) })
  }

  function stop(): void {
    watched.clear()
    clearInterval(timer)
    timer = undefined
  }

  async function stopAndWait(): Promise<void> {
    stop()
    await looking
  }

  return { watch, outdate, look, stop: stopAndWait }
}
export type HomeWatch = ReturnType<typeof createHomeWatch>

function shownOf(requests: Pick<Request, 'id' | 'revision'>[], most = limits.requests): Map<string, number> {
  return new Map(requests.slice(0, most).map(({ id, revision }) => [id, revision]))
}

function isNewer(found: number | undefined, shown: number): boolean {
  return found !== undefined && found > shown
}
