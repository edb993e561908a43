import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { policyInFile } from '../../journeys/policy-in-file.ts'
import { openRecords } from '../../journeys/records.ts'
import { ops, startWorld, type WorldOptions } from '../../journeys/world.ts'

export const token = 'a-token-of-the-machine-ci-of-32-characters'
export const otherToken = 'a-token-of-the-machine-agent-of-32-characters'

export const policy = `
machines:
  - {name: ci, token: CI_TOKEN, channel: ${ops}}
  - {name: agent, token: AGENT_TOKEN, channel: ${ops}}
rules:
  - name: ci moves
    changes: [ip.move, ip.evacuate, vm.rename]
    projects: [{name: Storefront}]
    request: ["machine:ci", "machine:agent", everyone]
    approve: [S0ONCALL01]
  - name: people
    changes: [ip.move, ip.evacuate, vm.rename]
    request: everyone
    approve: [S0ONCALL01]
  - name: keys
    changes: [key.create, key.rotate, key.revoke, key.extend]
    request: ["machine:ci", everyone]
    approve: [S0ONCALL01]
`

export interface CallOptions {
  body?: unknown
  key?: string | undefined
  token?: string | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Returns the function that calls the HTTP API of a bot. `urlOf`: where a bot takes machines. */
export function callerOf(urlOf: (bot?: number) => string) {
  return async (line: string, { body, key, token: sent = token, headers = {}, signal }: CallOptions = {}, bot = 0) => {
    const [method = '', path = ''] = line.split(' ')
    const answer = await fetch(`${urlOf(bot)}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${sent}`,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
      signal,
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) }
  }
}

/** Starts a world with machines, and the function that calls its API: `POST /v1/requests`. */
export async function startMachineWorld({ env = {}, ...options }: WorldOptions = {}, yaml = policy) {
  const world = await startWorld({
    ...options,
    env: { POLICY_FILE: policyInFile(yaml), MACHINES_PORT: '0', ...env, ...tokens },
  })
  const urlOf = (bot = 0) => `http://127.0.0.1:${world.bots[bot]?.machinesPort}`

  /** The body of a possible move, after `skip` others. */
  function move(skip = 0) {
    const { elasticIp, target } = world.accountApi.world.movable(skip)
    return { change: 'ip.move', elastic_ip: elasticIp.address, server: target.hostname }
  }

  return { ...world, urlOf, call: callerOf(urlOf), move, records: openRecords(world) }
}
export type MachineWorld = Awaited<ReturnType<typeof startMachineWorld>>

export const tokens = { CI_TOKEN: token, AGENT_TOKEN: otherToken }

/** Connects the SDK's own client. Its requests go to these bots in turn. */
export async function connect({ urlOf }: Pick<MachineWorld, 'urlOf'>, { sent = token, bots = [0] } = {}) {
  const client = new Client({ name: 'agent', version: '1' })
  let calls = 0
  const transport = new StreamableHTTPClientTransport(new URL(`${urlOf(bots[0])}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${sent}` } },
    fetch: (_, init) => fetch(`${urlOf(bots[calls++ % bots.length])}/mcp`, init),
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

/** Sends one message of MCP as it is, with these headers beside the usual ones or in their place. */
export async function post(
  { urlOf }: Pick<MachineWorld, 'urlOf'>,
  message: unknown,
  { path = '/mcp', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
) {
  const usual = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const answer = await fetch(`${urlOf()}${path}`, { method: 'POST', headers: { ...usual, ...headers }, body })
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() }
}

/** The arguments of the tool for moves. */
export const withoutChange = ({ change: _, ...move }: ReturnType<MachineWorld['move']>) => move

/** What a tool returned, as text. */
export const textOf = ({ content }: { content: unknown }) => (content as { text: string }[])[0]?.text ?? ''
