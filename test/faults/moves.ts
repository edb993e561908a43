import { expect } from 'vitest'
import { approveMove, ops, patchesOf, startWorld, untilReport, type World, type WorldOptions } from '../journeys/world.ts'
import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import { places } from './many-elastic-ips.ts'

/** Changes on the account cause no event at the stand-in Slack, so they are polled. */
export const patient = { timeout: 15_000, interval: 20 }

/** Approves a move whose write meets this fault, up to the report. The write is sent once. */
export async function moveInto(order: FaultOrder, fits: RegExp, options: WorldOptions = {}, prepare = (_world: World) => {}) {
  const world = await startWorld(options)
  prepare(world)
  const fault = world.accountApi.faults.add({ method: 'PATCH', path: /^\/elastic_ips\//, ...order })
  const approved = await approveMove(world)
  const report = await untilReport(world.slack, approved.card.ts, fits)
  expect(fault.fired).toBe(1)
  expect(patchesOf(world)).toHaveLength(1)
  return { ...world, ...approved, report }
}

/**
 * Requests a move of every Elastic IP, without approvals, until their cards say that they are moving. On a busy machine, Redis can take longer
 * than a person waits.
 */
export async function moveAll(world: World): Promise<void> {
  const all = world.accountApi.world.elasticIps()
  const cards = () => world.slack.messages(ops).map(({ text }) => text)
  let left = all
  for (let round = 0; left.length > 0 && round < 5; round += 1) {
    for (const { id } of left) await world.ada.command(`/infra ip move ${id} ${places.to}`, { channel: ops })
    const isMoving = () => cards().filter((text) => /\*Moving\*/.test(text)).length === all.length
    await world.slack.until(isMoving, { timeoutMs: 20_000 }).catch(() => {})
    left = all.filter(({ id }) => !cards().some((text) => text.includes(id)))
  }
  await world.slack.until(() => cards().filter((text) => /\*Moving\*/.test(text)).length === all.length)
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
