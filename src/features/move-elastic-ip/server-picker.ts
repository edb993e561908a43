import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { canMoveTo } from '../../domain/elastic-ip-move/can-move-to.ts'
import { within } from '../../domain/within.ts'
import { isChoice, keepChoice } from '../../slack/blocks/picker.ts'
import { reasonIn } from '../../slack/blocks/reason-input.ts'
import type { Choices, Click, OptionsQuery } from '../../slack/commands/handlers.ts'
import { readMetadata, writeMetadata } from '../../slack/receive/metadata.ts'
import { moveForm, moveModal, serverBlockFor, serverBlockIn } from './modal.ts'
import { serverChoices, serverOf } from './pickers.ts'

/**
 * Offers servers that fit the chosen Elastic IP. Slack does not send the other fields with an option load (slackapi/bolt-js 1146), so the
 * choice arrives as a click, and is stored in the form's metadata.
 */
export function createServerPicker(inventory: Pick<Inventory, 'elasticIps' | 'servers'>) {
  async function offerServers({ typed, metadata, values }: OptionsQuery): Promise<Choices> {
    const elasticIpId = readMetadata(metadata)?.extra ?? values[moveForm.elasticIp]
    const chosen = isChoice(elasticIpId) ? asFarAsRead(inventory.elasticIps()) : { items: [] }
    const [servers, elasticIps] = await Promise.all([asFarAsRead(inventory.servers()), chosen])
    const elasticIp = elasticIps.items.find(({ id }) => id === elasticIpId)
    const { items, ...missing } = servers
    return serverChoices(items, typed, elasticIp, missing)
  }

  /** Updates the form for another Elastic IP. A chosen server stays if the Elastic IP can move there. */
  async function elasticIpChosen({ view }: Click): Promise<void> {
    if (!view) return
    const before = readMetadata(view.metadata)?.extra
    const elasticIp = keepChoice(view.chosen[moveForm.elasticIp])
    if (elasticIp?.value === before) return
    const server = keepChoice(view.chosen[serverBlockIn(view.values)])
    const stays = server !== undefined && (await canGo(elasticIp?.value, server.value))
    // Before the first choice the field keeps its block id, because the person may be typing in it.
    const isUsed = before !== undefined || server !== undefined
    await view.update(
      moveModal({
        metadata: withElasticIp(view.metadata, elasticIp?.value),
        elasticIp,
        server: stays ? server : undefined,
        serverBlock: isUsed ? serverBlockFor(elasticIp?.value) : undefined,
        reason: reasonIn(view.values),
      }),
    )
  }

  /** Renders a form again that an earlier request filled, because another server makes it another change. */
  async function serverChosen({ view }: Click): Promise<void> {
    if (!view) return
    const serverBlock = serverBlockIn(view.values)
    await view.update(
      moveModal({
        metadata: view.metadata,
        elasticIp: keepChoice(view.chosen[moveForm.elasticIp]),
        server: keepChoice(view.chosen[serverBlock]),
        serverBlock,
        reason: reasonIn(view.values),
      }),
    )
  }

  /** Compares with the cached lists. If they cannot be read within 1 s, the person chooses the server again. */
  async function canGo(elasticIpId: string | undefined, serverId: string | undefined): Promise<boolean> {
    const lists = await within(1_000, Promise.all([inventory.elasticIps(), inventory.servers()])).catch(() => undefined)
    if (lists?.is !== 'ready') return false
    const [elasticIps, servers] = lists.value
    const elasticIp = elasticIps.find(({ id }) => id === elasticIpId)
    const server = servers.find(({ id }) => id === serverId)
    return elasticIp !== undefined && server !== undefined && canMoveTo(elasticIp, server, serverOf(elasticIp, servers))
  }

  return { offerServers, elasticIpChosen, serverChosen }
}

/** Adds the chosen Elastic IP to the metadata of a form. */
export function withElasticIp(metadata: string, elasticIpId: string | undefined): string {
  const known = readMetadata(metadata)
  return known ? writeMetadata({ ...known, extra: elasticIpId }) : metadata
}
