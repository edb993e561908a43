import { describe, expect, test } from 'vitest'
import { ops, patchesOf, untilCard } from '../journeys/world.ts'
import { connect, type MachineWorld, otherToken, startMachineWorld, textOf, token } from './machines-world.ts'

describe('an agent', () => {
  test('finds tools that say what they do, with what they return and whether they only read', async () => {
    const client = await connect(await startMachineWorld())

    const { tools } = await client.listTools()

    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.destructiveHint])).toEqual([
      ['propose_move', false, true],
      ['propose_evacuation', false, true],
      ['propose_rename', false, true],
      ['wait_for_request', true, false],
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
    expect(tools[3]?.inputSchema.properties).toMatchObject({ wait: { type: 'integer', maximum: 60 } })
  })

  test('proposes, hears that it waits, and gets what people decided', async () => {
    const world = await startMachineWorld()
    const client = await connect(world)
    const { change: _, ...move } = world.move()

    const proposed = await client.callTool({ name: 'propose_move', arguments: { ...move, reason: 'Deploy 42' } })
    expect(proposed).toMatchObject({ structuredContent: { change: 'ip.move', state: 'waiting' } })
    // The same proposal while it is open is the same request, with or without a key, on any process.
    const again = await client.callTool({ name: 'propose_move', arguments: move })
    const { id } = proposed.structuredContent as { id: string }
    expect(again.structuredContent).toMatchObject({ id })

    const card = await untilCard(world.slack, /ci \(machine\) needs approval/)
    const heard: string[] = []
    const waiting = client.callTool(
      { name: 'wait_for_request', arguments: { id, wait: 30 } },
      { onprogress: ({ message = '' }) => heard.push(message) },
    )
    await expect.poll(() => heard).toEqual([expect.stringMatching(/^Waiting\. ci \(machine\) needs approval from S0ONCALL01/)])
    await world.ben.click(card, 'Approve')
    expect((await waiting).structuredContent).toMatchObject({ id, state: expect.not.stringMatching('waiting') })
    expect(JSON.parse(textOf(await waiting))).toEqual((await waiting).structuredContent)
    expect(world.slack.messages(ops).filter(({ isBot, threadTs }) => isBot && threadTs === undefined)).toHaveLength(1)
    await expect.poll(() => patchesOf(world).length).toBe(1)
  })

  test('calls with POST, and one message at a time', async () => {
    const { urlOf } = await startMachineWorld()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const send = (method: string, body?: string) => fetch(`${urlOf()}/mcp`, { method, headers, body })
    expect((await send('POST', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]')).status).toBe(400)
    expect((await send('GET')).status).toBe(405)
  })

  test('gets errors as results, with the sentence and the next step', async () => {
    const world = await startMachineWorld()
    const [client, other] = [await connect(world), await connect(world, { sent: otherToken })]
    const { id } = (await client.callTool({ name: 'propose_move', arguments: withoutChange(world.move()) })).structuredContent as {
      id: string
    }

    const refusals = [
      await client.callTool({ name: 'propose_move', arguments: { elastic_ip: '203.0.113.250', server: 'web-2' } }),
      await client.callTool({ name: 'propose_rename', arguments: { virtual_machine: 'preview-1', name: 'not a hostname!' } }),
      await other.callTool({ name: 'withdraw_request', arguments: { id } }),
      await other.callTool({ name: 'propose_move', arguments: withoutChange(world.move()) }),
    ]

    expect(refusals.every(({ isError }) => isError)).toBe(true)
    const [unknown, wrongName, notOwn, held] = refusals.map(textOf)
    expect(unknown).toMatch(/^No Elastic IP 203\.0\.113\.250/)
    expect(wrongName).toMatch(/hostname/i)
    expect(notOwn).toMatch(/^You have no request/)
    expect(held).toMatch(/^Nothing was requested, because ci \(machine\) has an open request for/)
    const withChannel = await client.callTool({ name: 'propose_move', arguments: { ...withoutChange(world.move(1)), channel: ops } })
    expect(withChannel.isError).toBe(true)
    expect(await world.records.all()).toHaveLength(1)
  })
})

const withoutChange = ({ change: _, ...move }: ReturnType<MachineWorld['move']>) => move
