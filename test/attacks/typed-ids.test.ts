import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { Change } from '../../src/domain/change.ts'
import { ApiError, ApiUnreachableError } from '../../src/domain/errors.ts'
import { changeKinds } from '../../src/features/index.ts'
import { revokeChange } from '../../src/features/keys/revoke.ts'
import { rotateChange } from '../../src/features/keys/rotate.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { submit } from '../../src/life/submit.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { fakeApp } from '../fake-app.ts'
import { judging } from '../given/access.ts'
import { connectTestStore } from '../given/redis.ts'
import { ruleFor } from '../given/request.ts'
import { signatures } from '../given/signatures.ts'
import { takingMessages, wording } from '../given/slack.ts'
import { wholeList } from '../whole-list.ts'

const project = { id: 'proj_1' }
const site = { id: 'loc_1', name: undefined, slug: 'ASH' }
const elasticIp = { id: 'eip_1', address: '203.0.113.10', status: 'active', server: { id: 'sv_1', hostname: 'web-1' }, project, site }
const target = { id: 'sv_2', hostname: 'web-2', label: undefined, primaryIpv4: undefined, status: 'on', locked: false, project, site }
const machine = { id: 'vm_1', name: 'web-1', project }
const key = { id: 'key_1', name: 'ci', tokenLastSlice: 'abcde' }

/** An account API that takes ids in any letters, as some do, and answers with its own. `isAway`: it does not answer. */
function accountThatIsNotStrict({ isAway = false } = {}) {
  const get = (item: { id: string }) => async (id: string) => {
    if (isAway) throw new ApiUnreachableError({ operation: 'get', requestSent: 'unknown', problem: 'away' })
    if (id.toLowerCase() !== item.id) throw new ApiError({ operation: 'get', status: 404, codes: [] })
    return item
  }
  return {
    elasticIps: { get: get(elasticIp) },
    servers: { get: get(target), list: async () => wholeList([target]) },
    virtualMachines: { get: get(machine), list: async () => wholeList([machine]) },
    apiKeys: { list: async () => wholeList([key]) },
  } as never
}

/** The shared lists are read from the account each time. */
function appOf(account: App['account']): App {
  const { elasticIps, servers, virtualMachines, apiKeys } = account
  const lists = {
    elasticIps: elasticIps.list,
    servers: servers.list,
    virtualMachines: virtualMachines.list,
    apiKeys: apiKeys.list,
    isShort: () => false,
  }
  return fakeApp({ account, lists, config: { signsWithApiKey: true } } as never)
}

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

function setUp() {
  const { redis, keys, store } = connectTestStore()
  const catalog = createCatalog()
  const app = fakeApp(
    {
      signatures,
      store,
      queues: { wake: async () => {} },
      ...takingMessages(),
      redis,
      keys,
      catalog,
      errors: { of: () => () => {} },
      config: { ...wording, openRequestsPerPerson: 10 },
    },
    judging({ rules: [ruleFor({ changes: [...changeKinds] })] }),
  )
  let deliveries = 0
  const ask = async <Input, Facts>(change: Change<Input, Facts>, input: Input) => {
    deliveries += 1
    catalog.register([change as never])
    const { requestId } = await submit(app, { change, input, origin, reason: undefined, deliveryKey: `d${deliveries}` })
    return store.find(requestId)
  }
  return { ask }
}

describe('somebody who types an id in other letters', () => {
  test('holds the lock of the thing that it is, so that a second request for it is refused', async () => {
    const { ask } = setUp()
    const change = moveChange({ account: accountThatIsNotStrict() })

    const request = await ask(change, { elasticIpId: 'EIP_1', serverId: 'SV_2' })

    expect(request).toMatchObject({
      resource: 'elastic_ip:eip_1',
      input: { elasticIpId: 'eip_1', serverId: 'sv_2' },
      facts: { elasticIpId: 'eip_1', to: { id: 'sv_2' } },
    })
    await expect(ask(change, { elasticIpId: 'eip_1', serverId: 'sv_2' })).rejects.toThrow(/you have an open request for/)
    await expect(ask(change, { elasticIpId: 'Eip_1', serverId: 'sv_2' })).rejects.toThrow(/you have an open request for/)
  })

  test.each([
    ['rotates', rotateChange],
    ['revokes', revokeChange],
  ])('%s no API key', async (_, create) => {
    const { ask } = setUp()
    const change = create({ ...appOf(accountThatIsNotStrict()), ownLastSlice: 'zzzzz' })

    await expect(ask(change, { keyId: 'KEY_1' })).rejects.toThrow('No API key KEY_1 on the account.')
    expect(await ask(change, { keyId: 'key_1' })).toMatchObject({ resource: 'api_key:key_1' })
  })

  test('while the account API is away gets a request that is void as soon as it answers with another id', async () => {
    const away = moveChange({ account: accountThatIsNotStrict({ isAway: true }) })
    const { facts: approved, input } = await away.preflight({ elasticIpId: 'EIP_1', serverId: 'sv_2' }, {})
    const change = moveChange({ account: accountThatIsNotStrict() })
    const { facts: now } = await change.preflight(input ?? { elasticIpId: '', serverId: '' }, {})

    const [difference, ...others] = change.differences(approved, now)

    expect(others).toEqual([])
    const why = 'The account API shows EIP_1 as eip_1. Request it again with that id.'
    expect(difference && change.explain(difference)?.why).toBe(why)
  })
})
