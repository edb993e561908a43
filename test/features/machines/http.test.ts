import { describe, expect, test } from 'vitest'
import { forgetLists, ops, patchesOf, people, untilCard, untilReport, untilShown } from '../../journeys/world.ts'
import { type MachineWorld, otherToken, startMachineWorld, token } from './machines-world.ts'

const cards = ({ slack }: MachineWorld) => slack.messages(ops).filter(({ isBot, threadTs }) => isBot && threadTs === undefined)

test('a machine requests, a person approves, and the machine learns how it ends', async () => {
  const world = await startMachineWorld()
  const body = { ...world.move(), reason: 'Deploy 42 <!channel>', link: 'https://ci.example.com/jobs/42' }

  const requested = await world.call('POST /v1/requests', { body, key: 'deploy-42' })
  expect(requested).toMatchObject({ status: 201, json: { change: 'ip.move', state: 'waiting', ended: false, subject: body.elastic_ip } })
  const { id, links, message } = requested.json
  expect(requested.headers.get('location')).toBe(`/v1/requests/${id}`)
  expect(message).toMatch(/^ci \(machine\) needs approval from @oncall by /)
  const card = await untilCard(world.slack, /ci \(machine\) needs approval from <!subteam\^S0ONCALL01>/)
  expect(card.text).toContain('Reason: `Deploy 42 <!channel>`'.replace('<!channel>', '&lt;!channel&gt;'))
  expect(card.text).toContain('Unchecked link: <https://ci.example.com/jobs/42|open it> (`ci.example.com`)')
  expect(JSON.stringify(card.blocks)).not.toMatch(/Withdraw|<@machine|@ci\b/)

  const waiting = world.call(`GET ${links.self}?wait=50`)
  await world.ben.click(card, 'Approve')
  expect(await waiting).toMatchObject({ status: 200, json: { id, state: expect.not.stringMatching('waiting') } })
  await expect.poll(async () => (await world.call(`GET ${links.self}?wait=10`)).json.state, { timeout: 20_000 }).toBe('done')
  const ended = await world.call(`GET ${links.self}?wait=50`)
  expect(ended.json).toMatchObject({ state: 'done', ended: true, message: expect.stringMatching(/^Done\./) })
  // The same call would be refused now, but its request exists.
  expect(await world.call('POST /v1/requests', { body, key: 'deploy-42' })).toMatchObject({ status: 200, json: { id, state: 'done' } })
  expect(patchesOf(world)).toHaveLength(1)
  const report = await untilReport(world.slack, card.ts, /Done/)
  expect(report.text).not.toContain('machine:ci')

  // The audit and the lists name it as a machine.
  await world.ben.command('/infra audit', { channel: ops })
  const audit = await untilShown(world.slack, people.ben, /ci \(machine\)/)
  expect(audit.text).not.toMatch(/<@machine|`machine:ci`/)
})

