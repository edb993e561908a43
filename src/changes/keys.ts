/**
 * The names of everything kept in Redis. All share one hash tag, so that scripts may touch several keys on a Redis Cluster, and
 * several bots can share one Redis by their prefixes.
 */
export function createKeys(prefix: string) {
  const tag = `{${prefix}}`
  return {
    queuePrefix: tag,
    recordPrefix: `${tag}:request:`,
    record: (id: string) => `${tag}:request:${id}`,
    /** Which open request holds a resource. */
    resource: (resource: string) => `${tag}:resource:${resource}`,
    /** Which request was the last for a resource, for as long as that can matter to an older one. */
    latest: (resource: string) => `${tag}:latest:${resource}`,
    /** Sorted sets of request ids: open ones by creation, ended ones by end, all that need attention by when. */
    open: `${tag}:open`,
    ended: `${tag}:ended`,
    due: `${tag}:due`,
    /** Sorted set of `<request id>/<message>` by when to send. */
    outbox: `${tag}:outbox`,
    /** Streams: what was noted and is not in the chain yet; the chain. A hash: the chain's last number and hash, and what was printed. */
    auditIntake: `${tag}:audit:intake`,
    audit: `${tag}:audit`,
    auditHead: `${tag}:audit:head`,
    /** Notes that were sent before. */
    auditSent: (token: string) => `${tag}:audit:sent:${token}`,
    /** Sorted set of workers by when they were last at work. */
    workers: `${tag}:workers`,
    /** When something of Slack's last arrived, by what it was: a click, an option load. */
    lastHeard: `${tag}:last-heard`,
    /** The mark of this data set. */
    epoch: `${tag}:epoch`,
    lastTick: `${tag}:last-tick`,
    /** Who is looking for what a request has issued. */
    search: (id: string) => `${tag}:search:${id}`,
    delivery: (key: string) => `${tag}:delivery:${key}`,
    /** Whether the operators know of a trouble: `told`, or the token of who is telling them. */
    notice: (key: string) => `${tag}:notice:${key}`,
  }
}
export type Keys = ReturnType<typeof createKeys>
