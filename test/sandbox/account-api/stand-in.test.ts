import { describe, expect, onTestFinished, test } from 'vitest'
import { createAccountApi } from '../../../src/account/client.ts'
import { isBgp } from '../../../src/domain/account.ts'
import { ApiError } from '../../../src/domain/errors.ts'
import { Secret } from '../../../src/domain/signing.ts'
import type { FaultOrder } from './faults.ts'
import { documentedLimits } from './rate-limiter.ts'
import { type AccountApiOptions, startAccountApi } from './start-account-api.ts'

async function start(options: AccountApiOptions = {}) {
  const clock = { ms: Date.parse('2026-11-21T12:00:00Z') }
  const account = await startAccountApi({ moveTakes: { min: 5_000, max: 5_000 }, now: () => clock.ms, ...options })
  const clientWith = (token: string) => {
    const client = createAccountApi({
      baseUrl: new URL(account.url),
      key: new Secret(token),
      timings: { writeMs: 600, readMs: 600, retryBaseMs: 1, retryMaxMs: 2 },
    })
    onTestFinished(() => client.close())
    return client
  }
  onTestFinished(() => account.close())
  return { ...account, clock, clientWith, api: clientWith(account.key) }
}

/** Returns the refusal of the account API: `422 SITE_MISMATCH`. */
async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ApiError)) throw error
  return [error.status, ...error.codes].join(' ')
}

describe('the account', () => {
  test('has objects in every state, like a real one', async () => {
    const { api } = await start()

    const [elasticIps, servers] = await Promise.all([api.elasticIps.list(), api.servers.list()])

    expect(new Set(elasticIps.map(({ status }) => status))).toEqual(new Set(['active', 'error', 'configuring', 'releasing']))
    expect(elasticIps.some(({ server }) => server === undefined)).toBe(true)
    expect(servers.some(({ locked }) => locked)).toBe(true)
    expect(servers.filter(({ deletedAt }) => deletedAt !== undefined).map(({ hostname }) => hostname)).toEqual(['edge-ash-2'])
    expect(elasticIps.map(({ mode }) => mode)).toEqual(elasticIps.map((elasticIp) => (isBgp(elasticIp) ? 'bgp' : 'routed')))
    expect(elasticIps.filter(isBgp)).toMatchObject([{ address: '203.0.113.70', server: undefined }])
    expect(servers.filter(({ hostname }) => hostname === 'bastion-1').map(({ project }) => project?.slug)).toEqual([
      'storefront',
      'internal-tools',
    ])
  })

  test('is listed in pages, which may be smaller than requested', async () => {
    const { api, journal } = await start({ maxPageSize: 20 })

    expect(await api.servers.list()).toHaveLength(26)
    expect(journal.map(({ query }) => query['page[number]'])).toEqual(['1', '2'])
  })

  test('is filtered', async () => {
    const { api, world } = await start()
    const [project] = world.data.projects
    const { elasticIp } = world.movable()

    expect(await api.elasticIps.list({ status: 'error' })).toHaveLength(1)
    expect(await api.elasticIps.list({ serverId: elasticIp.serverId ?? '' })).toMatchObject([{ id: elasticIp.id }])
    expect(await api.elasticIps.list({ projectId: project?.id })).toHaveLength(9)
    expect(await api.servers.list({ hostname: 'bastion-1' })).toHaveLength(2)
    expect(await api.servers.list({ region: 'FRA' })).toHaveLength(3)
    expect(await api.virtualMachines.list({ projectId: project?.id })).toHaveLength(5)
  })
})

describe('a move', () => {
  test('shows moving and the target at once, and is active when its time is over', async () => {
    const { api, world, clock } = await start()
    const { elasticIp, target } = world.movable()

    const accepted = await api.elasticIps.move(elasticIp.id, target.id)
    clock.ms += 4_999
    const before = await api.elasticIps.get(elasticIp.id)
    clock.ms += 1
    const after = await api.elasticIps.get(elasticIp.id)

    expect([accepted, before, after].map(({ status, server }) => [status, server?.id])).toEqual([
      ['moving', target.id],
      ['moving', target.id],
      ['active', target.id],
    ])
  })

  test('is refused as documented', async () => {
    const { api, world } = await start()
    const { elasticIp, target } = world.movable()
    const move = (to: string, id = elasticIp.id) => refusal(api.elasticIps.move(id, to))
    const named = (hostname: string) => world.data.servers.find((server) => server.hostname === hostname)?.id ?? ''
    const failed = world.elasticIps().find(({ status }) => status === 'error')

    expect(await move(world.inAnotherSite().target.id)).toBe('422 SITE_MISMATCH')
    expect(await move(world.inAnotherProject().target.id)).toBe('422 SERVER_NOT_IN_PROJECT')
    expect(await move('sv_nowhere')).toBe('422 SERVER_NOT_IN_PROJECT')
    expect(await move(named('edge-sao-1'))).toBe('422 SITE_NOT_SUPPORTED')
    expect(await move(named('legacy-cart-1'))).toBe('422 SERVER_NETWORK_INCOMPATIBLE')
    expect(await move('')).toBe('422 VALIDATION_ERROR')
    expect(await move(target.id, failed?.id)).toBe('422 ELASTIC_IP_NOT_ACTIVE')
    expect(await move(target.id, 'eip_nowhere')).toBe('404 not_found')
    expect(await move(target.id, world.elasticIps().find(({ mode }) => mode === 'bgp')?.id)).toBe('422 BGP_ELASTIC_IP_NOT_UPDATABLE')

    await api.elasticIps.move(elasticIp.id, target.id)
    expect(await move(world.third(elasticIp.id).id)).toBe('422 ELASTIC_IP_NOT_ACTIVE')
  })
})