describe('the same call again', () => {
  test('returns the same request, and another body with the same key is refused', async () => {
    const world = await startMachineWorld()
    const body = world.move()
    const first = await world.call('POST /v1/requests', { body, key: '"k-1"' })

    const second = await world.call('POST /v1/requests', { body, key: 'k-1' })
    expect(second).toMatchObject({ status: 200, json: { id: first.json.id } })
    const other = await world.call('POST /v1/requests', { body: world.move(1), key: 'k-1' })
    expect(other).toMatchObject({
      status: 409,
      json: { status: 409, title: 'Conflict', code: 'idempotency-key-used', type: 'about:blank' },
    })
    expect(other.headers.get('content-type')).toBe('application/problem+json')
    expect(other.json.detail).toBe('Not requested: this idempotency key was used for another request in the last 24 hours. Use a new key.')
    // The key of another machine is another key.
    expect(await world.call('POST /v1/requests', { body: world.move(1), key: 'k-1', token: otherToken })).toMatchObject({ status: 201 })
    expect(cards(world)).toHaveLength(2)
  })

  test('is tried anew after a refusal, and a corrected body takes a new key', async () => {
    const world = await startMachineWorld()
    const body = world.move()
    const path = `/elastic_ips/${world.accountApi.world.movable().elasticIp.id}`
    world.accountApi.faults.add({ method: 'GET', path, kind: 'status', status: 404, times: 1 })
    expect((await world.call('POST /v1/requests', { body, key: 'k' })).status).toBe(422)
    expect(await world.call('POST /v1/requests', { body: world.move(1), key: 'k' })).toMatchObject({ status: 409 })
    const made = await world.call('POST /v1/requests', { body, key: 'k' })
    expect(made).toMatchObject({ status: 201 })
    expect(await world.call('POST /v1/requests', { body, key: 'k' })).toMatchObject({ status: 200, json: { id: made.json.id } })
  })

  test('on two processes at the same moment is one request, which one answer calls new; of two bodies, one is refused', async () => {
    const world = await startMachineWorld({ replicas: 2 })
    const send = (body: object, key: string, bot: number) => world.call('POST /v1/requests', { body, key }, bot)

    const same = await Promise.all([0, 1, 0, 1, 0, 1].map((bot) => send(world.move(), 'race', bot)))
    expect(new Set(same.map(({ json }) => json.id)).size).toBe(1)
    expect(same.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 201])

    const others = await Promise.all([0, 1].map((bot) => send(world.move(1 + bot), 'another-race', bot)))
    expect(others.map(({ status }) => status).toSorted()).toEqual([201, 409])
    const made = others.findIndex(({ status }) => status === 201)
    expect((await world.records.all()).map(({ id }) => id).toSorted()).toEqual([same[0]?.json.id, others[made]?.json.id].toSorted())
    // Who lost gets the same answer later, also from the other process.
    const again = async (bot: number) => (await send(world.move(1 + bot), 'another-race', made)).status
    expect([await again(made), await again(1 - made)]).toEqual([200, 409])
    await world.slack.until(() => cards(world).length === 2)
  })

  test('after 24 hours is another request', async () => {
    const world = await startMachineWorld()
    const { redis, keys } = world.records
    const first = await world.call('POST /v1/requests', { body: world.move(), key: 'k' })
    const [claim = ''] = await redis.keys(keys.idempotency('*'))
    const leftMs = await redis.pttl(claim)
    expect(leftMs).toBeGreaterThan(23.9 * 3_600_000)

    /** As if this much time had passed. */
    const pass = async (ms: number) => redis.pexpire(claim, (await redis.pttl(claim)) - ms)
    await pass(23.5 * 3_600_000)
    expect(await world.call('POST /v1/requests', { body: world.move(), key: 'k' })).toMatchObject({ status: 200 })
    const other = await world.call('POST /v1/requests', { body: world.move(), key: 'other' })
    expect(other).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining(`You have an open request for it: ${first.json.id}. Withdraw it, or wait.`) },
    })
    const without = await world.call('POST /v1/requests', { body: { change: 'ip.move', server: 'web-2' } })
    expect(without.json.detail).toMatch(/elastic_ip: is missing\. Idempotency-Key: is missing\.$/)
    expect(await world.call('POST /v1/requests', { body: world.move(1), key: 'k' })).toMatchObject({ status: 409 })
    await pass(0.5 * 3_600_000)
    const second = await world.call('POST /v1/requests', { body: world.move(1), key: 'k' })
    expect(second.status).toBe(201)
    expect(second.json.id).not.toBe(first.json.id)
  })
})

