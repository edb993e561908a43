import { describe, expect, test } from 'vitest'
import type { Change } from '../../../../src/domain/change/change.ts'
import type { Request } from '../../../../src/domain/request/request.ts'
import { createEvacuation } from '../../../../src/features/evacuate-server/change.ts'
import { createCatalog } from '../../../../src/requests/catalog.ts'
import { createFindUndone } from '../../../../src/requests/lifecycle/submit/find-undone.ts'
import { catalog } from '../../catalog-for-test.ts'
import { moveFacts, requestFor } from '../../request-for-test.ts'

const input = { elasticIpId: moveFacts.elasticIpId, serverId: moveFacts.to.id }
const done = requestFor({ state: 'done', input, facts: moveFacts })
const back = { elasticIpId: moveFacts.elasticIpId, serverId: moveFacts.from.id }

const move = catalog.open(done).change
const findUndone = (request: Request | undefined) => createFindUndone({ store: { find: async () => request }, catalog })

describe('a request from the form that undoes another one', () => {
  test('names that one, with the place of its message', async () => {
    expect(await findUndone(done)(done.id, { change: move, input: back, facts: moveFacts })).toEqual({
      id: done.id,
      channelId: 'C0OPS00001',
      cardTs: '1795010400.000100',
    })
  })

  test.each([
    ['the person chose another server', done, 'ip.move', { ...back, serverId: 'sv_3' }],
    ['it is of another kind', done, 'vm.rename', back],
    ['the other one is not done', { ...done, state: 'failed' as const }, 'ip.move', back],
    ['the other one was never posted', { ...done, cardTs: undefined }, 'ip.move', back],
    ['the other one is gone', undefined, 'ip.move', back],
  ])('names none if %s', async (_, request, kind, wanted) => {
    expect(await findUndone(request)(done.id, { change: { kind }, input: wanted, facts: moveFacts })).toBeUndefined()
  })

  test('names none if the form was opened for something else', async () => {
    expect(await findUndone(done)(undefined, { change: move, input: back, facts: moveFacts })).toBeUndefined()
  })
})

describe('a request from the form that undoes an evacuation', () => {
  const [from, to] = [
    { id: 'sv_1', name: 'web-1' },
    { id: 'sv_2', name: 'web-2' },
  ]
  const evacuated = (...ids: string[]) => ({ from, to, items: ids.map((elasticIpId) => ({ elasticIpId, from, to })), leftOut: [] })
  const evacuation = createEvacuation({} as Parameters<typeof createEvacuation>[0]) as unknown as Change
  const whole = requestFor({
    state: 'done',
    kind: 'ip.evacuate',
    input: { serverId: 'sv_1', targetId: 'sv_2', elasticIpIds: ['eip_1', 'eip_2'] },
    facts: evacuated('eip_1', 'eip_2'),
    items: ['eip_1', 'eip_2'].map((id) => ({ id, state: 'done' as const, causes: [] })),
  })
  const find = (...ids: string[]) =>
    createFindUndone({ store: { find: async () => whole }, catalog: createCatalog([evacuation]) })(whole.id, {
      change: evacuation,
      input: { serverId: 'sv_2', targetId: 'sv_1', elasticIpIds: ids },
      facts: evacuated(...ids),
    })

  test('names it in whatever order the addresses were ticked, and if some were left out', async () => {
    expect(await find('eip_2', 'eip_1')).toMatchObject({ id: whole.id })
    expect(await find('eip_2')).toMatchObject({ id: whole.id })
  })

  test('names none if it moves another address', async () => {
    expect(await find('eip_1', 'eip_3')).toBeUndefined()
  })
})
