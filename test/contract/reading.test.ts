import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as objects from '../../src/account/objects.ts'
import { ApiContractError } from '../../src/domain/errors.ts'
import { rejection, startClient } from '../account/recording-server.ts'
import * as documented from './documented.ts'
import * as words from './generate.ts'
import { answersOf, misfitsOf, patience, runs, unknownMembers, type Wire, withUnknownMembers } from './generate.ts'

const kinds = {
  elasticIps: {
    kind: objects.elasticIp,
    schema: objects.ElasticIpResponse,
    words: words.elasticIpWords,
    documented: documented.elasticIps,
  },
  servers: { kind: objects.server, schema: objects.ServerResponse, words: words.serverWords, documented: documented.servers },
  virtualMachines: {
    kind: objects.virtualMachine,
    schema: objects.VirtualMachineResponse,
    words: words.virtualMachineWords,
    documented: documented.virtualMachines,
  },
  apiKeys: { kind: objects.apiKey, schema: objects.ApiKeyResponse, words: words.apiKeyWords, documented: documented.apiKeys },
  baselines: { kind: objects.baseline, schema: objects.BaselineResponse, words: words.baselineWords, documented: documented.baselines },
  plans: { kind: objects.plan, schema: objects.PlanResponse, words: words.planWords, documented: documented.plans },
} as const

const names = Object.keys(kinds) as (keyof typeof kinds)[]
const cases = names.flatMap((name) => kinds[name].documented.map((example) => [name, example.name, example] as const))

describe('a documented answer', () => {
  test.each(cases)('%s: %s', async (name, _, { wire, reads }) => {
    const listed: unknown[] = [wire]
    const reports: object[] = []
    const { api } = await startClient(({ target }) => ({ json: { data: target.includes('/any') ? wire : listed, meta: {} } }), {
      onSkipped: (report) => reports.push(report),
    })
    const [items, unready] = typeof reads === 'string' ? [[], 1] : [[reads], 0]

    expect(await api[name].list()).toEqual({ items, isWhole: true, unreadable: 0, unready, cut: undefined })
    expect(reports).toEqual([])
    listed.push('unreadable')
    expect(await api[name].list()).toEqual({ items, isWhole: false, unreadable: 1, unready, cut: undefined })
    expect(reports).toEqual([{ operation: `${name}.list`, count: 1 }])

    const resource = api[name]
    if (!('get' in resource)) return
    if (typeof reads === 'string') expect(await rejection(resource.get('any'))).toBeInstanceOf(ApiContractError)
    else expect(await resource.get('any')).toEqual(reads)
  })

  test.each(documented.apiKeys)('a new key, which nobody could use without its token: $name', async ({ wire, reads }) => {
    let data: object = wire
    const { api } = await startClient(() => ({ json: { data, meta: {} } }))

    for (const call of [() => api.apiKeys.create({ name: 'deploy' }), () => api.apiKeys.rotate('tok_57jvG72qDZNTv', 'deploy')]) {
      data = wire
      expect(await rejection(call())).toBeInstanceOf(ApiContractError)
      data = documented.issued(wire)
      const { key, token: secret } = await call()
      expect([key, secret.reveal()]).toEqual([reads, documented.token])
    }
  })
})

describe('generated answers', patience, () => {
  test.each(names)('%s: a list has all valid items, also if others are invalid, and unknown members change nothing', (name) => {
    const { kind, schema, words } = kinds[name]
    const one = answersOf(schema, words) as fc.Arbitrary<Wire>
    const list = (data: unknown[]): { items: { id: string }[]; invalidCount: number } => kind.list({ data }, 20)

    fc.assert(
      fc.property(
        fc.uniqueArray(one, { selector: ({ id }) => id, maxLength: 5 }),
        unknownMembers,
        fc.array(misfitsOf(schema, one), { maxLength: 3 }),
        (fitting, members, misfits) => {
          const { items } = list(fitting)
          expect(items.map(({ id }) => id)).toEqual(fitting.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])))
          const adorned = fitting.map((wire) => withUnknownMembers(schema, wire, members))
          expect(list([...misfits, ...adorned])).toMatchObject({ items, invalidCount: misfits.length })
        },
      ),
      runs,
    )
  })
})
