import { Pool } from 'undici'
import { signatureOf } from '../../sandbox/slack/transport.ts'

/**
 * Sends signed slash commands, all different, over a number of kept connections. Each connection waits for an acknowledgement before its
 * next command. Prints the durations in ms.
 */
export interface Load {
  port: number
  connections: number
  count: number
  secret: string
  /** The URL for answers. */
  responseUrl: string
}

export interface Acknowledged {
  /** From the first command to the last acknowledgement. */
  wallMs: number
  p50: number
  p99: number
}

let sent = 0

process.on('message', async (load: Load) => process.send?.(await run(load)))
process.on('disconnect', () => process.exit(0))

async function run({ port, connections, count, secret, responseUrl }: Load): Promise<Acknowledged> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 })
  const took: number[] = []
  const bodies = Array.from({ length: count }, () => bodyOf(responseUrl))
  const timestamp = Math.floor(Date.now() / 1_000)
  const signed = bodies.map((body) => ({ body, signature: signatureOf(secret, timestamp, body) }))

  async function sendOneAfterTheOther(): Promise<void> {
    for (let next = signed.pop(); next; next = signed.pop()) {
      const startedAt = performance.now()
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/slack/events',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-slack-request-timestamp': String(timestamp),
          'x-slack-signature': next.signature,
        },
        body: next.body,
      })
      await body.dump()
      if (statusCode !== 200) throw new Error(`acknowledged with ${statusCode}`)
      took.push(performance.now() - startedAt)
    }
  }

  const startedAt = performance.now()
  await Promise.all(Array.from({ length: connections }, sendOneAfterTheOther))
  const wallMs = performance.now() - startedAt
  await pool.close()
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN
  return { wallMs, p50: at(0.5), p99: at(0.99) }
}

/** Builds a slash command as Slack sends it (docs.slack.dev, "Implementing slash commands"). */
function bodyOf(responseUrl: string): string {
  sent += 1
  return new URLSearchParams({
    token: 'gIkuvaNzQIHg97ATvDxqgjtO',
    team_id: 'T1',
    team_domain: 'bench',
    channel_id: 'C0OPS00001',
    channel_name: 'ops',
    user_id: 'U0ADA00001',
    user_name: 'ada',
    command: '/infra',
    text: 'ip list',
    api_app_id: 'A0BENCH001',
    is_enterprise_install: 'false',
    response_url: responseUrl,
    trigger_id: `${process.pid}.${sent}.0123456789abcdef0123456789abcdef`,
  }).toString()
}
