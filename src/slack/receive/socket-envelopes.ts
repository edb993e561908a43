import type { SocketModeReceiver } from '@slack/bolt'

type Client = SocketModeReceiver['client']

/**
 * Makes a Socket Mode client accept every envelope. The client of @slack/socket-mode 3.1 expects an event in each envelope of the Events
 * API. It throws if there is none, as in `app_rate_limited`, and the unhandled rejection ends the process. Such an envelope is handed to
 * the client again under another type: it then accepts and acknowledges it.
 */
export function readEveryEnvelope(client: Client): void {
  const [accept] = client.listeners('ws_message') as ((data: string | ArrayBuffer, isBinary: boolean) => Promise<void>)[]
  if (!accept) throw new Error('the Socket Mode client has no listener for its messages')
  client.removeAllListeners('ws_message')
  client.on('ws_message', (data: string | ArrayBuffer, isBinary: boolean) => {
    accept(data, isBinary).catch(() => {
      const envelope = readEnvelope(data)
      return envelope && accept(JSON.stringify({ ...envelope, type: 'without_event' }), false)
    })
  })
}

/** Parses an envelope. Undefined for anything else, because only envelopes need an acknowledgement. */
function readEnvelope(data: string | ArrayBuffer): object | undefined {
  const envelope: unknown = JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data))
  return typeof envelope === 'object' && envelope !== null && 'envelope_id' in envelope ? envelope : undefined
}
