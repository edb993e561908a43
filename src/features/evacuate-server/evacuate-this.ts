import type { Inventory } from '../../account-api/inventory.ts'
import { findInList } from '../../account-api/lists/cut-list.ts'
import { withinOr } from '../../domain/within.ts'
import type { Access } from '../../requests/access/access.ts'
import { createOpenOffer } from '../../requests/interactions/forms/open-offer.ts'
import { preset } from '../../slack/blocks/picker.ts'
import { evacuationKind } from './change.ts'
import type { EvacuationForm } from './form.ts'

interface EvacuateThisParts {
  inventory: Pick<Inventory, 'servers'>
  access: Pick<Access, 'gateForm'>
  formFor: EvacuationForm['formFor']
}

/** The longest wait for the name that the filled form shows. Without it the form shows the id. */
const nameMs = 1_000

/** Creates the button *Evacuate…* of a look-up. */
export function createEvacuateThis({ inventory, access, formFor }: EvacuateThisParts) {
  return createOpenOffer({
    access,
    kind: evacuationKind,
    form: async ({ id }, metadata) => {
      const listed = findInList(inventory.servers(), (server) => server.id === id).catch(() => undefined)
      const server = await withinOr(nameMs, listed, undefined)
      return formFor({ metadata }, { server: preset({ text: server?.hostname ?? id, value: id }) })
    },
  })
}
