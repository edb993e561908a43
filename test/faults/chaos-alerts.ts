import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../sandbox/programs.ts'

const token = 'token-of-the-chaos-with-32-characters'

interface Places {
  channel: string
  approvers: readonly string[]
  /** The id of the server that racks are evacuated to. */
  to: string
}

/** Lets bots receive alerts about racks. Each has its own port, which it keeps when it is started again. */
export async function prepareAlerts(count: number, { channel, approvers, to }: Places) {
  const folder = mkdtempSync(join(tmpdir(), 'lockkeeper-chaos-'))
  const policy = join(folder, 'policy.yml')
  const approve = `approve: [${approvers.join(', ')}]`
  writeFileSync(
    policy,
    `rules:
  - name: failover
    changes: ip.evacuate
    request: [alerts, everyone]
    ${approve}
  - name: everything
    ${approve}
alerts:
  - name: node down
    match: {alertname: NodeDown}
    server: instance
    to: {ASH: ${to}}
    channel: ${channel}
`,
  )
  const ports = await Promise.all(Array.from({ length: count }, freePort))

  /** Delivers that a rack is down, as Alertmanager does. Returns whether the bot accepted it. */
  async function deliver(bot: number, rack: number): Promise<boolean> {
    const labels = { alertname: 'NodeDown', instance: `rack-${rack}:9100` }
    const alert = { status: 'firing', labels, annotations: {}, startsAt: '2026-11-22T03:00:00Z', fingerprint: `${rack}`.padStart(16, '0') }
    const body = JSON.stringify({ version: '4', status: 'firing', receiver: 'lockkeeper', truncatedAlerts: 0, alerts: [alert] })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${ports[bot % count]}/alerts/alertmanager`
    return fetch(url, { method: 'POST', headers, body }).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  return {
    env: { POLICY_FILE: policy, ALERTS_TOKEN: token },
    own: (index: number) => ({ ALERTS_PORT: String(ports[index]) }),
    deliver,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
