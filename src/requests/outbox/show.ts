import type { Deliver } from './deliver.ts'
import type { Outbox } from './outbox.ts'

/** Shows a request's new state at once, without waiting for the next tick: its card, and every report that its thread is owed. */
export function createShow({ outbox, deliver }: { outbox: Outbox; deliver: Deliver }) {
  return async function show(id: string): Promise<void> {
    await deliver(id, 'card')
    for (const name of await outbox.owed(id)) await deliver(id, name)
  }
}
export type Show = ReturnType<typeof createShow>
