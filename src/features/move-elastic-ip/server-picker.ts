import type { Inventory } from '../../account-api/inventory.ts'
import { within } from '../../domain/within.ts'
import { reasonIn } from '../../slack/blocks/inputs.ts'
import { isChoice, keepChoice } from '../../slack/blocks/picker.ts'
import type { Choices, Click, OptionsQuery } from '../../slack/commands/handlers.ts'
import { readMetadata, writeMetadata } from '../../slack/receive/payloads.ts'
import { moveForm, moveModal, serverBlockFor, serverBlockIn } from './modal.ts'
import { isWithinReach, serverChoices } from './pickers.ts'

/**
 * The servers that are offered depend on the Elastic IP that was chosen. An option load of Slack's does not tell what was entered in the
 * other fields (slackapi/bolt-js 1146), so the choice comes as a click, and the form is made to remember it.
 */
export function createServerPicker(inventory: Pick<Inventory, 'elasticIps' | 'servers'>) {
  async function offerServers({ typed, metadata, values }: OptionsQuery): Promise<Choices> {
    const elasticIpId = readMetadata(metadata)?.extra ?? values[moveForm.elasticIp]
    const [servers, elasticIps] = await Promise.all([inventory.servers(), isChoice(elasticIpId) ? inventory.elasticIps() : []])
    const elasticIp = elasticIps.find(({ id }) => id === elasticIpId)
    return serverChoices(servers, typed, elasticIp)
  }

  /** A server that was chosen before stays where the Elastic IP can go there, and goes otherwise. */
  async function elasticIpChosen({ view }: Click): Promise<void> {
    if (!view) return
    const before = readMetadata(view.metadata)?.extra
    const elasticIp = keepChoice(view.chosen[moveForm.elasticIp])
    if (elasticIp?.value === before) return
    const server = keepChoice(view.chosen[serverBlockIn(view.values)])
    const stays = server !== undefined && (await canGo(elasticIp?.value, server.value))
    // Where no servers were chosen from yet, the field is left alone: somebody may be typing in it.
    const isUsed = before !== undefined || server !== undefined
    await view.update(
      moveModal({
        metadata: rememberElasticIp(view.metadata, elasticIp?.value),
        elasticIp,
        server: stays ? server : undefined,
        serverBlock: isUsed ? serverBlockFor(elasticIp?.value) : undefined,
        reason: reasonIn(view.values),
      }),
    )
  }

  /** By the lists that were picked from. Where they are not at hand any more, the server is chosen anew. */
  async function canGo(elasticIpId: string | undefined, serverId: string | undefined): Promise<boolean> {
    const lists = await within(1_000, Promise.all([inventory.elasticIps(), inventory.servers()])).catch(() => undefined)
    if (lists?.is !== 'ready') return false
    const [elasticIps, servers] = lists.value
    const elasticIp = elasticIps.find(({ id }) => id === elasticIpId)
    const server = servers.find(({ id }) => id === serverId)
    return elasticIp !== undefined && server !== undefined && elasticIp.server?.id !== serverId && isWithinReach(elasticIp, server, servers)
  }

  return { offerServers, elasticIpChosen }
}

/** Metadata of a form in which this Elastic IP is chosen. */
export function rememberElasticIp(metadata: string, elasticIpId: string | undefined): string {
  const known = readMetadata(metadata)
  return known ? writeMetadata({ ...known, extra: elasticIpId }) : metadata
}