describe('keys', () => {
  test('are checked: a wrong key is refused, and a read-only one when it writes', async () => {
    const { api, clientWith, world } = await start()
    const { elasticIp, target } = world.movable()
    const { token } = await api.apiKeys.create({ name: 'watcher', readOnly: true })
    const watcher = clientWith(token.reveal())

    expect(await refusal(clientWith('f'.repeat(36)).plans.list())).toBe('401 UNAUTHORIZED')
    expect(await watcher.elasticIps.get(elasticIp.id)).toMatchObject({ id: elasticIp.id })
    expect(await refusal(watcher.elasticIps.move(elasticIp.id, target.id))).toBe('403 FORBIDDEN')
  })

  test('have a token that is shown once, works, and stops with rotation and deletion', async () => {
    const { api, clientWith } = await start()

    const first = await api.apiKeys.create({ name: 'deploy', allowedIps: ['192.0.2.0/24'] })
    expect(first.token.reveal()).toMatch(/^[0-9a-f]{36}$/)
    expect(first.key).toMatchObject({ tokenLastSlice: first.token.reveal().slice(-5), allowedIps: ['192.0.2.0/24'], lastUsedAt: undefined })
    await clientWith(first.token.reveal()).plans.list()

    const second = await api.apiKeys.rotate(first.key.id, 'deploy')
    expect(await refusal(clientWith(first.token.reveal()).plans.list())).toBe('401 UNAUTHORIZED')
    await clientWith(second.token.reveal()).plans.list()

    await api.apiKeys.update(first.key.id, { name: 'deploy-2', readOnly: true })
    expect((await api.apiKeys.list()).at(-1)).toMatchObject({ name: 'deploy-2', readOnly: true, allowedIps: ['192.0.2.0/24'] })

    await api.apiKeys.delete(first.key.id)
    expect(await refusal(clientWith(second.token.reveal()).plans.list())).toBe('401 UNAUTHORIZED')
    expect(await refusal(api.apiKeys.delete(first.key.id))).toBe('404 not_found')
  })
})

test('a virtual machine is renamed, unless it is being resized', async () => {
  const { api, world } = await start()
  const [machine] = await api.virtualMachines.list()
  const id = machine?.id ?? ''

  expect(await api.virtualMachines.rename(id, 'search-9')).toMatchObject({ id, name: 'search-9', operatingSystem: undefined })
  expect(await api.virtualMachines.get(id)).toMatchObject({ name: 'search-9' })
  expect(await refusal(api.virtualMachines.rename(id, ''))).toBe('422 VALIDATION_ERROR')
  expect(await refusal(api.virtualMachines.rename('vm_nowhere', 'x'))).toBe('404')
  world.changeVirtualMachine(id, { status: 'Resizing' })
  expect(await refusal(api.virtualMachines.rename(id, 'x'))).toBe('409 CONFLICT')
})

test('the journal holds every request, without the key', async () => {
  const { api, journal, key, world } = await start()
  const { elasticIp, target } = world.movable()

  await api.elasticIps.get(elasticIp.id)
  await api.elasticIps.move(elasticIp.id, target.id)

  expect(journal.map(({ method }) => method)).toEqual(['GET', 'PATCH'])
  expect(journal.writes()).toMatchObject([{ path: `/elastic_ips/${elasticIp.id}`, body: { data: { type: 'elastic_ips' } } }])
  expect(JSON.stringify(journal)).not.toContain(key)
})

