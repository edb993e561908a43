import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { checkAudit } from '../../src/audit/verification.ts'
import { isOpen, type Request } from '../../src/domain/request.ts'
import { changeKinds } from '../../src/features/index.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createStore } from '../../src/requests/store.ts'
import { ops, startWorld, type World } from '../journeys/world.ts'
import { trusting } from '../requests/audit-for-test.ts'
import { noAudit } from '../requests/redis-for-test.ts'
import { signaturesOfBot } from '../requests/signatures-for-test.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { asIfNow } from './as-if-now.ts'
import { accountElasticIps, accountKeys, botEnv, evacuated, fixture, server, single, storedBy } from './scene.ts'
import { type StoredData, writeStoredData } from './stored-data.ts'

const signatures = signaturesOfBot({ ...storedBy, INFRA_API_KEY: '' })

test('what release 0.1 stored is genuine, and goes on to its end', async () => {
  const data: StoredData = JSON.parse(readFileSync(fixture, 'utf8'))
  const ids = Object.keys(data.keys).flatMap((name) => (name.startsWith(':request:') ? [name.slice(':request:'.length)] : []))
  const redis = new Redis(inject('redisUrl'), { maxRetriesPerRequest: null })
  const keys = createKeys(storedBy.REDIS_PREFIX)
  const store = createStore({ redis, keys, audit: noAudit, signatures: trusting })
  await writeStoredData(redis, storedBy.REDIS_PREFIX, data)
  onTestFinished(async () => {
    await writeStoredData(redis, storedBy.REDIS_PREFIX, { keys: {} })
    redis.disconnect()
  })
  const requests = await store.findMany(ids)
  // Keys had no ends then.
  expect(new Set(requests.map(({ kind }) => kind))).toEqual(new Set(changeKinds.filter((kind) => kind !== 'key.extend')))
  for (const request of requests) expectGenuine(request)

  await asIfNow({ redis, keys, store, signatures }, ids, Date.now() - data.writtenAt)
  // The Elastic IPs after all moves that were in flight.
  const moved = new Set([single[1], single[2], single[4], ...evacuated])
  const elasticIps = accountElasticIps.map((each) => ({ ...each, serverId: moved.has(each) ? server('web-2') : each.serverId }))
  const { slack, ada, ben } = await startWorld({
    env: botEnv,
    account: { key: accountKeys.key, data: { elasticIps, apiKeys: structuredClone(accountKeys.apiKeys) } },
  })

  /** Presses a button of a request once its message has it. */
  async function press(hands: World['ada'], { id }: Request, button: string) {
    const message = async () => {
      const found = await store.find(id)
      return slack.messages(ops).find(({ ts }) => ts === found?.cardTs)
    }
    await expect.poll(async () => JSON.stringify(await message()), { interval: 20 }).toContain(`"${button}"`)
    await hands.click((await message()) as Message, button)
  }

  const hasParent = ({ parent }: Request) => parent !== undefined
  for (const request of requests) if (request.state === 'waiting' && !hasParent(request)) await press(ben, request, 'Approve')
  for (const request of requests) {
    if (request.kind === 'key.create') await press(ada, request, 'Create key')
    if (request.kind === 'key.rotate') await press(ada, request, 'Rotate key')
  }
  const now = () => store.findMany(ids)
  await expect.poll(async () => (await now()).filter(({ state }) => isOpen(state)), { interval: 20 }).toEqual([])
  await expect.poll(() => redis.zcard(keys.outbox)).toBe(0)

  const before = new Map(requests.map(({ id, state }) => [id, state]))
  const ends = (await now()).map(
    (request) => `${hasParent(request) ? 'of an evacuation, ' : ''}${request.kind}: ${before.get(request.id)} → ${request.state}`,
  )
  expect([...new Set(ends)].toSorted()).toMatchInlineSnapshot(`
    [
      "ip.evacuate: tracking → failed",
      "ip.evacuate: waiting → done",
      "ip.move: approved → done",
      "ip.move: starting → done",
      "ip.move: tracking → done",
      "ip.move: waiting → done",
      "key.create: approved → done",
      "key.revoke: waiting → done",
      "key.rotate: waiting → done",
      "of an evacuation, ip.move: failed → failed",
      "of an evacuation, ip.move: tracking → done",
      "vm.rename: done → done",
      "vm.rename: waiting → done",
    ]
  `)
  expect((await checkAudit({ ...storedBy, REDIS_URL: inject('redisUrl') }, [])).output).toMatch(/^The chain is whole/)
})

function expectGenuine(request: Request): void {
  const { decision } = request
  expect(signatures.verifyRecord(request), request.id).toBe('genuine')
  for (const approval of request.approvals) expect(signatures.verifyApproval(request, approval)).toBe('genuine')
  if (!decision?.signature) return
  expect(signatures[decision.breakGlass ? 'verifyBreakGlass' : 'verifyApproved'](request, decision)).toBe('genuine')
}
