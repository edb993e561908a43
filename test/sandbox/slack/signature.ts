import { createHmac } from 'node:crypto'

/** Returns `X-Slack-Signature` of a body (docs.slack.dev/authentication/verifying-requests-from-slack). `timestamp` is in seconds. */
export function signatureOf(secret: string, timestamp: number, body: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`
}
