import { hash } from 'node:crypto'
import { policyInFile } from './policy-in-file.ts'
import { openRecords } from './records.ts'
import { ops, startWorld, untilCard, type World, type WorldOptions } from './world.ts'

export const token = 'token-of-alertmanager-with-32-characters'

type Labels = Record<string, unknown>

/** An alert as Alertmanager sends it. */
export function alert(labels: Labels = {}, more: Record<string, unknown> = {}) {
  const all: Labels = { alertname: 'NodeDown', instance: 'web-1:9100', severity: 'critical', ...labels }
  return {
    status: 'firing',
    labels: all,
    annotations: { summary: `${String(all.instance)} is down` },
    startsAt: '2026-11-22T03:00:00.000Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example.com:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1',
    fingerprint: hash('sha256', JSON.stringify(all)).slice(0, 16),
    ...more,
  }
}
export type WireAlert = ReturnType<typeof alert>

export function resolved(of: WireAlert): WireAlert {
  return { ...of, status: 'resolved', endsAt: '2026-11-22T03:09:00.000Z' }
}

/** One delivery of Alertmanager. */
export function delivery(alerts: unknown[], more: Record<string, unknown> = {}) {
  return {
    version: '4',
    groupKey: '{}:{alertname="NodeDown"}',
    truncatedAlerts: 0,
    status: 'firing',
    receiver: 'lockkeeper',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://alertmanager.example.com:9093',
    alerts,
    ...more,
  }
}

interface Ports {
  alertsPort?: number | undefined
}

/** Sends a body to the port of alerts. Returns the status. */
export async function post({ alertsPort }: Ports, body: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${alertsPort}/alerts/alertmanager`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body,
  })
  return answer.status
}

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
