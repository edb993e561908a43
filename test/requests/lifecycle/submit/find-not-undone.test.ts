import { expect, test } from 'vitest'
import type { Change } from '../../../../src/domain/change/change.ts'
import type { Request } from '../../../../src/domain/request/request.ts'
import { createEvacuation } from '../../../../src/features/evacuate-server/change.ts'
import { createMoveChange } from '../../../../src/moves/move-change.ts'
import { createCatalog } from '../../../../src/requests/catalog.ts'
import { createFindNotUndone } from '../../../../src/requests/lifecycle/submit/find-not-undone.ts'
import { requestFor } from '../../request-for-test.ts'

const evacuation = createEvacuation({} as Parameters<typeof createEvacuation>[0]) as unknown as Change
const move = createMoveChange({} as Parameters<typeof createMoveChange>[0]) as unknown as Change
const catalog = createCatalog([evacuation, move])

/** An evacuation from `web-1`, with the state of each address by its number. */
function evacuated(id: string, states: Record<number, 'done' | 'failed'>, more: Partial<Request> & { targetId?: string } = {}): Request {
  const { targetId = 'sv_2', ...rest } = more
  const [from, to] = [
    { id: 'sv_1', name: 'web-1' },
    { id: targetId, name: 'web-2' },
  ]
  const numbers = Object.keys(states)
  return requestFor({
    id: id.repeat(32),
    kind: 'ip.evacuate',
    state: 'failed',
    input: { serverId: 'sv_1', targetId, elasticIpIds: numbers.map((each) => `eip_${each}`) },
    facts: {
      from,
      to,
      items: numbers.map((each) => ({ elasticIpId: `eip_${each}`, address: `203.0.113.${each}`, from, to })),
      leftOut: [],
    },
    items: Object.entries(states).map(([each, state]) => ({ id: `eip_${each}`, state, causes: [] })),
    ...rest,
  })
}

function refTo({ id, origin, cardTs = '' }: Request) {
  return { id, channelId: origin.channelId, cardTs }
}

/** Finds what stays as it is if `undone` is undone. `last`: the last change of each address, by its number. */
async function left(
  undone: Request,
  last: Record<number, Request>,
  { stored = [], forged }: { stored?: Request[]; forged?: Request } = {},
) {
  const find = createFindNotUndone({
    store: {
      findMany: async (ids) => stored.filter(({ id }) => ids.includes(id)),
      lastChangesOf: async (resources) =>
        new Map(
          Object.entries(last).flatMap(([each, request]) =>
            resources.includes(`elastic_ip:eip_${each}`) ? [[`elastic_ip:eip_${each}`, request]] : [],
          ),
        ),
    },
    catalog,
    signatures: { verifyRecord: ({ id }) => (id === forged?.id ? 'forged' : 'genuine') },
  })
  return (await find(undone)).map(({ by, names }) => [by.id[0], ...names])
}

const first = evacuated('a', { 1: 'done', 2: 'failed', 3: 'failed', 4: 'failed' })
const retry = evacuated('b', { 2: 'done', 3: 'done', 4: 'failed' }, { repeats: refTo(first) })

test('what retries moved is not undone with the first request, each named with its request', async () => {
  const second = evacuated('c', { 4: 'done' }, { state: 'done', repeats: refTo(retry) })

  expect(await left(first, { 1: first, 2: retry, 3: retry, 4: second })).toEqual([
    ['b', '203.0.113.2', '203.0.113.3'],
    ['c', '203.0.113.4'],
  ])
})

test('what the first request moved is not undone with a retry of it', async () => {
  expect(await left(retry, { 1: first, 2: retry, 3: retry }, { stored: [first] })).toEqual([['a', '203.0.113.1']])
})

test('an address that a single move took to the same server is not undone either', async () => {
  const input = { elasticIpId: 'eip_2', serverId: 'sv_2' }
  const single = requestFor({
    id: 'd'.repeat(32),
    state: 'done',
    input,
    facts: { elasticIpId: 'eip_2', to: { id: 'sv_2', name: 'web-2' } },
  })

  expect(await left(first, { 2: single })).toEqual([['d', '203.0.113.2']])
  expect(await left(first, { 2: { ...single, state: 'failed' } })).toEqual([])
})

test.each<[string, Request]>([
  ['was moved back since, or elsewhere', evacuated('e', { 2: 'done' }, { targetId: 'sv_3' })],
  ['was not moved', evacuated('e', { 2: 'failed' })],
  ['was moved by a request without a message', evacuated('e', { 2: 'done' }, { cardTs: undefined })],
])('an address that %s is not named', async (_, last) => {
  expect(await left(first, { 2: last })).toEqual([])
})

test('a record that somebody changed is not believed', async () => {
  expect(await left(first, { 2: retry }, { forged: retry })).toEqual([])
})

test('a request that moved everything leaves nothing', async () => {
  expect(await left(evacuated('a', { 1: 'done' }, { state: 'done' }), { 1: retry })).toEqual([])
  expect(await left(requestFor({ state: 'done' }), {})).toEqual([])
})
