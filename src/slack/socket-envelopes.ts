import type { SocketModeReceiver } from '@slack/bolt'

type Client = SocketModeReceiver['client']

/**
 * Lets a Socket Mode client take every envelope. The client of @slack/socket-mode 3.1 expects an event in each envelope of the Events API
 * and throws where there is none (`app_rate_limited` has none), which ends the process with an unhandled rejection. Such an envelope is
 * handed to it once more under another type: then it is taken like any other, and acknowledged.
 */
export function readEveryEnvelope(client: Client): void {
  const [take] = client.listeners('ws_message') as ((data: string | ArrayBuffer, isBinary: boolean) => Promise<void>)[]
  if (!take) throw new Error('the Socket Mode client has no listener for its messages')
  client.removeAllListeners('ws_message')
  client.on('ws_message', (data: string | ArrayBuffer, isBinary: boolean) => {
    take(data, isBinary).catch(() => {
      const envelope = readEnvelope(data)
      return envelope && take(JSON.stringify({ ...envelope, type: 'without_event' }), false)
    })
  })
}

/** Undefined for what is no envelope: nobody waits for an acknowledgement of it. */
function readEnvelope(data: string | ArrayBuffer): object | undefined {
  const envelope: unknown = JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data))
  return typeof envelope === 'object' && envelope !== null && 'envelope_id' in envelope ? envelope : undefined
}
