/** What the work for one request leaves for the work after it. */
export interface Turn<Known> {
  known?: Known | undefined
}

/** Creates the function that runs the work for one request one after another in this process. */
export function createTurns<Known>() {
  const turns = new Map<string, { last: Promise<unknown>; turn: Turn<Known> }>()

  /** Runs `work` after all work that was begun before for the same request. */
  return async function inTurn<Result>(requestId: string, work: (turn: Turn<Known>) => Promise<Result>): Promise<Result> {
    const queue = turns.get(requestId) ?? { last: Promise.resolve(), turn: {} }
    turns.set(requestId, queue)
    const next = () => work(queue.turn)
    const own = queue.last.then(next, next)
    queue.last = own
    try {
      return await own
    } finally {
      if (queue.last === own) turns.delete(requestId)
    }
  }
}
