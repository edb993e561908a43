import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { checkAudit } from '../../src/audit/verification.ts'
import { isMachine } from '../../src/domain/approval.ts'
import { isOpen, type Request, requestStates } from '../../src/domain/request.ts'
import { changeKinds } from '../../src/features/index.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createStore } from '../../src/requests/store.ts'
import { delivery, post, resolved, type WireAlert } from '../journeys/alert-deliveries.ts'
import { ops, people, startWorld, untilShown, type World } from '../journeys/world.ts'
import { noteOf } from '../requests/audit-for-test.ts'
import { noAudit } from '../requests/redis-for-test.ts'
import { signaturesOfBot } from '../requests/signatures-for-test.ts'
import { asIfNow } from './as-if-now.ts'
import { accountElasticIps, accountKeys, envOf, evacuation, nodeDown, server, single, storedBy, unanswered } from './scene.ts'
import { removeStoredData, type StoredData, writeStoredData } from './stored-data.ts'

const releases = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory())
const prefix = storedBy.REDIS_PREFIX
const keys = createKeys(prefix)
const signatures = signaturesOfBot({ ...storedBy, INFRA_API_KEY: '' })

describe.each(releases.map(({ name }) => name))('what release %s stored', (release) => {
  const data: StoredData = JSON.parse(readFileSync(join(import.meta.dirname, release, 'redis.json'), 'utf8'))
  const ids = Object.keys(data.keys).flatMap((name) => (name.startsWith(':request:') ? [name.slice(':request:'.length)] : []))

  /** Loads the data. It is removed when the test ends. */
  async function load() {
    const redis = new Redis(inject('redisUrl'), { maxRetriesPerRequest: null })
    const store = createStore({ redis, keys, audit: noAudit, noteOf })
    await removeStoredData(redis, prefix)
    await writeStoredData(redis, prefix, data)
    onTestFinished(async () => {
      await removeStoredData(redis, prefix)
      redis.disconnect()
    })
    return { redis, store, requests: await store.findMany(ids) }
  }

  test('has a request of each kind, one in each state, and items in each state that lasts', async () => {
    const { requests } = await load()

    expect(new Set(requests.map(({ kind }) => kind))).toEqual(new Set(changeKinds))
    expect(new Set(requests.map(({ state }) => state))).toEqual(new Set(requestStates))
    const items = requests.flatMap((request) => request.items ?? [])
    expect(new Set(items.map(({ state }) => state))).toEqual(
      new Set(['starting', 'tracking', 'done', 'failed', 'superseded', 'not-started']),
    )
    expect(requests.some(({ origin, state }) => isMachine(origin) && state === 'waiting')).toBe(true)
    expect(requests.some(({ decision, state }) => decision?.breakGlass && state === 'tracking')).toBe(true)
    expect(data.keys[':outbox']?.value.length).toBeGreaterThan(0)
  })

  test('is genuine, by the present signatures', async () => {
    const { requests } = await load()

    for (const request of requests) {
      expect(signatures.verifyRecord(request), request.id).toBe('genuine')
      for (const approval of request.approvals) expect(signatures.verifyApproval(request, approval)).toBe('genuine')
      if (!request.decision?.signature) continue
      const verify = request.decision.breakGlass ? signatures.verifyBreakGlass : signatures.verifyApproved
      expect(verify(request, request.decision)).toBe('genuine')
    }
  })

  test('has a notice that the operators have not got, and the next process posts it', async () => {
    const { redis, store } = await load()
    await asIfNow({ redis, keys, store, signatures }, ids, Date.now() - data.writtenAt)

    const { slack } = await startWorld({ env: envOf(release), account: { key: accountKeys.key } })

    await expect.poll(() => slack.messages(ops).map(({ text }) => text), quick).toContainEqual(expect.stringContaining('INFRA_API_KEY'))
  })

  test('is listed, decided and continued to its end, and the audit chain goes on', async () => {
    const { redis, store, requests } = await load()
    await asIfNow({ redis, keys, store, signatures }, ids, Date.now() - data.writtenAt)
    const world = await startWorld({
      env: envOf(release),
      account: { key: accountKeys.key, data: { elasticIps: asMoved(), apiKeys: structuredClone(accountKeys.apiKeys) } },
    })
    const { slack, ada, ben } = world
    const now = async () => store.findMany(ids)
    const cardOf = ({ cardTs }: Request) => slack.messages(ops).find(({ ts }) => ts === cardTs)
    const inState = (state: Request['state']) => requests.filter((request) => request.state === state)

    /** Clicks a button of a request once its message has it. */
    async function click(hands: World['ada'], { id }: Request, button: string) {
      await expect.poll(async () => JSON.stringify(cardOf((await store.find(id)) as Request)?.blocks ?? []), quick).toContain(`"${button}"`)
      const card = cardOf((await store.find(id)) as Request)
      if (card) await hands.click(card, button)
    }

    const sendAlert = (one: WireAlert) => post(world.bots[0] ?? {}, JSON.stringify(delivery([one])))
    const [alerted, ...others] = inState('waiting').filter(({ origin }) => isMachine(origin))
    const waiting = inState('waiting').filter(({ origin }) => !isMachine(origin))
    expect(others).toEqual([])
    await ben.command('/infra pending', { channel: ops })
    const listed = await untilShown(slack, people.ben, /requests need approval/)
    for (const each of listedAs) expect(listed.text).toContain(each)

    // The same alert again is a duplicate, and its end withdraws what it requested before the upgrade.
    expect(await sendAlert(nodeDown)).toBe(200)
    expect(await redis.keys(`${keys.recordPrefix}*`)).toHaveLength(ids.length)
    expect(await sendAlert(resolved(nodeDown))).toBe(200)
    expect(await store.find(alerted?.id ?? '')).toMatchObject({ state: 'withdrawn' })

    await Promise.all(waiting.map((request) => click(ben, request, 'Approve')))
    await Promise.all(inState('untracked').map((request) => click(ada, request, 'Track again')))
    const handovers = [...inState('approved'), ...waiting].filter(({ kind }) => kind === 'key.create' || kind === 'key.rotate')
    for (const request of handovers) await click(ada, request, request.kind === 'key.create' ? 'Create key' : 'Rotate key')

    await expect
      .poll(async () => (await now()).filter(({ state }) => isOpen(state)).map(({ kind, state }) => `${kind} ${state}`), quick)
      .toEqual([])
    await expect.poll(() => redis.zcard(keys.outbox), quick).toBe(0)
    const ended = new Map((await now()).map((request) => [request.id, request]))
    const continued = requests.filter(({ state }) => isOpen(state) || state === 'untracked')
    const ends = continued.map(({ id, kind, state }) => `${kind}: ${state} → ${ended.get(id)?.state}`)
    expect([...new Set(ends)].toSorted()).toMatchInlineSnapshot(`
      [
        "ip.evacuate: tracking → done",
        "ip.evacuate: tracking → failed",
        "ip.evacuate: waiting → done",
        "ip.evacuate: waiting → withdrawn",
        "ip.move: approved → done",
        "ip.move: starting → done",
        "ip.move: tracking → done",
        "ip.move: untracked → done",
        "ip.move: waiting → done",
        "key.create: approved → done",
        "key.create: waiting → done",
        "key.revoke: waiting → done",
        "key.rotate: waiting → done",
        "vm.rename: waiting → done",
      ]
    `)
    for (const { id, state, kind } of requests)
      if (!isOpen(state) && state !== 'untracked') expect(ended.get(id), kind).toMatchObject({ state })
    expect((await checkAudit({ ...storedBy, REDIS_URL: inject('redisUrl') }, [])).output).toMatch(/^The chain is whole/)
  })
})

const quick = { timeout: 10_000, interval: 20 }

/** What the list of waiting requests says about each. */
const listedAs = [
  '8 requests need approval',
  'Move 203.0.113.20: web-1 → web-2',
  'Move 203.0.113.33: web-1 → web-2',
  'Evacuate edge-ash-2 → web-2 (2 Elastic IPs)',
  'Evacuate edge-ash-1 → web-2 (2 Elastic IPs)',
  'Rename preview-1 → preview-9',
  'Create API key waiting-key',
  'Rotate API key terraform',
  'Revoke API key “laptop of ada”',
]

/** The Elastic IPs of the account after all moves that were in flight. */
function asMoved() {
  const inFlight = [1, 2, 12, 14, 15].map((index) => single[index]?.id)
  const moved = new Set([...inFlight, ...[...evacuation, ...unanswered].map(({ id }) => id)])
  return accountElasticIps.map((elasticIp) => ({ ...elasticIp, serverId: moved.has(elasticIp.id) ? server('web-2') : elasticIp.serverId }))
}
