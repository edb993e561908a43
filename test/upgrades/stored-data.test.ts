import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { checkAudit } from '../../src/audit/verification.ts'
import { isOpen, type Request, requestStates } from '../../src/domain/request.ts'
import { changeKinds } from '../../src/features/index.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createStore } from '../../src/requests/store.ts'
import { ops, startWorld, type World } from '../journeys/world.ts'
import { trusting } from '../requests/audit-for-test.ts'
import { noAudit } from '../requests/redis-for-test.ts'
import { signaturesOfBot } from '../requests/signatures-for-test.ts'
import { asIfNow } from './as-if-now.ts'
import { accountElasticIps, accountKeys, envOf, evacuated, server, single, storedBy } from './scene.ts'
import { type StoredData, writeStoredData } from './stored-data.ts'

const releases = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory())
const signatures = signaturesOfBot({ ...storedBy, INFRA_API_KEY: '' })

test.each(releases.map(({ name }) => name))('what release %s stored is genuine, and goes on to its end', async (release) => {
  const data: StoredData = JSON.parse(readFileSync(join(import.meta.dirname, release, 'redis.json'), 'utf8'))
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
  expect(new Set(requests.map(({ kind }) => kind))).toEqual(new Set(changeKinds))
  expect(new Set(requests.map(({ state }) => state))).toEqual(new Set(requestStates))
  for (const request of requests) expectGenuine(request)

  await asIfNow({ redis, keys, store, signatures }, ids, Date.now() - data.writtenAt)
  const { slack, ada, ben } = await startWorld({
    env: envOf(release),
    account: { key: accountKeys.key, data: { elasticIps: asMoved(), apiKeys: structuredClone(accountKeys.apiKeys) } },
  })
  const inState = (state: Request['state']) => requests.filter((request) => request.state === state)

  /** Presses a button of a request once its message has it. */
  async function press(hands: World['ada'], { id }: Request, button: string) {
    const message = async () => {
      const found = await store.find(id)
      return slack.messages(ops).find(({ ts }) => ts === found?.cardTs)
    }
    await expect.poll(async () => JSON.stringify(await message()), { interval: 20 }).toContain(`"${button}"`)
    await hands.click((await message()) ?? '', button)
  }

  for (const request of inState('waiting')) await press(ben, request, 'Approve')
  for (const request of inState('untracked')) await press(ada, request, 'Track again')
  const handovers = [...inState('approved'), ...inState('waiting')].filter(({ kind }) => kind === 'key.create' || kind === 'key.rotate')
  for (const request of handovers) await press(ada, request, request.kind === 'key.create' ? 'Create key' : 'Rotate key')
  const now = () => store.findMany(ids)
  await expect.poll(async () => (await now()).filter(({ state }) => isOpen(state)), { interval: 20 }).toEqual([])
  await expect.poll(() => redis.zcard(keys.outbox)).toBe(0)

  const ends = (await now()).map(({ id, kind, state }) => `${kind}: ${requests.find((one) => one.id === id)?.state} → ${state}`)
  expect([...new Set(ends)].toSorted()).toMatchInlineSnapshot(`
    [
      "ip.evacuate: tracking → failed",
      "ip.evacuate: waiting → done",
      "ip.move: approved → done",
      "ip.move: done → done",
      "ip.move: expired → expired",
      "ip.move: failed → failed",
      "ip.move: not-started → not-started",
      "ip.move: rejected → rejected",
      "ip.move: starting → done",
      "ip.move: superseded → superseded",
      "ip.move: tracking → done",
      "ip.move: untracked → done",
      "ip.move: voided → voided",
      "ip.move: waiting → done",
      "ip.move: withdrawn → withdrawn",
      "key.create: approved → done",
      "key.create: done → done",
      "key.revoke: waiting → done",
      "key.rotate: waiting → done",
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

/** The Elastic IPs of the account after all moves that were in flight. */
function asMoved() {
  const moved = new Set([...[1, 2, 12, 15].map((index) => single[index]), ...evacuated])
  return accountElasticIps.map((elasticIp) => ({ ...elasticIp, serverId: moved.has(elasticIp) ? server('web-2') : elasticIp.serverId }))
}
