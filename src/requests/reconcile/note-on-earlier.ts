import { canReverse, type Request } from '../../domain/request/request.ts'
import { restOf } from '../../domain/request/request-item.ts'
import type { CheckRecord } from '../access/check-record.ts'
import type { Show } from '../outbox/show.ts'
import type { StepName } from '../steps.ts'
import type { StepData } from '../store/step-data.ts'
import type { Store } from '../store/store.ts'

interface NoteOnEarlierParts {
  store: Pick<Store, 'find' | 'take'>
  checkRecord: CheckRecord
  show: Show
}

/** What a request notes on an earlier one. Undefined if there is nothing to note. */
type Note = (earlier: Request, later: Request, by: { id: string; channelId: string; cardTs: string }) => StepToTake | undefined
interface StepToTake {
  name: StepName
  set: NonNullable<StepData['set']>
}

/**
 * Creates the steps that note on earlier requests that a later one has undone them or done their rest, so that their messages say so. Such a
 * request stays due after its end until then, so no crash loses the note.
 */
export function createNoteOnEarlier({ store, checkRecord, show }: NoteOnEarlierParts) {
  /** Returns `again` if an earlier request took another step at the same moment. */
  return async function noteOnEarlier(request: Request): Promise<'settled' | 'again'> {
    if (request.cardTs === undefined || !canReverse(request) || checkRecord(request)) return 'settled'
    const noted = [await noteOn(request.undoes?.id, request, undone), await noteOn(request.repeats?.id, request, retried)]
    return noted.includes('again') ? 'again' : 'settled'
  }

  async function noteOn(earlierId: string | undefined, later: Request, note: Note): Promise<'settled' | 'again'> {
    const earlier = earlierId === undefined ? undefined : await store.find(earlierId)
    if (!earlier || checkRecord(earlier)) return 'settled'
    const step = note(earlier, later, { id: later.id, channelId: later.origin.channelId, cardTs: later.cardTs ?? '' })
    if (!step) return 'settled'
    const { outcome } = await store.take(earlier, step.name, { set: step.set }, later.id)
    if (outcome === 'won') await show(earlier.id)
    return outcome === 'changed' ? 'again' : 'settled'
  }
}

const undone: Note = (earlier, later, by) => {
  if (!canReverse(earlier) || earlier.undoneBy?.id === by.id) return undefined
  const didDo = (earlier.items ?? []).filter(({ state }) => state === 'done')
  return { name: 'note-undone', set: { undoneBy: { ...by, isWhole: areDone(didDo, later) } } }
}

const retried: Note = (earlier, later, by) => {
  const rest = restOf(earlier.items ?? [])
  if (earlier.state !== 'failed' || rest.length === 0 || earlier.retriedBy?.id === by.id) return undefined
  return { name: 'note-retried', set: { retriedBy: { ...by, isWhole: areDone(rest, later) } } }
}

/** Whether a later request has done something with each of these items. Without items, its end is about all of the earlier one. */
function areDone(items: { id: string }[], later: Request): boolean {
  const done = new Set((later.items ?? []).filter(({ state }) => state === 'done').map(({ id }) => id))
  return items.every(({ id }) => done.has(id))
}
