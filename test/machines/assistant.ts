import { people, type World } from '../journeys/world.ts'
import { signatureOf } from '../sandbox/slack/transport.ts'

const teamId = 'T0NIMBUS01'

interface Asking {
  userId?: string | undefined
  team?: string
  secret?: string
  at?: number
}

/** Calls a tool as Slack's assistant does for a person: in one signed request. */
export function assistant(world: Pick<World, 'slack' | 'bots'>) {
  let id = 0

  function signed(body: string, { secret = world.slack.signingSecret, at = Math.floor(Date.now() / 1_000) }: Asking = {}) {
    const headers = { 'x-slack-request-timestamp': String(at), 'x-slack-signature': signatureOf(secret, at, body) }
    return { body, headers }
  }

  const send = ({ body, headers }: { body: string; headers: Record<string, string> }, bot = 0) =>
    fetch(`${new URL(world.bots[bot]?.slackUrl ?? '').origin}/slack/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
        ...headers,
      },
      body,
    })

  function requestOf(name: string, args: object, { userId = people.ada, team = teamId }: Asking = {}) {
    id += 1
    const params = { name, arguments: args, _meta: { slack: { user_id: userId, team_id: team } } }
    return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
  }

  async function tool(name: string, args: object, asking: Asking = {}) {
    const answer = await send(signed(requestOf(name, args, asking), asking))
    if (answer.status !== 200) return { status: answer.status, text: '', result: undefined }
    const [, json = '{}'] = /^data: (.*)$/m.exec(await answer.text()) ?? []
    const { result } = JSON.parse(json)
    return { status: 200, text: String(result?.content?.[0]?.text), result: result?.structuredContent }
  }

  return { tool, send, signed, requestOf }
}
