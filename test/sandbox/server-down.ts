import type { World } from './account-api/world.ts'
import type { Breakage } from './breakage.ts'
import type { SendAlert } from './send-alert.ts'

const hostname = 'web-1'

interface ServerDownParts {
  world: Pick<World, 'data' | 'killServer' | 'reviveServer'>
  sendAlert: SendAlert
}

/** Creates the switch that puts web-1 off. Alertmanager reports it, and reports its end once the server is on again. */
export function createServerDown({ world, sendAlert }: ServerDownParts): Breakage {
  let downSince: Date | undefined

  async function turnOff(serverId: string): Promise<string> {
    downSince = new Date()
    world.killServer(serverId)
    const refused = await sendAlert({ status: 'firing', startsAt: downSince })
    return refused === undefined
      ? `${hostname} is off, and Alertmanager has sent its alert to Lockkeeper. See #ops.`
      : `${hostname} is off, but Lockkeeper didn't take the alert: ${refused}.`
  }

  async function turnOn(serverId: string): Promise<string> {
    world.reviveServer(serverId)
    const startsAt = downSince ?? new Date()
    downSince = undefined
    const refused = await sendAlert({ status: 'resolved', startsAt, endsAt: new Date() })
    return refused === undefined
      ? `${hostname} is on again, and Alertmanager has told Lockkeeper that the alert resolved.`
      : `${hostname} is on again, but Lockkeeper didn't take the alert: ${refused}.`
  }

  return {
    id: 'server-down',
    name: `Server ${hostname} goes down`,
    effect: `${hostname} is off, its Elastic IPs show no server, and Alertmanager sends an alert.`,
    kind: 'switch',
    isOn: () => downSince !== undefined,
    turn(on) {
      if (on === (downSince !== undefined)) return undefined
      const id = world.data.servers.find((server) => server.hostname === hostname)?.id ?? ''
      return on ? turnOff(id) : turnOn(id)
    },
  }
}
