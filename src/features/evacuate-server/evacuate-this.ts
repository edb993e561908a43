import { findInList } from '../../account-api/cut-list.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { OfferedThing } from '../../domain/offer.ts'
import { withinOr } from '../../domain/within.ts'
import type { Access } from '../../requests/access/access.ts'
import { noticeView } from '../../slack/blocks/notice.ts'
import { preset } from '../../slack/blocks/picker.ts'
import type { Click } from '../../slack/commands/handlers.ts'
import { toUserWords } from '../../slack/errors.ts'
import { readJson } from '../../slack/receive/payloads.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import { evacuationKind } from './change.ts'
import type { EvacuationForm } from './form.ts'

interface EvacuateThisParts {
  inventory: Pick<Inventory, 'servers'>
  access: Pick<Access, 'gateForm'>
  formFor: EvacuationForm['formFor']
}

/** The longest wait for the name that the filled form shows. Without it the form shows the id. */
const nameMs = 1_000

/** Creates the button *Evacuate…* of a look-up: the filled form replaces what was found, or the reason why the person cannot request it here. */
export function createEvacuateThis({ inventory, access, formFor }: EvacuateThisParts) {
  return async function evacuateThis({ view, value, origin }: Click): Promise<void> {
    if (!view) return
    const thing = readJson(OfferedThing, value)
    if (!thing) return view.update(noticeView(mrkdwn`This button is out of date. Look the message up again.`))
    try {
      await access.gateForm(origin, evacuationKind)
    } catch (error) {
      const problem = toUserWords(error)
      if (!problem) throw error
      return view.update(noticeView(problem, 'Not possible'))
    }
    const listed = findInList(inventory.servers(), ({ id }) => id === thing.id).catch(() => undefined)
    const server = await withinOr(nameMs, listed, undefined)
    await view.update(
      await formFor({ metadata: view.metadata }, { server: preset({ text: server?.hostname ?? thing.id, value: thing.id }) }),
    )
  }
}
