import type { ApiAnswer } from '../../../audit/entry.ts'
import type { Audit } from '../../../audit/intake.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { OpenedItem } from '../../catalog.ts'
import type { NoteOf } from '../../store/request-note.ts'
import { withAnswer } from '../execute/request-outcomes.ts'
import type { WriteOutcomes } from '../execute/send-write.ts'
import type { ItemStep, ItemSteps } from './item-steps.ts'

interface OutcomesOfItemParts {
  itemSteps: ItemSteps
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
}

/** Creates the function that returns how the outcomes of an item's one write are recorded. */
export function createOutcomesOfItem({ itemSteps, audit, noteOf }: OutcomesOfItemParts) {
  return function outcomesOf(request: Request, { id, resource, facts }: OpenedItem): WriteOutcomes {
    const note = (answer: ApiAnswer | undefined) =>
      audit.note(noteOf(request, 'answer', { item: id, resource, facts, ...withAnswer(answer) }))
    async function take(step: ItemStep, answer: ApiAnswer | undefined): Promise<void> {
      const taken = await itemSteps.takeItemStep(request.id, id, () => ({ ...step, ...withAnswer(answer) }))
      // A record that was changed in the meantime gets no step, but the audit must still show the answer to the write that was sent.
      if (taken === undefined) await note(answer)
    }
    return {
      finish: (answer) => take({ name: 'finish-item' }, answer),
      accept: (answer) => take({ name: 'accept-item' }, answer),
      fail: (cause, answer) => take({ name: 'fail-item', set: { causes: [cause] } }, answer),
      notStart: (cause, answer) => take({ name: 'not-start-item', set: { causes: [cause] } }, answer),
      limited: (_, answer) => take({ name: 'limit-item' }, answer),
      unclear: note,
    }
  }
}
