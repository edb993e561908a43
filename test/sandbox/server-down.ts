import { setTimeout as delay } from 'node:timers/promises'
import type { AccountApi } from './account-api/start-account-api.ts'
import type { Breakage } from './breakage.ts'
import type { SendAlert } from './send-alert.ts'

const hostname = 'web-1'

/** Lockkeeper lists all Elastic IPs 15 s after its first start. */
const patienceMs = 20_000

interface ServerDownParts {
  accountApi: Pick<AccountApi, 'world' | 'journal'>
  sendAlert: SendAlert
}

/** Creates the switch that puts web-1 off. Alertmanager reports it, and reports its end once the server is on again. */
export function createServerDown({ accountApi: { world, journal }, sendAlert }: ServerDownParts): Breakage {
  let downSince: Date | undefined

  async function turnOff(serverId: string): Promise<string> {
    downSince = new Date()
    await untilListed()
    world.killServer(serverId)
    const refused = await sendAlert({ status: 'firing', startsAt: downSince })
    return refused === undefined
      ? `${hostname} is off, and Alertmanager has sent its alert to Lockkeeper. See #ops.`
      : `${hostname} is off, but Lockkeeper didn't take the alert: ${refused}.`
  }

  /** A server that Lockkeeper never saw before it died has no addresses that Lockkeeper could find. */
  async function untilListed(): Promise<void> {
    const deadline = Date.now() + patienceMs
    const isList = ({ path, query }: { path: string; query: Record<string, string> }) =>
      path === '/elastic_ips' && !Object.keys(query).some((name) => name.startsWith('filter'))
    while (!journal.some(isList) && Date.now() < deadline) await delay(100)
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
