import type { Deliver } from './deliver.ts'
import type { Outbox } from './outbox.ts'

/** Creates the function that shows a request's new state without waiting for the next tick: its card, then every report that it owes. */
export function createShow({ outbox, deliver }: { outbox: Outbox; deliver: Deliver }) {
  return async function show(id: string): Promise<void> {
    await deliver(id, 'card')
    for (const name of await outbox.owed(id)) await deliver(id, name)
  }
}
export type Show = ReturnType<typeof createShow>
