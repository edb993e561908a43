import type { RequestItem } from '../../src/domain/request.ts'
import { ops } from '../journeys/world.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import type { Scene } from './scene.ts'
import { untilTrue } from './until-true.ts'

/** Returns the Elastic IPs that are on a rack at the start, in the order of the request message. */
export function onRack({ accountApi }: Scene, rack: number) {
  const isThere = ({ address }: { address: string }) => address.startsWith(`198.18.${200 + rack}.`)
  return accountApi.world.elasticIps().filter(isThere)
}

export function untilEvacuation({ slack }: Scene, rack: number, fits: RegExp, timeoutMs = 90_000): Promise<Message> {
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

export async function untilItem({ evidence }: Scene, id: string, fits: (item: RequestItem) => boolean): Promise<void> {
  await untilTrue(`the item ${id} is like ${fits}`, async () => {
    const item = (await evidence.records()).flatMap(({ items = [] }) => items).find((each) => each.id === id)
    return item !== undefined && fits(item)
  })
}
