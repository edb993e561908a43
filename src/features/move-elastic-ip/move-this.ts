import type { PlainTextOption } from '@slack/web-api'
import type { Inventory } from '../../account-api/inventory.ts'
import { findInList } from '../../account-api/lists/cut-list.ts'
import { withinOr } from '../../domain/within.ts'
import { moveKind } from '../../moves/move-change.ts'
import type { Access } from '../../requests/access/access.ts'
import { createOpenOffer } from '../../requests/interactions/forms/open-offer.ts'
import { preset } from '../../slack/blocks/picker.ts'
import { moveModal } from './modal.ts'
import { withElasticIp } from './server-picker.ts'

interface MoveThisParts {
  inventory: Pick<Inventory, 'elasticIps' | 'servers'>
  access: Pick<Access, 'gateForm'>
}

/** The longest wait for the names that the filled form shows. Without them it shows the ids. */
const namesMs = 1_500

/** Creates the button *Move…* of a look-up. */
export function createMoveThis({ inventory, access }: MoveThisParts) {
  const openOffer = createOpenOffer({
    access,
    kind: moveKind,
    form: async ({ id, serverId }, metadata) => {
      const [elasticIp, server] = await Promise.all([elasticIpOption(id), serverOption(serverId)])
      return moveModal({ metadata: withElasticIp(metadata, id), elasticIp, server })
    },
  })

  async function elasticIpOption(id: string): Promise<PlainTextOption | undefined> {
    const found = await known(findInList(inventory.elasticIps(), (each) => each.id === id))
    return preset({ text: found?.address ?? id, value: id })
  }

  async function serverOption(id: string | undefined): Promise<PlainTextOption | undefined> {
    if (id === undefined) return undefined
    const found = await known(findInList(inventory.servers(), (each) => each.id === id))
    return preset({ text: found?.hostname ?? id, value: id })
  }

  async function known<T>(read: Promise<T | undefined>): Promise<T | undefined> {
    return withinOr(
      namesMs,
      read.catch(() => undefined),
      undefined,
    )
  }

  return openOffer
}
