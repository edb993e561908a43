import { delivery, post, token } from './alert-deliveries.ts'
import { policyInFile } from './policy-in-file.ts'
import { openRecords } from './records.ts'
import { ops, startWorld, untilCard, type World, type WorldOptions } from './world.ts'

export { alert, delivery, post, resolved, token, type WireAlert } from './alert-deliveries.ts'

export const policy = `
rules:
  - name: failover
    changes: ip.evacuate
    request: [alerts, everyone]
    approve: [S0ONCALL01]
    reason: required
  - name: moves
    changes: ip.move
    approve: [S0ONCALL01]
alerts:
  - name: node down
    match: {alertname: NodeDown}
    server: instance
    to: {ASH: web-2, FRA: edge-fra-2}
    channel: ${ops}
`

/** Starts a world in which alerts arrive. */
export async function startAlertWorld({ env = {}, ...options }: WorldOptions = {}, yaml = policy) {
  const world = await startWorld({
    ...options,
    env: { POLICY_FILE: policyInFile(yaml), ALERTS_PORT: '0', ALERTS_TOKEN: token, ...env },
  })
  /** Sends alerts to one of the bots. Returns the status. */
  const send = (alerts: unknown[], bot = 0) => post(world.bots[bot] ?? {}, JSON.stringify(delivery(alerts)))
  return { ...world, send, records: openRecords(world) }
}
export type AlertWorld = Awaited<ReturnType<typeof startAlertWorld>>

export const untilProposed = ({ slack }: Pick<World, 'slack'>, from = 'web-1') =>
  untilCard(slack, new RegExp(`Evacuate ${from} →.*Alertmanager needs approval from`, 's'))
