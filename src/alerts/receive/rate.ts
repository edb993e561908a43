/** Each new alert takes some reads of the account, so only a few deliveries run at a time. */
const mostAtOnce = 8

/** Alertmanager sends a group every few minutes. This allows for hundreds of groups. */
const mostInWindow = 300
const windowMs = 60_000

/**
 * Creates the limit of deliveries in this process. `enter` returns undefined if there are too many, and otherwise the function to call at
 * the end.
 */
export function createRate({ now = Date.now }: { now?: () => number } = {}) {
  let inside = 0
  let window = { at: 0, count: 0 }

  function enter(): (() => void) | undefined {
    if (now() - window.at >= windowMs) window = { at: now(), count: 0 }
    if (inside >= mostAtOnce || window.count >= mostInWindow) return undefined
    inside += 1
    window.count += 1
    return () => {
      inside -= 1
    }
  }

  return { enter }
}
