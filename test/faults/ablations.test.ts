import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { Request } from '../../src/domain/request.ts'
import { createApiKey } from '../../src/features/keys-create.ts'
import { moveChange } from '../../src/moves/move-change.ts'
import { createScripts, readScripts } from '../../src/redis/scripts.ts'
import { createMessenger } from '../../src/slack/web-api.ts'
import { connectTestStore } from '../requests/redis-for-test.ts'
import { newRequestFor, recordRequest } from '../requests/request-for-test.ts'
import { takeSteps } from '../requests/take-steps.ts'
import { type Ablation, type AblationName, ablated, ablations, startOptions } from './ablations.ts'
import { startScene } from './scene.ts'

/** Uses what an ablation replaces as the bot does, and shows what is missing. Throws if that no longer exists. */
const effects: Record<AblationName, () => Promise<void>> = {
  'search off': async () => {
    const create = ablated('search off', { createMessenger }) as typeof createMessenger
    const sent = { ts: '1.1', user: 'U0LOCKKEEP', metadata: { event_payload: { key: 'k' } } }
    const client = { conversations: { history: async () => ({ messages: [sent] }) } } as unknown as Parameters<typeof create>[0]['client']
    const parts = { client, botUserId: () => 'U0LOCKKEEP' }
    const where = { channelId: 'C0OPS00001', key: 'k', oldestMs: 0 }
    expect(await create(parts).find(where)).toEqual({ is: 'absent' })
    expect(await createMessenger(parts).find(where)).toEqual({ is: 'found', ts: '1.1' })
  },
  'absence taken for done': async () => {
    const create = ablated('absence taken for done', { moveChange }) as typeof moveChange
    const { observe } = create({} as Parameters<typeof create>[0])
    expect(await observe(...([] as unknown as Parameters<typeof observe>))).toEqual({ is: 'done' })
  },
  'plain SET NX': async () => {
    const { redis, store } = connectTestStore()
    const request = await recordRequest(store)
    const read = ablated('plain SET NX', { readScripts }) as typeof readScripts
    // Scripts belong to a connection. The definition that comes last counts.
    createScripts(redis, read(new URL('../../src/requests/store.ts', import.meta.url).href, ['take-step']))
    expect(await store.take(request, 'approve', {}, 'mine')).toMatchObject({ outcome: 'won' })
    expect(await store.take(request, 'approve', {}, 'mine')).toMatchObject({ outcome: 'lost' })
  },
  'children uncompared': async () => {
    const { redis, store } = connectTestStore()
    const parent = await recordRequest(store, { kind: 'ip.evacuate', resource: 'server:sv_1' })
    const child = await recordRequest(store)
    await takeSteps(store, child.id, 'approve')
    const own = { ...((await store.find(child.id)) as Request), parent: { id: parent.id, kind: parent.kind } }
    const send = () => store.take(own, 'send', { beside: { ids: [], most: 5, withinMs: 20_000 } })
    await takeSteps(store, parent.id, 'approve', 'begin')
    expect(await send()).toMatchObject({ outcome: 'won' })
    expect(await send()).toMatchObject({ outcome: 'lost' })
    const read = ablated('children uncompared', { readScripts }) as typeof readScripts
    createScripts(redis, read(new URL('../../src/requests/store.ts', import.meta.url).href, ['take-step']))
    expect(await send()).toMatchObject({ outcome: 'won' })
  },
  'addresses unlocked': async () => {
    const { redis, store } = connectTestStore()
    await recordRequest(store)
    const again = async () => (await store.create(newRequestFor())).outcome
    expect(await again()).toBe('busy')
    const read = ablated('addresses unlocked', { readScripts }) as typeof readScripts
    createScripts(redis, read(new URL('../../src/requests/store.ts', import.meta.url).href, ['create']))
    expect(await again()).toBe('created')
  },
  'unseen keys kept': async () => {
    const deleted: string[] = []
    const apiKeys = {
      list: async () => [{ id: 'tok_1deLnN7QD0r6I', name: 'ci-deploy' }],
      delete: async (id: string) => void deleted.push(id),
    } as unknown as App['account']['apiKeys']
    const { create } = ablated('unseen keys kept', { createApiKey }) as typeof createApiKey
    const [change] = create({ account: { apiKeys } } as App).changes ?? []
    const key = { name: 'ci-deploy', readOnly: true, allowedIps: [] }
    const moment = { phase: 'sent', sinceSentMs: 900_000, early: false, isUnsettled: false } as const
    const observed = await change?.observe(key, key, moment, { signal: AbortSignal.timeout(1_000) })
    expect({ is: observed?.is, deleted }).toEqual({ is: 'not-started', deleted: [] })
  },
  'stalled jobs given up': async () => {
    const given: object[] = []
    class Worker {
      constructor(_name: string, _work: unknown, options: object) {
        given.push(options)
      }
    }
    const Impatient = ablated('stalled jobs given up', { Worker }) as typeof Worker
    const usual = { maxStalledCount: 1_000_000 }
    for (const name of ['ticks', 'wake-ups']) new Impatient(name, async () => {}, usual)
    expect(given).toEqual([usual, { lockDuration: 2_000, stalledInterval: 1_000, maxStalledCount: 0 }])
    expect(() => new Impatient('wake-ups', async () => {}, {})).toThrow('no longer finds "maxStalledCount"')
  },
}

describe('what an ablation replaces', () => {
  test.each(Object.entries<Ablation>(ablations))('exists: %s', async (name, { module }) => {
    const path = module.startsWith('src/') ? `../../${module}` : module
    const exported = await import(/* @vite-ignore */ path)
    expect(() => ablated(name as AblationName, exported)).not.toThrow()
  })

  test.each(Object.entries(effects))('no longer works: %s', (_, effect) => effect())

  test('is named in the error if it no longer exists', () => {
    const gone = () => ablated('search off', {})
    const create = ablated('search off', { createMessenger: () => ({}) }) as () => unknown
    expect(gone).toThrow('The ablation "search off" no longer finds "createMessenger" (createMessenger of src/slack/web-api.ts).')
    expect(create).toThrow('The ablation "search off" no longer finds "find" (createMessenger of src/slack/web-api.ts).')
  })
})

test('a program that is started with an ablation gets the module with the one export replaced', async () => {
  const { nodeOptions, env } = startOptions('absence taken for done')
  const module = new URL('../../src/moves/move-change.ts', import.meta.url).href
  const program = `const own = await import('${module}'); console.log(await own.moveChange({}).observe(), Object.keys(own))`
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, '--input-type=module', '-e', program], {
    env: { ...process.env, ...env },
  })
  expect(stdout).toContain("{ is: 'done' }")
})

test('a bot sets what an ablation replaces in the options of its workers', async () => {
  const { bots } = await startScene({ ablation: 'stalled jobs given up' })
  expect(bots.crashes).toEqual([])
})
