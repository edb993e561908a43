import { describe, expect, test } from 'vitest'
import { connect, post, startMachineWorld, withoutChange } from './machines-world.ts'

describe('an agent', () => {
  test('finds tools that say what they do, with what they return and whether they only read', async () => {
    const client = await connect(await startMachineWorld())

    const { tools } = await client.listTools()

    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.destructiveHint])).toEqual([
      ['propose_move', false, true],
      ['propose_evacuation', false, true],
      ['propose_rename', false, true],
      ['get_request', true, false],
      ['withdraw_request', false, true],
      ['list_elastic_ips', true, false],
      ['list_servers', true, false],
      ['list_virtual_machines', true, false],
      ['list_plans', true, false],
    ])
    for (const { title, description, inputSchema, outputSchema } of tools) {
      expect(title).toBeTruthy()
      expect(description?.length).toBeGreaterThan(60)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(outputSchema).toMatchObject({ type: 'object' })
    }
    expect(tools[3]?.inputSchema.properties).toMatchObject({ wait: { type: 'integer', maximum: 50 } })
  })

  test('can have each call answered by another process', async () => {
    const world = await startMachineWorld({ replicas: 2 })
    const client = await connect(world, { bots: [0, 1] })
    const proposed = await client.callTool({ name: 'propose_move', arguments: withoutChange(world.move()) })
    const { id } = proposed.structuredContent as { id: string }

    // Each is asked twice, so that both processes answer it.
    const calls = [
      { name: 'list_plans', arguments: {} },
      { name: 'propose_move', arguments: withoutChange(world.move()) },
      { name: 'get_request', arguments: { id, wait: 1 } },
      { name: 'withdraw_request', arguments: { id } },
    ]
    for (const call of calls)
      for (const _ of 'ab') {
        const { isError = false, structuredContent } = await client.callTool(call)
        expect([call.name, isError]).toEqual([call.name, false])
        if ('id' in (structuredContent as object)) expect(structuredContent).toMatchObject({ id })
      }
    expect(await world.records.all()).toMatchObject([{ id, state: 'withdrawn' }])
  })

  test('can speak an older version, and learns which there are if it speaks one that is unknown', async () => {
    const world = await startMachineWorld()
    async function send(method: string, params: object, version?: string) {
      const headers: Record<string, string> = version === undefined ? {} : { 'mcp-protocol-version': version, 'mcp-method': method }
      const { status, text } = await post(world, { jsonrpc: '2.0', id: 1, method, params }, { headers })
      const { result, error } = JSON.parse(text.replace(/^event: message\ndata: /, ''))
      return [status, result?.protocolVersion ?? (result?.tools && 'tools') ?? error.message]
    }
    const clientInfo = { name: 'x', version: '1' }
    const begin = (protocolVersion: string) => send('initialize', { protocolVersion, capabilities: {}, clientInfo })
    const meta = 'io.modelcontextprotocol'
    const enveloped = (version: string) => ({
      _meta: { [`${meta}/protocolVersion`]: version, [`${meta}/clientInfo`]: clientInfo, [`${meta}/clientCapabilities`]: {} },
    })

    for (const older of ['2024-11-05', '2025-03-26', '2025-06-18']) {
      expect(await begin(older)).toEqual([200, older])
      expect(await send('tools/list', {}, older)).toEqual([200, 'tools'])
    }
    // A client without it must be content with the newest that the server begins with.
    for (const unknown of ['2099-01-01', 'x', '']) expect(await begin(unknown)).toEqual([200, expect.stringMatching(/^202\d-/)])
    expect(await send('tools/list', {}, '1999-01-01')).toEqual([400, expect.stringMatching(/^Bad Request: Unsupported protocol version/)])
    expect(await send('tools/list', enveloped('2099-01-01'), '2099-01-01')).toEqual([400, 'Unsupported protocol version: 2099-01-01'])
    expect(await send('tools/list', enveloped('2026-07-28'), '2026-07-28')).toEqual([200, 'tools'])
  })
})
