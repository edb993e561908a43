import { describe, expect, test } from 'vitest'
import type { Request } from '../../../../src/domain/request/request.ts'
import { createFindUndone } from '../../../../src/requests/lifecycle/submit/find-undone.ts'
import { catalog } from '../../catalog-for-test.ts'
import { moveFacts, requestFor } from '../../request-for-test.ts'

const input = { elasticIpId: moveFacts.elasticIpId, serverId: moveFacts.to.id }
const done = requestFor({ state: 'done', input, facts: moveFacts })
const back = { elasticIpId: moveFacts.elasticIpId, serverId: moveFacts.from.id }

const findUndone = (request: Request | undefined) => createFindUndone({ store: { find: async () => request }, catalog })

describe('a request from the form that undoes another one', () => {
  test('names that one, with the place of its message', async () => {
    expect(await findUndone(done)(done.id, 'ip.move', back)).toEqual({
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
    expect(await findUndone(request)(done.id, kind, wanted)).toBeUndefined()
  })

  test('names none if the form was opened for something else', async () => {
    expect(await findUndone(done)(undefined, 'ip.move', back)).toBeUndefined()
  })
})
