import type { Audit } from '../../audit/intake.ts'
import { type AuthorityProblem, unverifiedRecord } from '../../domain/request/authority-problem.ts'
import { type Request, unknownState } from '../../domain/request/request.ts'
import type { Show } from '../outbox/show.ts'
import { stepOf } from '../steps.ts'
import type { NoteOf } from '../store/request-note.ts'
import type { Store } from '../store/store.ts'

/** When a request is looked at again that stays open. */
const keptMs = 10 * 60_000

/** When a request is read again that was signed with an unknown key: a deployment may bring the key. */
const unknownKeyMs = 30_000

/** When a request is read again that changed at the same moment. */
const changedMs = 500

interface DistrustParts {
  store: Pick<Store, 'find' | 'take' | 'postpone' | 'postponeIfUnchanged' | 'clearDueIfUnchanged'>
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
  show: Show
  /** Receives a request that cannot be trusted, and why. */
  onDistrusted: (request: Request, problem: AuthorityProblem) => Promise<void> | void
}

/**
 * Creates the function that handles a request under way whose record cannot be trusted: no step follows from such a record. Its tracking ends, and
 * the thread, the operators and the audit say so. One that was signed with an unknown key stays, because a deployment may bring the key.
 * `keepOpen`: only an untouched record may lead to more, so the request stays open too.
 */
export function createDistrust({ store, audit, noteOf, show, onDistrusted }: DistrustParts) {
  return async function distrust(request: Request, problem: AuthorityProblem, { keepOpen = false } = {}): Promise<void> {
    // Another process may have taken a step since the request was read, so that the audit shows a newer state.
    const current = await store.find(request.id)
    if (current?.revision !== request.revision) return store.postpone(request.id, changedMs)
    await onDistrusted(request, problem)
    if (!keepOpen && problem.code === 'unknown-key') return store.postponeIfUnchanged(request, unknownKeyMs)
    if (!keepOpen && canEnd(request)) {
      const { outcome } = await store.take(request, 'distrust', { set: { causes: [unverifiedRecord] } })
      return outcome === 'won' ? show(request.id) : undefined
    }
    await audit.note(noteOf(request, 'distrust', { causes: [problem] }))
    if (keepOpen) await store.postpone(request.id, keptMs)
    else await store.clearDueIfUnchanged(request.id, request.revision)
  }
}
export type Distrust = ReturnType<typeof createDistrust>

function canEnd({ state }: Request): boolean {
  return state !== unknownState && stepOf('distrust').from.includes(state)
}