describe('a machine', () => {
  test('withdraws what it requested, and nothing else', async () => {
    const world = await startMachineWorld()
    const own = (await world.call('POST /v1/requests', { body: world.move(), key: 'a' })).json
    await untilCard(world.slack, /needs approval/)

    for (const method of ['GET', 'DELETE'])
      expect(await world.call(`${method} ${own.links.self}`, { token: otherToken })).toMatchObject({
        status: 404,
        json: { code: 'unknown-request' },
      })
    expect(await world.call(`DELETE ${own.links.self}`)).toMatchObject({ status: 200, json: { state: 'withdrawn', ended: true } })
    expect(await world.call(`DELETE ${own.links.self}`)).toMatchObject({ status: 200, json: { state: 'withdrawn' } })
    const card = await untilCard(world.slack, /\*Withdrawn\*/)
    expect(card.text).toContain('Requested and withdrawn by ci (machine)')
    expect(patchesOf(world)).toEqual([])
  })

  test('that withdraws twice at the same moment gets the same answer', async () => {
    const world = await startMachineWorld({ replicas: 2 })
    const { links } = (await world.call('POST /v1/requests', { body: world.move(), key: 'a' })).json
    await untilCard(world.slack, /needs approval/)

    const both = await Promise.all([0, 1, 0, 1].map((bot) => world.call(`DELETE ${links.self}`, {}, bot)))

    for (const answer of both) expect(answer).toMatchObject({ status: 200, json: { state: 'withdrawn' } })
    await untilCard(world.slack, /\*Withdrawn\*/)
  })

  test('waits without a call to the account, and learns why it was rejected', async () => {
    const world = await startMachineWorld()
    const { links } = (await world.call('POST /v1/requests', { body: world.move(), key: 'a' })).json
    const card = await untilCard(world.slack, /needs approval/)
    const { journal } = world.accountApi
    const before = journal.length
    expect(before).toBeGreaterThan(0)

    expect((await world.call(`GET ${links.self}?wait=1`)).json.state).toBe('waiting')
    const waits = [1, 2, 3].map(() => world.call(`GET ${links.self}?wait=50`))
    await world.ben.click(card, 'Reject')
    await world.slack.until(() => world.ben.openViews()[0], { what: 'the form' })
    await world.ben.fill(undefined, { reason: 'Not on a Friday' })
    await world.ben.submit()

    for (const { json } of await Promise.all(waits))
      expect(json).toMatchObject({ state: 'rejected', ended: true, rejected_because: 'Not on a Friday' })
    expect(await world.call(`DELETE ${links.self}`)).toMatchObject({ status: 409, json: { code: 'too-late' } })
    expect(journal.slice(before)).toEqual([])
  })

  test('sees the lists of the projects that a rule with it covers, from the shared copies', async () => {
    const world = await startMachineWorld({ replicas: 2 })

    const { status, json } = await world.call('GET /v1/servers')
    expect(status).toBe(200)
    expect(new Set(json.items.map(({ project }: { project: { name: string } }) => project.name))).toEqual(new Set(['Storefront']))
    const before = world.accountApi.journal.length
    const { items } = (await world.call('GET /v1/servers?search=WEB-1', {}, 1)).json
    expect(items.map(({ hostname }: { hostname: string }) => hostname)).toContain('web-1')
    expect(world.accountApi.journal.slice(before)).toEqual([])
    expect((await world.call('GET /v1/plans?search=zzz')).json).toEqual({ items: [], complete: true })
  })

  test('has its lists read from the share of reads that nobody waits for, and people keep theirs', async () => {
    const world = await startMachineWorld({ env: { INFRA_READS_PER_MINUTE: '60' } })
    const { journal } = world.accountApi
    // The start has read, too.
    await expect.poll(() => journal.length).toBeGreaterThan(0)
    const before = journal.length
    const answers = []
    for (let index = 0; index < 8; index += 1) {
      answers.push(await world.call('GET /v1/servers', { token: index % 2 === 0 ? token : otherToken }))
      await forgetLists(world)
    }

    const reads = journal.slice(before)
    expect(reads.every(({ path }) => path.includes('servers'))).toBe(true)
    expect(reads.length).toBeLessThanOrEqual(6)
    // Then the last copy is shown.
    expect([answers[0]?.json.complete, answers.at(-1)?.json.complete]).toEqual([true, false])
    expect(answers.at(-1)?.json.items).toEqual(answers[0]?.json.items)
    await world.ada.command('/infra ip list', { channel: ops })
    await untilShown(world.slack, people.ada, /Elastic IPs/)
    expect(journal.length).toBeGreaterThan(before + reads.length)
  })
})
