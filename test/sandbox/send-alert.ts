import { readFileSync } from 'node:fs'

/** What a real Alertmanager sent when it found that web-1 was down. */
const recorded = readFileSync(new URL('../alerts/payloads/alertmanager/firing.json', import.meta.url), 'utf8')

interface Sent {
  status: 'firing' | 'resolved'
  startsAt: Date
  /** When it resolved. */
  endsAt?: Date
}

interface SendAlertParts {
  /** The bot's address for alerts. */
  url: string
  token: string
}

/**
 * Creates the function that sends the alert about web-1 as Alertmanager does, once. Resolves with nothing if it was accepted, otherwise with
 * why it was not.
 */
export function createSendAlert({ url, token }: SendAlertParts) {
  return async function sendAlert({ status, startsAt, endsAt }: Sent): Promise<string | undefined> {
    const payload = JSON.parse(recorded)
    const ended = endsAt ? { endsAt: endsAt.toISOString() } : {}
    const alerts = payload.alerts.map((alert: object) => ({ ...alert, status, startsAt: startsAt.toISOString(), ...ended }))
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Alertmanager/0.25.0', authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...payload, status, alerts }),
    }).catch((error: Error) => error)
    if (answer instanceof Error) return answer.message
    return answer.ok ? undefined : `it answered ${answer.status}`
  }
}
export type SendAlert = ReturnType<typeof createSendAlert>
