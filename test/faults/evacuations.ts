import { setTimeout as delay } from 'node:timers/promises'
import type { RequestItem } from '../../src/domain/request.ts'
import { ops } from '../journeys/world.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import type { Scene } from './scene.ts'

/** Returns the Elastic IPs that are on a rack at the start, in the order of the request message. */
export function onRack({ account }: Scene, rack: number) {
  const isThere = ({ address }: { address: string }) => address.startsWith(`198.18.${200 + rack}.`)
  return account.world.elasticIps().filter(isThere)
}

export function untilEvacuation({ slack }: Scene, rack: number, fits: RegExp, timeoutMs = 15_000): Promise<Message> {
  const title = new RegExp(`Evacuate \`?rack-${rack}\`? →`)
  const isIt = ({ isBot, text }: Message) => isBot && title.test(text) && fits.test(text)
  return slack.until(() => slack.messages(ops).findLast(isIt), { what: `a card of rack-${rack} like ${fits}`, timeoutMs })
}

export async function requestEvacuation(scene: Scene, rack: number): Promise<Message> {
  await scene.ada.command(`/infra evacuate rack-${rack} ${scene.to}`, { channel: ops })
  return untilEvacuation(scene, rack, /needs approval from/)
}

export function writesOf({ writes }: Scene, elasticIps: { id: string }[]): number[] {
  const paths = writes().map(({ path }) => path)
  return elasticIps.map(({ id }) => paths.filter((path) => path.endsWith(id)).length)
}

export async function untilItem({ evidence }: Scene, id: string, fits: (item: RequestItem) => boolean, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  const find = async () => (await evidence.records()).flatMap(({ items = [] }) => items).find((item) => item.id === id)
  let last = await find()
  for (; !last || !fits(last); last = await find()) {
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${id}: ${JSON.stringify(last)}`)
    await delay(50)
  }
}
