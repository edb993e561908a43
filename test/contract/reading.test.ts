import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import {
  ApiKeyResponse,
  BaselineResponse,
  ElasticIpResponse,
  PlanResponse,
  ServerResponse,
  VirtualMachineResponse,
} from '../../src/account/objects.ts'
import { ApiContractError, ApiError } from '../../src/domain/errors.ts'
import { type Recorded, type Reply, rejection, startClient } from '../account/recording-server.ts'
import {
  apiKeys,
  baselines,
  type Documented,
  elasticIps,
  errors,
  issuedApiKeys,
  plans,
  servers,
  token,
  virtualMachines,
} from './documented.ts'
import * as words from './generate.ts'
import { answersOf, misfitsOf, patience, runs, unknownMembers, type Wire, type Words, withUnknownMembers } from './generate.ts'

interface Kind {
  name: 'elasticIps' | 'servers' | 'virtualMachines' | 'apiKeys' | 'baselines' | 'plans'
  schema: z.core.$ZodType
  words: Words
  documented: Documented[]
}

const kinds: Kind[] = [
  { name: 'elasticIps', schema: ElasticIpResponse, words: words.elasticIpWords, documented: elasticIps },
  { name: 'servers', schema: ServerResponse, words: words.serverWords, documented: servers },
  { name: 'virtualMachines', schema: VirtualMachineResponse, words: words.virtualMachineWords, documented: virtualMachines },
  { name: 'apiKeys', schema: ApiKeyResponse, words: words.apiKeyWords, documented: apiKeys },
  { name: 'baselines', schema: BaselineResponse, words: words.baselineWords, documented: baselines },
  { name: 'plans', schema: PlanResponse, words: words.planWords, documented: plans },
]

const cases = kinds.flatMap(({ name, documented }) => documented.map((example) => [name, example.name, example] as const))

/** Answers the first page with these items, and further pages with none. */
function pageOf(items: () => unknown[]): (request: Recorded) => Reply {
  return ({ target }) => ({ json: { data: /number%5D=([2-9]|\d\d)/.test(target) ? [] : items(), meta: {} } })
}

/** Starts a client that counts the invalid items of its lists. */
async function startReading(items: () => unknown[]) {
  let reported = 0
  const { api } = await startClient(pageOf(items), {
    onSkipped: ({ count }) => {
      reported += count
    },
  })
  return {
    api,
    takeReported() {
      const count = reported
      reported = 0
      return count
    },
  }
}

/** The kinds that can also be read one by one. */
const single = { elasticIps, servers, virtualMachines }

describe('a documented answer', () => {
  test.each(cases)('%s: %s, in a list', async (name, _, { wire, reads }) => {
    const { api, takeReported } = await startReading(() => [wire])

    const { items } = await api[name].list()

    expect(items).toEqual(typeof reads === 'string' ? [] : [reads])
    expect(takeReported()).toBe(reads === 'misfit' ? 1 : 0)
  })

  test.each(
    (['elasticIps', 'servers', 'virtualMachines'] as const).flatMap((name) =>
      single[name].map((example) => [name, example.name, example] as const),
    ),
  )('%s: %s, read alone', async (name, _, { wire, reads }) => {
    const { api } = await startClient(() => ({ json: { data: wire, meta: {} } }))

    if (typeof reads === 'string') expect(await rejection(api[name].get('any'))).toBeInstanceOf(ApiContractError)
    else expect(await api[name].get('any')).toEqual(reads)
  })

  test.each(issuedApiKeys.map((example) => [example.name, example] as const))('a new key: %s', async (_, { wire, reads }) => {
    const { api } = await startClient(({ method }) => ({ status: method === 'POST' ? 201 : 200, json: { data: wire, meta: {} } }))
    const calls = [() => api.apiKeys.create({ name: 'deploy' }), () => api.apiKeys.rotate('tok_57jvG72qDZNTv', 'deploy')]

    for (const call of calls) {
      if (reads === 'misfit') {
        expect(await rejection(call())).toBeInstanceOf(ApiContractError)
        continue
      }
      const issued = await call()
      expect(issued.key).toEqual(reads)
      expect(issued.token.reveal()).toBe(token)
    }
  })

  test.each(errors.map((example) => [example.name, example] as const))('a refusal: %s', async (_, { status, body, reads }) => {
    const { api } = await startClient(() => ({ status, json: body }))

    const error = await rejection(api.elasticIps.move('eip_KeQbB4BoO6x10', 'sv_W3mVpQ0xNd7Lk'))

    if (status === 429) return expect(error).toMatchObject({ name: 'AccountLimitError', waitMs: reads.retryAfterMs })
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status, detail: undefined, retryAfterMs: undefined, ...reads })
  })
})

describe('generated answers', patience, () => {
  test.each(kinds.map((kind) => [kind.name, kind] as const))(
    '%s: a list has all valid items, also if others are invalid',
    async (name, { schema, words }) => {
      const one = answersOf(schema, words)
      const adorned = fc.tuple(one, unknownMembers).map(([wire, members]) => withUnknownMembers(schema, wire, members) as Wire)
      let page: unknown[] = []
      const { api, takeReported } = await startReading(() => page)

      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(adorned, { selector: ({ id }) => id, maxLength: 5 }),
          fc.array(misfitsOf(schema, one), { maxLength: 3 }),
          async (fitting, misfits) => {
            page = [...misfits, ...fitting]

            const items: { id: string }[] = (await api[name].list()).items

            expect(items.map(({ id }) => id)).toEqual(fitting.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])))
            expect(takeReported()).toBe(misfits.length)
          },
        ),
        { numRuns: Math.ceil(runs.numRuns / 3) },
      )
    },
  )

  test.each(kinds.map((kind) => [kind.name, kind] as const))('%s: unknown members change nothing', async (name, { schema, words }) => {
    let page: unknown[] = []
    const { api } = await startReading(() => page)

    await fc.assert(
      fc.asyncProperty(answersOf(schema, words), unknownMembers, async (wire, members) => {
        page = [wire]
        const plain = await api[name].list()
        page = [withUnknownMembers(schema, wire, members)]

        expect(await api[name].list()).toEqual(plain)
      }),
      { numRuns: Math.ceil(runs.numRuns / 10) },
    )
  })
})
