import { canReverse, type Request } from '../../domain/request/request.ts'
import type { CheckRecord } from '../access/check-record.ts'
import type { Show } from '../outbox/show.ts'
import type { Store } from '../store/store.ts'

interface NoteUndoneParts {
  store: Pick<Store, 'find' | 'take'>
  checkRecord: CheckRecord
  show: Show
}

/**
 * Creates the step that notes on a request that a later one has undone it, so that its message says so. A request that undoes another one stays
 * due after its end until then, so no crash loses the note.
 */
export function createNoteUndone({ store, checkRecord, show }: NoteUndoneParts) {
  /** Returns `again` if the undone request took another step at the same moment. */
  return async function noteUndone(request: Request): Promise<'noted' | 'nothing' | 'again'> {
    const { id, origin, cardTs, undoes } = request
    if (!undoes || cardTs === undefined || !canReverse(request) || checkRecord(request)) return 'nothing'
    const undone = await store.find(undoes.id)
    if (!undone || !canReverse(undone) || undone.undoneBy?.id === id || checkRecord(undone)) return 'nothing'
    const undoneBy = { id, channelId: origin.channelId, cardTs, isWhole: isWhole(undone, request) }
    const { outcome } = await store.take(undone, 'note-undone', { set: { undoneBy } }, id)
    if (outcome === 'changed') return 'again'
    if (outcome === 'won') await show(undone.id)
    return outcome === 'won' ? 'noted' : 'nothing'
  }
}
export type NoteUndone = ReturnType<typeof createNoteUndone>

/** Whether everything that a request did is undone. A request with items can undo some of them. */
function isWhole({ items = [] }: Request, { items: undoing = [] }: Request): boolean {
  const back = new Set(undoing.filter(({ state }) => state === 'done').map(({ id }) => id))
  return items.every(({ id, state }) => state !== 'done' || back.has(id))
}
