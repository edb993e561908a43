import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/domain/change.ts'
import type { Request } from '../../src/domain/request.ts'
import { evacuation as evacuationChange } from '../../src/features/moves/ip-evacuate.ts'
import { findEarlier } from '../../src/life/history.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { fakeApp } from '../fake-app.ts'
import { catalog } from '../given/catalog.ts'
import { moveFacts, requestFor } from '../given/request.ts'

type Tail<All extends unknown[]> = All extends [unknown, ...infer Rest] ? Rest : never

const input = { elasticIpId: moveFacts.elasticIpId, serverId: moveFacts.to.id }
const done = requestFor({ state: 'done', input, facts: moveFacts })
const back = { elasticIpId: moveFacts.elasticIpId, serverId: moveFacts.from.id }
const backFacts = { ...moveFacts, from: moveFacts.to, to: moveFacts.from }

const move = catalog.open(done).change
const appWith = (request: Request | undefined) => fakeApp({ store: { find: async () => request }, catalog })
const finder =
  (request: Request | undefined) =>
  (...of: Tail<Parameters<typeof findEarlier>>) =>
    findEarlier(appWith(request), ...of)

describe('a request from the form that undoes another one', () => {
  test('names that one', async () => {
    expect(await finder(done)({ undoes: done.id }, { change: move, input: back, facts: backFacts })).toEqual({ undone: done })
  })

  test.each([
    ['the person chose another server', done, 'ip.move', { ...back, serverId: 'sv_3' }],
    ['it is of another kind', done, 'vm.rename', back],
    ['the other one is not done', { ...done, state: 'failed' as const }, 'ip.move', back],
    ['the other one was never posted', { ...done, cardTs: undefined }, 'ip.move', back],
    ['the other one is gone', undefined, 'ip.move', back],
  ])('names none if %s', async (_, request, kind, wanted) => {
    expect(await finder(request)({ undoes: done.id }, { change: { ...move, kind }, input: wanted, facts: backFacts })).toEqual({})
  })

  test('names none if the address has moved on since', async () => {
    const facts = { ...backFacts, from: { id: 'sv_3', name: 'web-3' } }
    expect(await finder(done)({ undoes: done.id }, { change: move, input: back, facts })).toEqual({})
  })
})

describe('a request from the form that undoes an evacuation', () => {
  const [from, to] = [
    { id: 'sv_1', name: 'web-1' },
    { id: 'sv_2', name: 'web-2' },
  ]
  const evacuated = (...ids: string[]) => ({ from, to, items: ids.map((elasticIpId) => ({ elasticIpId, from, to })), leftOut: [] })
  const backTo = (target: typeof from, ...ids: string[]) => ({
    ...{ from: to, to: target, leftOut: [] },
    items: ids.map((elasticIpId) => ({ elasticIpId, from: to, to: target })),
  })
  const evacuation = evacuationChange(fakeApp({})) as unknown as Change
  const whole = requestFor({
    state: 'done',
    kind: 'ip.evacuate',
    input: { serverId: 'sv_1', targetId: 'sv_2', elasticIpIds: ['eip_1', 'eip_2'] },
    facts: evacuated('eip_1', 'eip_2'),
    items: ['eip_1', 'eip_2'].map((id) => ({ id, state: 'done' as const, causes: [] })),
  })
  const app = fakeApp({ store: { find: async () => whole }, catalog: createCatalog([evacuation]) })
  const find = (...of: Tail<Parameters<typeof findEarlier>>) => findEarlier(app, ...of)
  const undoing = (...ids: string[]) =>
    find(
      { undoes: whole.id },
      { change: evacuation, input: { serverId: 'sv_2', targetId: 'sv_1', elasticIpIds: ids }, facts: backTo(from, ...ids) },
    )
  const repeating = (targetId: string, ...ids: string[]) =>
    find({ repeats: whole.id }, { change: evacuation, input: { serverId: 'sv_1', targetId, elasticIpIds: ids }, facts: evacuated(...ids) })

  test('names it in whatever order the addresses were ticked, and if some were left out', async () => {
    expect(await undoing('eip_2', 'eip_1')).toEqual({ undone: whole })
    expect(await undoing('eip_2')).toEqual({ undone: whole })
  })

  test('names none if it moves another address, or goes to another server', async () => {
    expect(await undoing('eip_1', 'eip_3')).toEqual({})
    const input = { serverId: 'sv_2', targetId: 'sv_3', elasticIpIds: ['eip_1', 'eip_2'] }
    expect(await find({ undoes: whole.id }, { change: evacuation, input, facts: evacuated('eip_1', 'eip_2') })).toEqual({})
  })

  test('a request that retries the rest of it names it, unless it moves other addresses or goes elsewhere', async () => {
    expect(await repeating('sv_2', 'eip_2')).toEqual({ repeated: whole })
    expect(await repeating('sv_2', 'eip_2', 'eip_3')).toEqual({})
    expect(await repeating('sv_3', 'eip_2')).toEqual({})
  })
})

describe('a request from the form that repeats another one', () => {
  const rejected = requestFor({ state: 'rejected', input, facts: moveFacts })
  const repeat = (request: Request | undefined, wanted = input) =>
    finder(request)({ repeats: rejected.id }, { change: move, input: wanted, facts: moveFacts })

  test('names that one', async () => {
    expect(await repeat(rejected)).toEqual({ repeated: rejected })
  })

  test('names none if the person changed what it does, or the other one has not ended', async () => {
    expect(await repeat(rejected, { ...input, serverId: 'sv_3' })).toEqual({})
    expect(await repeat({ ...rejected, state: 'waiting' })).toEqual({})
  })
})
