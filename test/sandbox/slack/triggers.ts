import { randomBytes } from 'node:crypto'
import type { State } from './state.ts'

const lifeMs = 3000

export interface Trigger {
  userId: string
  /** The channel that the person was looking at, for pickers that default to it. */
  channel?: string
}

interface StoredTrigger extends Trigger {
  madeAt: number
  exchanged: boolean
}

/** Trigger ids: valid for 3 s and for one view (docs.slack.dev/interactivity/handling-user-interaction#modal_responses). */
export function createTriggers(state: State) {
  const triggers = new Map<string, StoredTrigger>()

  return {
    issue(trigger: Trigger): string {
      const id = `${Math.floor(state.now() / 1000)}.${1_000_000 + triggers.size}.${randomBytes(16).toString('hex')}`
      triggers.set(id, { ...trigger, madeAt: state.now(), exchanged: false })
      return id
    },

    /** Uses up a trigger. Returns it, or Slack's error. */
    exchange(id: string): Trigger | { error: string } {
      const found = triggers.get(id)
      if (found === undefined) return { error: 'invalid_trigger_id' }
      if (found.exchanged) return { error: 'exchanged_trigger_id' }
      if (state.now() - found.madeAt > lifeMs) return { error: 'expired_trigger_id' }
      found.exchanged = true
      return found
    },
  }
}
export type Triggers = ReturnType<typeof createTriggers>
