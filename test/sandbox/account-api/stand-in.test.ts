import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { createAccountApi } from '../../../src/account/client.ts'
import { ApiError } from '../../../src/domain/errors.ts'
import { Secret } from '../../../src/domain/signing.ts'
import { documentedLimits } from './rate-limiter.ts'
import { type AccountApiOptions, startAccountApi } from './start-account-api.ts'

async function start(options: AccountApiOptions = {}) {
  const clock = { ms: Date.parse('2026-11-21T12:00:00Z') }
  const account = await startAccountApi({ moveTakes: { min: 5_000, max: 5_000 }, now: () => clock.ms, ...options })
  const clientWith = (token: string) => {
    const client = createAccountApi({
      baseUrl: new URL(account.url),
      key: new Secret(token),
      timings: { retryBaseMs: 1, retryMaxMs: 2 },
    })
    onTestFinished(() => client.close())
    return client
  }
  onTestFinished(() => account.close())
  return { ...account, clock, clientWith, api: clientWith(account.key) }
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ApiError)) throw error
  return [error.status, ...error.codes].join(' ')
}

test('a move is refused as documented', async () => {
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

const send = ({ url, key }: { url: string; key: string }, method: string, path = '/baselines', token = key) =>
  fetch(`${url}${path}`, { method, headers: { authorization: token } })

/** Sends reads. Returns how many were answered, and what the last one has to wait for, in s. */
async function read(account: { url: string; key: string }, count: number) {
  const answers = await Promise.all(Array.from({ length: count }, () => send(account, 'GET')))
  const last = answers.findLast(({ status }) => status === 429)
  const body = (await last?.json()) as { errors: { meta: { retry_after: number } }[] } | undefined
  return [answers.filter(({ status }) => status === 200).length, body?.errors[0]?.meta.retry_after]
}

test('the limits refuse the 61st read and the 21st write of a key, with when the next one is accepted, and without effect', async () => {
  const account = await start({ limits: documentedLimits })
  const { elasticIp, target } = account.world.movable()
  const other = await account.api.apiKeys.create({ name: 'other' })
  expect(await read(account, 61)).toEqual([60, 60])
  for (let writes = 1; writes < 20; writes++) await send(account, 'DELETE')
  account.clock.ms += 14_500

  const answer = await send(account, 'PATCH', `/elastic_ips/${elasticIp.id}`)

  expect(answer.status).toBe(429)
  expect(await answer.json()).toMatchObject({
    errors: [{ code: 'RATE_LIMIT_EXCEEDED', detail: 'The limit of 20 writes per minute is exceeded', meta: { retry_after: 46 } }],
  })
  await expect(account.api.elasticIps.move(elasticIp.id, target.id)).rejects.toMatchObject({ name: 'AccountLimitError', waitMs: 46_000 })
  expect(account.world.elasticIp(elasticIp.id)?.serverId).toBe(elasticIp.serverId)
  expect(account.journal.filter(({ refused }) => refused).map(({ method }) => method)).toEqual(['GET', 'PATCH', 'PATCH'])
  expect((await send(account, 'GET', '/baselines', other.token.reveal())).status).toBe(200)
})

const documented: Record<string, Record<string, string>> = parse(readFileSync(new URL('./documented.yml', import.meta.url), 'utf8'))

/** Names the members of a kind that are not documented, or have another type. `asked`: the extra members that were asked for. */
function undocumented(kind: string, value: unknown, asked: string[] = [], at = ''): string[] {
  const types = documented[kind] ?? {}
  if (at !== '') {
    const [type = '', extra] = (types[at] ?? 'nothing').split(' ').toReversed()
    const is = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value
    if ((extra && !asked.includes(at)) || (is === 'null' ? !type.endsWith('?') : is !== type.replace('?', '')))
      return [`${kind}: ${at} ${is}`]
    // What is keyed by settings or currencies has no documented members.
    if (!Object.keys(types).some((name) => name.startsWith(`${at}.`))) return []
  }
  return [value]
    .flat()
    .flatMap((one) =>
      Object.entries(one ?? {}).flatMap(([name, inner]) => undocumented(kind, inner, asked, at === '' ? name : `${at}.${name}`)),
    )
}

test('what the account answers has only documented members, with their types, and extra ones only for those who ask for them', async () => {
  const { url, key, world } = await start({ limits: { writes: 6 } })
  const { elasticIp, target } = world.movable()
  const [machine] = world.data.virtualMachines
  const [, second] = world.data.apiKeys
  async function answers(request: string, attributes?: object, asked: string[] = []) {
    const [method = '', path = ''] = request.split(' ')
    const [, kind = ''] = /(elastic_ips|virtual_machines|api_keys)/.exec(path) ?? []
    const body = attributes && { body: JSON.stringify({ data: { type: kind, attributes } }) }
    const answer = await fetch(`${url}${path}`, { method, headers: { authorization: key, 'content-type': 'application/json' }, ...body })
    const { data, errors } = (await answer.json()) as { data: object; errors?: unknown }
    if (errors) return undocumented('errors', errors)
    const items = [data].flat() as { type: string; attributes: object }[]
    expect(items.map(Object.keys)).toEqual(items.map(() => ['id', 'type', 'attributes']))
    return items.flatMap(({ type, attributes }) => undocumented(type, attributes, asked))
  }

  const found = [
    ...(await answers('GET /elastic_ips?page[size]=100')),
    ...(await answers(`PATCH /elastic_ips/${elasticIp.id}`, { server_id: target.id })),
    ...(await answers(`GET /elastic_ips/${elasticIp.id}`)),
    ...(await answers('GET /servers?page[size]=100')),
    ...(await answers('GET /virtual_machines?page[size]=100')),
    ...(await answers(`GET /virtual_machines/${machine?.id}?extra_fields[virtual_machines]=pending_restart`, undefined, [
      'pending_restart',
    ])),
    ...(await answers(`PATCH /virtual_machines/${machine?.id}`, { name: 'search-9' })),
    ...(await answers('GET /plans/virtual_machines')),
    ...(await answers('GET /baselines')),
    ...(await answers('GET /auth/api_keys')),
    ...(await answers('POST /auth/api_keys', { name: 'new' }, ['token'])),
    ...(await answers(`PUT /auth/api_keys/${second?.id}`, { name: 'new' }, ['token'])),
    ...(await answers('GET /elastic_ips/eip_nowhere')),
    ...(await answers(`PATCH /elastic_ips/${elasticIp.id}`, {})),
    ...(await answers(`PATCH /elastic_ips/${elasticIp.id}`, { server_id: target.id })),
    ...(await answers(`PATCH /elastic_ips/${elasticIp.id}`, { server_id: target.id })),
  ]
  expect(found).toEqual([])
  expect(undocumented('virtual_machines', { pending_restart: true, hostname: 'x' })).toEqual([
    'virtual_machines: pending_restart boolean',
    'virtual_machines: hostname string',
  ])
  expect(undocumented('servers', { label: null })).toEqual(['servers: label null'])
})
