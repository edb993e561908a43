import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { callerOf, policy, tokens } from '../features/machines/machines-world.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops } from '../journeys/world.ts'
import { brokenPromises } from './invariants.ts'
import { startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

async function startMachineScene() {
  const env = {
    POLICY_FILE: policyInFile(policy.replace('projects: [{name: Storefront}]', `channels: [${ops}]`)),
    MACHINES_PORT: '0',
    ...tokens,
  }
  const scene = await startScene({ env })
  const { bots } = scene
  const call = callerOf(bots.machinesUrl)
  /** Requests to move this address. Each address has its own idempotency key. */
  const request = (index: number) => {
    const body = { change: 'ip.move', elastic_ip: scene.elasticIp(index).address, server: scene.to }
    return call('POST /v1/requests', { body, key: `key-${index}` })
  }
  return { ...scene, call, request }
}
type MachineScene = Awaited<ReturnType<typeof startMachineScene>>

/** Kills the bot right before something takes effect, or after that and before the bot learns of it. */
type Kill = (scene: MachineScene, when: 'before' | 'after', kill: () => true) => void

const inRedis =
  (part: string): Kill =>
  ({ proxy }, when, kill) => {
    if (when === 'before') proxy.holdSent((sent) => sent.includes(part) && kill(), new Promise(() => {}))
    else proxy.loseReplyTo((sent) => sent.includes(part), { andThen: kill })
  }

const inSlack: Kill = ({ slack }, when, kill) => slack.faults.add({ method: 'chat.postMessage', kind: `drop-${when}`, when: kill })

/** What a call does, and what a kill before it and after it leaves in Redis. */
const moments: [what: string, kill: Kill, when: 'before' | 'after', left: { claims: 0 | 1; records: 0 | 1 }][] = [
  ['the claim of the key', inRedis(':idempotency:'), 'before', { claims: 0, records: 0 }],
  ['the claim of the key', inRedis(':idempotency:'), 'after', { claims: 1, records: 0 }],
  ['the record of the request', inRedis('"mostUndecided"'), 'before', { claims: 1, records: 0 }],
  ['the record of the request', inRedis('"mostUndecided"'), 'after', { claims: 1, records: 1 }],
  ['its message', inSlack, 'before', { claims: 1, records: 1 }],
  ['its message', inSlack, 'after', { claims: 1, records: 1 }],
]

test('a bot that is killed at every step of the call of a machine leaves one request and one message, once the call is repeated', async () => {
  const scene = await startMachineScene()
  const { slack, bots, admin, evidence, request } = scene
  const ids: string[] = []
  for (const [index, [what, killAt, when, left]] of moments.entries()) {
    const killed = Promise.withResolvers<void>()
    killAt(scene, when, () => {
      void bots.kill(0).then(killed.resolve)
      return true
    })
    const lost = request(index).catch(() => 'lost')
    await killed.promise
    expect(await lost).toBe('lost')
    const [claims, records] = [await admin.keys(evidence.keys.idempotency('*')), await evidence.records()]
    expect({ what, when, claims: claims.length - index, records: records.length - index }).toEqual({ what, when, ...left })
    scene.proxy.holdSent(() => false, Promise.resolve())
    await bots.start(0)

    const { status, json } = await request(index)
    expect(status).toBe(left.records === 1 ? 200 : 201)
    ids.push(json.id)
    await scene.untilCard(index, /ci \(machine\) needs approval/)
  }

  // The keys lead to the same requests in another process.
  await bots.kill(0)
  await bots.start(0)
  for (const [index, id] of ids.entries()) expect(await request(index)).toMatchObject({ status: 200, json: { id } })
  await untilTrue('no message is owed', async () => (await admin.zcard(evidence.keys.outbox)) === 0)
  await delay(2_000)
  expect((await evidence.records()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  expect(slack.messages(ops).filter(({ isBot, threadTs }) => isBot && threadTs === undefined)).toHaveLength(ids.length)
  for (const index of ids.keys()) await scene.ben.click(await scene.untilCard(index, /needs approval/), 'Approve')
  expect(brokenPromises(await scene.gather(ids.length))).toEqual([])
})