describe('the limits', () => {
  const send = ({ url, key }: { url: string; key: string }, method: string, path = '/baselines', token = key) =>
    fetch(`${url}${path}`, { method, headers: { authorization: token } })

  /** Sends reads, and returns how many were answered and what the last one has to wait for, in s. */
  async function read(account: { url: string; key: string }, count: number) {
    const answers = await Promise.all(Array.from({ length: count }, () => send(account, 'GET')))
    const last = answers.findLast(({ status }) => status === 429)
    const body = (await last?.json()) as { errors: { meta: { retry_after: number } }[] } | undefined
    return [answers.filter(({ status }) => status === 200).length, body?.errors[0]?.meta.retry_after]
  }

  test('refuse the 61st read and the 21st write of a key, with when the next one is accepted, and without effect', async () => {
    const account = await start({ limits: documentedLimits })
    const { elasticIp, target } = account.world.movable()
    const other = await account.api.apiKeys.create({ name: 'other' })
    expect(await read(account, 61)).toEqual([60, 60])
    for (let writes = 1; writes < 20; writes++) await send(account, 'DELETE')
    account.clock.ms += 14_500

    const answer = await send(account, 'PATCH', `/elastic_ips/${elasticIp.id}`)

    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      429,
      null,
      {
        errors: [
          {
            code: 'RATE_LIMIT_EXCEEDED',
            title: 'Too Many Requests',
            status: '429',
            detail: 'The limit of 20 writes per minute is exceeded',
            meta: { retry_after: 46 },
          },
        ],
      },
    ])
    await expect(account.api.elasticIps.move(elasticIp.id, target.id)).rejects.toMatchObject({ name: 'AccountLimitError', waitMs: 46_000 })
    expect(account.world.elasticIp(elasticIp.id)?.serverId).toBe(elasticIp.serverId)
    expect(account.journal.filter(({ refused }) => refused).map(({ method }) => method)).toEqual(['GET', 'PATCH', 'PATCH'])
    const counts = (kind: 'read' | 'write') => [account.limiter.used(kind), account.limiter.refused(kind), account.limiter.most(kind)]
    expect([counts('read'), counts('write')]).toEqual([
      [60, 1, 61],
      [20, 2, 22],
    ])
    expect((await send(account, 'GET', '/baselines', other.token.reveal())).status).toBe(200)
  })

  test.each(['fixed', 'sliding'] as const)(
    'a %s window is shared by all callers of a key, and refused requests do not prolong it',
    async (window) => {
      const account = await start({ limits: { reads: 10, window, windowMs: 6_000 } })
      await read(account, 1)
      account.clock.ms += 5_000
      expect(await read(account, 10)).toEqual([9, 1])
      account.clock.ms += 1_000
      // Around the border of fixed windows, twice as many are answered.
      expect(await read(account, 11)).toEqual(window === 'fixed' ? [10, 6] : [1, 5])
      account.clock.ms += 5_000
      expect(await read(account, 10)).toEqual(window === 'fixed' ? [0, 1] : [9, 1])
      expect(account.limiter.refused('write')).toBe(0)
      expect((await send(account, 'DELETE')).status).toBe(404)
    },
  )

  test('another tool uses them up for a window, unless its use is undone', async () => {
    const account = await start({ limits: documentedLimits })
    await read(account, 5)
    account.clock.ms += 50_000
    account.limiter.useByAnotherTool('read')
    account.clock.ms += 59_999
    expect(await read(account, 1)).toEqual([0, 1])
    account.clock.ms += 1
    expect(await read(account, 1)).toEqual([1, undefined])

    account.limiter.useByAnotherTool('read', 59)
    expect(await read(account, 1)).toEqual([0, 60])
    account.limiter.forgetAnotherTool()
    expect(await read(account, 1)).toEqual([1, undefined])
  })
})

describe('faults', () => {
  test.each<[FaultOrder['kind'], string, boolean]>([
    ['drop-before', 'ApiUnreachableError', false],
    ['drop-after', 'ApiUnreachableError', true],
    ['reset', 'ApiUnreachableError', false],
    ['delay', 'ApiUnreachableError', true],
    ['status', 'ApiError', false],
    ['html', 'ApiContractError', true],
    ['truncate', 'ApiUnreachableError', true],
    ['drip', 'ApiUnreachableError', true],
    ['redirect', 'ApiContractError', false],
  ])('%s', async (kind, name, applied) => {
    const { api, faults, journal, world } = await start()
    const { elasticIp, target } = world.movable()
    const fault = faults.add({ method: 'PATCH', path: /^\/elastic_ips\//, kind, delayMs: 1_000 })

    const error = await api.elasticIps.move(elasticIp.id, target.id).catch((reason: unknown) => reason)

    expect(error).toMatchObject({ name })
    expect(fault.fired).toBe(1)
    expect(journal.writes()).toHaveLength(1)
    expect(world.elasticIp(elasticIp.id)?.status).toBe(applied ? 'moving' : 'active')
  })

  test('happen as often as ordered, for requests that fit, the oldest first', async () => {
    const { api, faults } = await start()
    const twice = faults.add({ path: '/baselines', times: 2, kind: 'status', status: 403 })
    const once = faults.add({ method: 'GET', kind: 'status', status: 418, body: { errors: [{ code: 'TEAPOT' }] } })

    expect(await refusal(api.baselines.list())).toBe('403')
    expect(await refusal(api.plans.list())).toBe('418 TEAPOT')
    expect(await refusal(api.baselines.list())).toBe('403')
    expect(await api.baselines.list()).toHaveLength(5)
    expect([twice.fired, once.fired]).toEqual([2, 1])
  })

  test('can let a request take effect and answer 500', async () => {
    const { api, faults, world } = await start()
    const { elasticIp, target } = world.movable()
    faults.add({ method: 'PATCH', kind: 'status', status: 500, applied: true })

    expect(await refusal(api.elasticIps.move(elasticIp.id, target.id))).toBe('500')
    expect(world.elasticIp(elasticIp.id)).toMatchObject({ status: 'moving', serverId: target.id })
  })
})
