import { ops, untilCard, type World } from '../journeys/world.ts'
import { places } from './many-elastic-ips.ts'

/** Ada requests the first possible move, and Ben approves it. */
export async function approveMove(world: World) {
  const { elasticIp, target: to } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${to.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  await world.ben.click(card, 'Approve')
  return { elasticIp, target: to, card }
}

export function patchesOf(world: Pick<World, 'accountApi'>) {
  return world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')
}

/** Requests a move of every Elastic IP, without approvals. Waits until their cards say that they are moving. */
export async function moveAll(world: World): Promise<void> {
  const all = world.accountApi.world.elasticIps()
  for (const { id } of all) await world.ada.command(`/infra ip move ${id} ${places.to}`, { channel: ops })
  const moving = () => world.slack.messages(ops).filter(({ text }) => /\*Moving\*/.test(text))
  await world.slack.until(() => moving().length === all.length, { timeoutMs: 60_000 })
}

/** Returns the texts in the threads, without the cards. */
export function reportsOf({ slack }: Pick<World, 'slack'>): string[] {
  return slack.messages(ops).flatMap((card) =>
    slack
      .thread(ops, card.ts)
      .slice(1)
      .map(({ text }) => text),
  )
}
