import { expect, test } from 'vitest'
import type { Request } from '../../src/domain/request.ts'
import { type Earlier, historyBefore } from '../../src/life/history.ts'
import { fakeApp } from '../fake-app.ts'
import { catalog } from '../given/catalog.ts'
import { minutes, moveFacts, requestedAt, requestFor } from '../given/request.ts'

const hour = 60 * minutes

const { change: move } = catalog.open(requestFor({ facts: moveFacts }))

/** A request of that move. */
function moveOf(facts: typeof moveFacts) {
  const input = { elasticIpId: facts.elasticIpId, serverId: facts.to.id }
  return { change: move, input, facts, resource: move.resource(input) }
}

function ended(id: string, agoMs: number): Request {
  return requestFor({ id, state: 'done', endedAt: requestedAt - agoMs })
}

/** Finds what changed before a request of these resources. `last`: the last change of each, by resource. */
async function changesBefore(last: Record<string, Request>, { changed = '', ...earlier }: { changed?: string } & Earlier = {}) {
  const app = fakeApp({
    catalog,
    signatures: { verifyRecord: ({ id }) => (id === changed ? 'forged' : 'genuine') },
    store: {
      lastChangesOf: async (resources) => new Map(resources.flatMap((resource) => (last[resource] ? [[resource, last[resource]]] : []))),
    },
  })
  const others = Object.keys(last).filter((resource) => resource !== 'server:sv_1')
  const names = new Map(others.map((resource) => [resource, `name of ${resource}`]))
  return historyBefore(app, { ...moveOf(moveFacts), resource: 'server:sv_1', subject: 'web-1', names }, earlier)
}

async function before(...of: Parameters<typeof changesBefore>) {
  return (await changesBefore(...of)).map(({ requestId }) => requestId)
}

test('it is named what was changed: the server, or those of its addresses that the request was the last to change', async () => {
  const move = ended('move', hour)

  const three = { a: move, b: ended('other', 2 * hour), c: move }
  expect(await changesBefore(three)).toMatchObject([{ names: ['name of a', 'name of c'] }])
  // What changed all of them needs no names.
  expect(await changesBefore({ a: move, c: move })).toMatchObject([{ names: [] }])
  // What changed the whole server is named once.
  expect(await changesBefore({ 'server:sv_1': move, a: move })).toMatchObject([{ names: ['web-1'] }])
})

test('approvers know the last change of the server and its addresses, however old', async () => {
  expect(await before({ 'server:sv_1': ended('own', 2 * hour), a: ended('newer', hour) })).toEqual(['newer'])
  expect(await before({ 'server:sv_1': ended('own', 30 * minutes), a: ended('older', hour) })).toEqual(['own'])
  expect(await before({ 'server:sv_1': ended('own', 300 * hour) })).toEqual(['own'])
})

test('approvers know of everything that may still finish, besides the last change', async () => {
  const sentAt = requestedAt - 2 * hour
  const stopped = { ...ended('stopped', hour), state: 'untracked' as const, sentAt }
  const last = { a: stopped, b: ended('own', 30 * minutes), c: ended('older', 3 * hour) }
  expect(await changesBefore(last)).toMatchObject([{ requestId: 'own' }, { requestId: 'stopped', sentAt }])
  expect((await changesBefore(last))[0]).not.toHaveProperty('sentAt')
  // Of an evacuation, what was not done when its tracking was stopped.
  const item = (id: string, state: 'done' | 'tracking') => ({ id, state, causes: [] })
  const some = { ...stopped, items: [item('done', 'done'), item('moving', 'tracking')] }
  expect((await changesBefore({ 'elastic_ip:done': some }))[0]).not.toHaveProperty('sentAt')
  expect(await changesBefore({ 'elastic_ip:done': some, 'elastic_ip:moving': some })).toMatchObject([{ sentAt }])
})

test('a record that somebody changed is left out', async () => {
  expect(await before({ 'server:sv_1': ended('own', 2 * hour), b: ended('forged', hour) }, { changed: 'forged' })).toEqual(['own'])
})

test('a request that undoes or repeats the last change does not name it as that, too', async () => {
  const last = ended('last', hour)
  expect(await before({ 'server:sv_1': last, a: ended('other', 2 * hour) }, { undone: last })).toEqual(['other'])
  expect(await before({ 'server:sv_1': last }, { repeated: last })).toEqual([])
})

test('approvers know that the repeated request was rejected, and a changed record is not believed', async () => {
  const decision = { by: 'U0BEN', rule: 'r', via: 'U0BEN', reason: 'Sale!' }
  const of = (state: Request['state']) => ({ ...ended('earlier', 12 * minutes), state, decision })
  const rejected = { code: 'rejected-before', at: requestedAt - 12 * minutes, by: 'U0BEN', reason: 'Sale!' }

  expect(await changesBefore({}, { repeated: of('rejected') })).toEqual([rejected])
  for (const state of ['failed', 'expired', 'withdrawn'] as const) expect(await changesBefore({}, { repeated: of(state) })).toEqual([])
  expect(await changesBefore({}, { repeated: of('rejected'), changed: 'earlier' })).toEqual([])
})

test('what else a request locks is no history: the last change under the name of a new key is an earlier creation', async () => {
  const asked: string[][] = []
  const app = fakeApp({
    signatures: { verifyRecord: () => 'genuine' },
    store: {
      lastChangesOf: async (resources) => {
        asked.push(resources)
        return new Map()
      },
    },
  })
  expect(await historyBefore(app, { ...moveOf(moveFacts), resource: 'api_key_name:new', subject: 'ci', names: new Map() }, {})).toEqual([])
  expect(asked).toEqual([['api_key_name:new']])
})

test.each([
  ['an address', moveOf(moveFacts)],
  ['an address of an evacuation', evacuationOf(moveFacts)],
])('approvers check first what brought %s elsewhere than the last change left it, and a new target is none', async (_, left) => {
  const { elasticIpId, address, from, to } = moveFacts
  const last = requestFor({ ...left, kind: left.change.kind, state: 'done', endedAt: requestedAt })
  const request = left.change.items ? { ...last, items: [{ id: elasticIpId, state: 'done' as const, causes: [] }] } : last
  const [away, other] = [
    { id: 'sv_3', name: 'edge-ash-2' },
    { id: 'sv_4', name: 'web-4' },
  ]
  const app = fakeApp({
    catalog,
    signatures: { verifyRecord: () => 'genuine' },
    store: { lastChangesOf: async () => new Map([[moveOf(moveFacts).resource, request]]) },
  })
  const before = async (now: typeof moveFacts) =>
    (await historyBefore(app, { ...moveOf(now), subject: address, names: new Map() }, {})).filter(({ code }) => code === 'changed-outside')

  for (const target of [from, other]) {
    const causes = [{ code: 'server-changed', address, now: away.name }]
    expect(await before({ ...moveFacts, from: away, to: target })).toEqual([{ code: 'changed-outside', causes }])
    expect(await before({ ...moveFacts, from: to, to: target })).toEqual([])
  }
})

function evacuationOf({ elasticIpId, from, to }: typeof moveFacts) {
  const facts = { from, to, items: [moveFacts], leftOut: [] }
  const { change } = catalog.open(requestFor({ kind: 'ip.evacuate', input: { serverId: from.id, targetId: to.id }, facts }))
  const input = { serverId: from.id, targetId: to.id, elasticIpIds: [elasticIpId] }
  return { change, input, facts, resource: change.resource(input) }
}
