import { ops, untilCard, type World } from '../journeys/world.ts'
import { accountData } from '../sandbox/account-api/data/account.ts'
import { idOf } from '../sandbox/account-api/data/ids.ts'
import type { ElasticIpState } from '../sandbox/account-api/data/model.ts'
import { serverId } from '../sandbox/account-api/data/servers.ts'

/** Where `askForAll` moves them to. */
export const target = serverId('storefront', 'web-2')

/** So many Elastic IPs on one server, instead of the usual ones. */
export function manyElasticIps(count: number): ElasticIpState[] {
  const [like] = accountData('').elasticIps
  return Array.from({ length: count }, (_, index) => {
    const address = `198.51.${100 + Math.floor(index / 250)}.${(index % 250) + 1}`
    return { ...(like as ElasticIpState), id: idOf('eip', address), address }
  })
}

/** Ada asks for the first move that can be made, and Ben approves it. */
export async function approveMove(world: World) {
  const { elasticIp, target: to } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${to.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /Waiting for approval/)
  await world.ben.click(card, 'Approve')
  return { elasticIp, target: to, card }
}

export function patchesOf(world: Pick<World, 'accountApi'>) {
  return world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')
}

/** Asks for a move of every Elastic IP there is, where that needs no approval, and waits until their cards say that they are moving. */
export async function moveAll(world: World): Promise<void> {
  const all = world.accountApi.world.elasticIps()
  for (const { id } of all) await world.ada.command(`/infra ip move ${id} ${target}`, { channel: ops })
  const moving = () => world.slack.messages(ops).filter(({ text }) => /\*Moving\*/.test(text))
  await world.slack.until(() => moving().length === all.length, { timeoutMs: 60_000 })
}

/** The words below each card, without the cards themselves. */
export function reportsOf({ slack }: Pick<World, 'slack'>): string[] {
  return slack.messages(ops).flatMap((card) =>
    slack
      .thread(ops, card.ts)
      .slice(1)
      .map(({ text }) => text),
  )
}
