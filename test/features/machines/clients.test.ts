import { describe, expect, test } from 'vitest'
import { ops, patchesOf, people, untilCard, untilShown } from '../../journeys/world.ts'
import { servers } from '../../sandbox/account-api/data.ts'
import { connect, otherToken, post, startMachineWorld, textOf, token, withoutChange } from './machines-world.ts'

/** What clients really send: each case is from the bug report of a client or of a server that refused it. */
const call = (name: string, args?: unknown, more: object = {}) => ({
  ...{ jsonrpc: '2.0', id: 7, method: 'tools/call' },
  params: { name, ...(args === undefined ? {} : { arguments: args }), ...more },
})

const resultOf = ({ text, type }: { text: string; type: string }) =>
  JSON.parse(type.startsWith('text/event-stream') ? (text.match(/^data: (\{.*"id":7.*)$/m)?.[1] ?? '{}') : text).result

describe('a client of MCP gets an answer that it can read,', () => {
  const listing = { jsonrpc: '2.0', id: 7, method: 'tools/list' }
  const meta = 'io.modelcontextprotocol'
  const modern = {
    ...listing,
    params: {
      _meta: {
        [`${meta}/protocolVersion`]: '2026-07-28',
        [`${meta}/clientInfo`]: { name: 'x', version: '1' },
        [`${meta}/clientCapabilities`]: {},
      },
    },
  }

  const accepted = [
    ['application/json', 'application/json'],
    ['application/json;q=1, text/html', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/html', 'application/json'],
    ['', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['TEXT/EVENT-STREAM', 'text/event-stream'],
    ['text/event-stream, application/json', undefined],
    ['application/json, text/event-stream', undefined],
  ] as const

  test('whatever it accepts', async () => {
    const world = await startMachineWorld()
    for (const [accept, type] of accepted) {
      await world.records.redis.del(world.records.keys.machineCalls('machine:ci'))
      for (const message of [listing, modern]) {
        const version: Record<string, string> =
          message === modern ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' } : {}
        const answer = await post(world, message, { headers: { accept, ...version } })
        expect([accept, answer.status, resultOf(answer).tools.length]).toEqual([accept, 200, 9])
        if (type) expect([accept, answer.type]).toEqual([accept, expect.stringContaining(type)])
      }
      const called = await post(world, call('list_plans', {}), { headers: { accept } })
      expect(resultOf(called).structuredContent.items.length).toBeGreaterThan(0)
      const refused = await post(world, call('get_request', { id: 'x' }), { headers: { accept } })
      expect([accept, resultOf(refused).isError]).toEqual([accept, true])
    }
  })

  test('with any type of a body that is JSON, with any session, and at both addresses', async () => {
    const world = await startMachineWorld()
    for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'text/plain', 'application/octet-stream'])
      expect((await post(world, listing, { headers: { 'content-type': type, 'mcp-session-id': 'of-another-server' } })).status).toBe(200)
    expect((await post(world, listing, { path: '/mcp/' })).status).toBe(200)
    expect((await post(world, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
    for (const params of [null, '', { cursor: null }, { cursor: '' }, { _meta: null }, { _meta: { progressToken: null } }])
      expect((await post(world, { ...listing, params })).status).toBe(200)
    expect((await post(world, listing, { headers: { 'mcp-protocol-version': '', 'mcp-session-id': '' } })).status).toBe(200)
    const about = { protocolVersion: '2025-06-18', clientInfo: { name: '', title: null, version: '' } }
    const opening = { ...listing, method: 'initialize', params: { ...about, capabilities: { experimental: null, roots: null } } }
    expect(resultOf(await post(world, opening)).serverInfo.name).toBe('lockkeeper')
    const batch = await post(world, [listing])
    expect([batch.status, JSON.parse(batch.text).error.message]).toEqual([400, "Send one message at a time: batches aren't supported."])
    expect((await post(world, '{')).status).toBe(400)
    for (const method of ['GET', 'DELETE', 'HEAD']) {
      const answer = await fetch(`${world.urlOf()}/mcp/`, { method, headers: { authorization: `Bearer ${token}` } })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  test('and is told that there is no OAuth, with or without a token', async () => {
    const { urlOf } = await startMachineWorld()
    const paths = ['oauth-protected-resource', 'oauth-protected-resource/mcp', 'oauth-authorization-server', 'openid-configuration']
    const all = [...paths.map((path) => `/.well-known/${path}`), '/mcp/.well-known/openid-configuration', '/register', '/authorize', '/']
    for (const path of all)
      for (const headers of [undefined, { authorization: `Bearer ${token}` }, { authorization: 'Bearer wrong' }]) {
        const answer = await fetch(`${urlOf()}${path}`, { headers })
        expect([path, answer.status, (await answer.json()).code]).toEqual([path, 404, 'not-found'])
      }
    const answer = await fetch(`${urlOf()}/register`, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(404)
  })

  test('and listens for changes of the tools in vain, so that it holds no connection', async () => {
    const world = await startMachineWorld()
    const listen = { ...modern, method: 'subscriptions/listen', params: { ...modern.params, notifications: { toolsListChanged: true } } }
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
    const { text } = await post(world, listen, { headers })
    expect(text).toContain('Subscription limit reached')
    const client = await connect(world)
    expect(client.getServerCapabilities()?.tools).toEqual({ listChanged: false })
  })
})

describe('what is optional may be null, empty or blank, and a number may be text:', () => {
  test('over MCP', async () => {
    const world = await startMachineWorld()
    const client = await connect(world)
    const { change: _, ...move } = world.move()
    const empty = { reason: '', link: null, start: ' ', idempotency_key: '' }
    const proposed = await client.callTool({ name: 'propose_move', arguments: { ...move, ...empty } })
    expect(proposed.structuredContent).toMatchObject({ state: 'waiting' })
    expect(proposed.structuredContent).not.toHaveProperty('reason')
    const { id } = proposed.structuredContent as { id: string }

    for (const wait of [null, '', '0', 0, '1'])
      expect((await client.callTool({ name: 'get_request', arguments: { id, wait } })).structuredContent).toMatchObject({ id })
    const listed = await client.callTool({ name: 'list_servers', arguments: { search: null, limit: '2' } })
    expect(listed.structuredContent).toMatchObject({ complete: false })
    for (const args of [undefined, null, ''])
      expect(resultOf(await post(world, call('list_plans', args))).structuredContent.items.length).toBeGreaterThan(0)
    const numbered = { ...withoutChange(world.move(1)), reason: 42, idempotency_key: 42 }
    expect((await client.callTool({ name: 'propose_move', arguments: numbered })).structuredContent).toMatchObject({ reason: '42' })
    const missing = await client.callTool({ name: 'propose_move', arguments: { elastic_ip: '', server: null } })
    expect(textOf(missing)).toMatch(/elastic_ip.*server/s)
  })

  test('over HTTP, where it is the same request as without them', async () => {
    const world = await startMachineWorld()
    const body = world.move()
    const made = await world.call('POST /v1/requests', { body: { ...body, reason: null, link: '', start: '  ' }, key: 'k' })
    expect(made).toMatchObject({ status: 201, json: { state: 'waiting' } })
    expect(await world.call('POST /v1/requests/', { body, key: 'k' })).toMatchObject({ status: 200, json: { id: made.json.id } })
    for (const query of ['?wait=', '?wait=0', '/', '/?wait='])
      expect(await world.call(`GET ${made.json.links.self}${query}`)).toMatchObject({ status: 200, json: { id: made.json.id } })
    expect((await world.call('GET /v1/servers/?search=&limit=')).status).toBe(200)
    const head = await fetch(`${world.urlOf()}/v1/servers`, { method: 'HEAD', headers: { authorization: `Bearer ${token}` } })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(await world.call('POST /v1/requests', { body: { ...body, elastic_ip: '' }, key: 'l' })).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining('elastic_ip: is missing') },
    })
  })
})

const manyServers = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...structuredClone(servers[0] as (typeof servers)[number]),
    ...{ id: `sv_many${String(index).padStart(9, '0')}`, hostname: `web-${index + 1}` },
  }))

describe('a long list', () => {
  test('shows 50 items, or up to 200, and how to see the rest', async () => {
    const world = await startMachineWorld({ account: { data: { servers: manyServers(130) } } })
    const client = await connect(world)
    const first = await world.call('GET /v1/servers')
    expect([first.json.items.length, first.json.complete, first.json.hint]).toEqual([50, false, 'These are 50 of 130. Narrow with search.'])
    const all = await client.callTool({ name: 'list_servers', arguments: { limit: 200 } })
    expect(all.structuredContent).toMatchObject({ complete: true, items: { length: 130 } })
    expect(all.structuredContent).not.toHaveProperty('hint')
    expect((await world.call('GET /v1/servers?search=web-130')).json).toMatchObject({ complete: true, items: [{ hostname: 'web-130' }] })
    for (const limit of ['0', '201', 'all', '1.5']) expect((await world.call(`GET /v1/servers?limit=${limit}`)).status).toBe(400)
  })
})

test('a list that takes more reads than a machine has is refused with how to narrow it, and then found', async () => {
  const many = manyServers(250)
  const world = await startMachineWorld({ account: { data: { servers: many } }, env: { INFRA_READS_PER_MINUTE: '60' } })
  const list = (query = '') => world.call(`GET /v1/servers${query}`)
  for (const query of ['', '', '?search=web', '?limit=200']) {
    const { status, json } = await list(query)
    expect([status, json.detail]).toEqual([
      422,
      'The account has more servers than a machine may read in a minute. Narrow with search: give an id, or a whole hostname.',
    ])
    await world.records.redis.del(Object.values(world.records.keys.accountBudget('read')))
  }
  for (const search of ['web-250', many[249]?.id]) {
    expect(await list(`?search=${search}`)).toMatchObject({ status: 200, json: { items: [{ hostname: 'web-250' }], complete: false } })
    await world.records.redis.del(Object.values(world.records.keys.accountBudget('read')))
  }
  // A copy that a person has read has all of it.
  await world.ada.command('/infra servers web-1', { channel: ops })
  await untilShown(world.slack, people.ada, /web-1/)
  expect((await list('?search=eb-24')).json).toMatchObject({ items: { length: 11 }, complete: true })
})

describe('a client that gives up after five seconds', () => {
  test('proposes, hears as long as it waits, and gets what people decided', async () => {
    const world = await startMachineWorld()
    const [client, other] = [await connect(world), await connect(world, { sent: otherToken })]
    const options = { timeout: 5_000 }
    const propose = () => client.callTool({ name: 'propose_move', arguments: withoutChange(world.move()) }, options)
    const proposed = await propose()
    expect(proposed.structuredContent).toMatchObject({ change: 'ip.move', state: 'waiting' })
    // The same proposal while it is open is the same request, without a key.
    const { id } = proposed.structuredContent as { id: string }
    expect((await propose()).structuredContent).toMatchObject({ id })
    const foreign = await other.callTool({ name: 'withdraw_request', arguments: { id } })
    expect([foreign.isError, textOf(foreign)]).toEqual([true, expect.stringMatching(/^You have no request/)])

    const heard: [number, string][] = []
    const waiting = client.callTool(
      { name: 'get_request', arguments: { id, wait: 50 } },
      { ...options, resetTimeoutOnProgress: true, onprogress: ({ progress, message = '' }) => heard.push([progress, message]) },
    )
    // Longer than the client waits for a word.
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBeGreaterThan(2)
    await world.ben.click(await untilCard(world.slack, /needs approval/), 'Approve')
    const { structuredContent } = await waiting
    expect(structuredContent).toMatchObject({ id, state: expect.not.stringMatching('waiting') })
    expect(JSON.parse(textOf(await waiting))).toEqual(structuredContent)
    const waits = expect.stringMatching(/^Waiting\. ci \(machine\) needs approval from @oncall/)
    expect(heard).toEqual(heard.map((_, index) => [index, index === 0 ? waits : expect.any(String)]))
    expect(world.slack.messages(ops).filter(({ isBot, threadTs }) => isBot && threadTs === undefined)).toHaveLength(1)
    await expect.poll(() => patchesOf(world).length).toBe(1)
  })

  test('gets an answer in that time although the account is slow, and the list with the next call', async () => {
    const world = await startMachineWorld()
    world.accountApi.faults.add({ method: 'GET', path: '/virtual_machines', kind: 'delay', delayMs: 5_000, times: 1 })
    const client = await connect(world)
    const first = await client.callTool({ name: 'list_virtual_machines', arguments: {} }, { timeout: 5_000 })
    expect([first.isError, textOf(first)]).toEqual([true, expect.stringMatching(/^The account API takes long: .* Send the call again/)])
    const again = () => client.callTool({ name: 'list_virtual_machines', arguments: {} }, { timeout: 5_000 })
    await expect.poll(async () => (await again()).isError ?? false, { timeout: 20_000, interval: 1_000 }).toBe(false)
  })
})
