import { afterEach, describe, expect, test, vi } from 'vitest'
import { createCatalog } from '../../src/changes/catalog.ts'
import { createExecute } from '../../src/changes/execute.ts'
import type { Store, Transition } from '../../src/changes/store.ts'
import { payloadHash } from '../../src/domain/payload.ts'
import type { Request } from '../../src/domain/request.ts'
import { createMoveChange } from '../../src/features/move-elastic-ip/change.ts'
import { requestFor } from './request-for-test.ts'

afterEach(() => void vi.useRealTimers())

/** An approved move, whose claim takes so long to be answered. */
function approvedMove(claimTakesMs: number) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const steps: Pick<Transition, 'name' | 'to'>[] = []
  const written: string[] = []
  const elasticIp = { id: 'eip_1', address: '203.0.113.10', status: 'active', server: { id: 'sv_1', hostname: 'web-1' } }
  const server = { id: 'sv_2', hostname: 'web-2' }
  const accountApi = {
    elasticIps: {
      get: async () => ({ ...elasticIp, project: undefined, site: undefined }),
      move: async (id: string) => void written.push(id),
    },
    servers: { get: async () => server },
  } as unknown as Parameters<typeof createMoveChange>[0]
  const store = {
    now: async () => 1_000_000,
    transition: async (_: Request, { name, to }: Transition) => {
      steps.push({ name, to })
      if (name === 'send') vi.advanceTimersByTime(claimTakesMs)
      return { outcome: 'won', state: to }
    },
    postpone: async () => {},
  } as unknown as Store
  const execute = createExecute({
    store,
    audit: { note: async () => {} },
    catalog: createCatalog(() => [createMoveChange(accountApi)]),
    onApiError: () => {},
    onChanged: () => {},
  })
  return { execute, steps, written }
}

function approvedRequest(): Request {
  const facts = { elasticIpId: 'eip_1', address: '203.0.113.10', from: { id: 'sv_1', name: 'web-1' }, to: { id: 'sv_2', name: 'web-2' } }
  const request = requestFor({ state: 'approved', facts, createdAt: 990_000, decidedAt: 999_000 })
  return { ...request, hash: payloadHash(request) }
}

describe('a write', () => {
  test('is sent once it is claimed', async () => {
    const { execute, steps, written } = approvedMove(100)
    await execute(approvedRequest())
    expect(written).toHaveLength(1)
    expect(steps.map(({ name }) => name)).toEqual(['send', 'accept'])
  })

  test('whose claim is answered long after the look before it is not sent, and told as not started', async () => {
    const { execute, steps, written } = approvedMove(21_000)
    await execute(approvedRequest())
    expect(written).toEqual([])
    expect(steps).toEqual([
      { name: 'send', to: 'starting' },
      { name: 'end', to: 'not-started' },
    ])
  })
})
