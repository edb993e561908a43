import { expect, test } from 'vitest'
import { usualTimings } from '../../../src/domain/timings.ts'
import { policyInFile } from '../../journeys/policy-in-file.ts'
import { approveHeld, ops, patchesOf, untilCard } from '../../journeys/world.ts'
import { elasticIps } from '../../sandbox/account-api/data.ts'
import { type MachineWorld, policy, startMachineWorld } from './machines-world.ts'

const without = policy.replace(/^.*CI_TOKEN.*$/m, '').replaceAll('"machine:ci", ', '')

/** Starts the bot again with a policy that no longer has the machine. */
async function restartWithout(world: MachineWorld) {
  await Promise.all(world.bots.splice(0).map((bot) => bot.stop()))
  const bot = await world.startBot({ POLICY_FILE: policyInFile(without) })
  world.bots.push(bot)
  world.slack.connectBot(bot.slackUrl)
}

/** The machine requests a change, and Ben approves it. Its message, and that of its thread, is read as it is later. */
async function request(world: MachineWorld, body: object, approve: 'at once' | 'held' | 'not' = 'at once') {
  const { json } = await world.call('POST /v1/requests', { body, key: 'a' })
  const card = await world.slack.until(() => world.slack.messages(ops).find(({ ts }) => json.links.message?.endsWith(ts.replace('.', ''))))
  if (approve === 'at once') await world.ben.click(card, 'Approve')
  if (approve === 'held') await approveHeld(world, world.ben, card)
  const { id } = json as { id: string }
  const state = async () => (await world.records.find(id)).state
  const text = () => world.slack.messages(ops).find(({ ts }) => ts === card.ts)?.text
  const thread = () => world.slack.thread(ops, card.ts).at(-1)?.text
  return { state, text, thread }
}

const notCovered = /No policy rule covers it anymore\. Nothing was changed\./

test.each<[what: string, more: object, approve: Parameters<typeof request>[2], until: RegExp, state: string, why: RegExp]>([
  ['undecided', {}, 'not', /needs approval/, 'expired', /The policy no longer lets this machine request it\. Nothing was done\./],
  ['approved for later', { start: 'in 2h' }, 'at once', /Approved\.\* Starts/, 'not-started', notCovered],
  ['held by a freeze', {}, 'held', /Approved\.\* Held/, 'not-started', notCovered],
])('what a machine requested ends with its entry in the policy: %s', async (what, more, approve, until, state, why) => {
  const world = await startMachineWorld()
  if (what === 'held by a freeze') {
    await world.ben.command('/infra freeze because of the sale', { channel: ops })
    await untilCard(world.slack, /\*Frozen\* by/)
  }
  const made = await request(world, { ...world.move(), ...more }, approve)
  await expect.poll(made.text).toMatch(until)

  await restartWithout(world)

  await expect.poll(made.state).toBe(state)
  await expect.poll(made.text).toMatch(why)
  await expect.poll(made.thread).toMatch(why)
  expect(patchesOf(world)).toEqual([])
})

test('and what was sent is followed to its end', async () => {
  const world = await startMachineWorld()
  world.accountApi.world.nextMove({ takesMs: 3_000 })
  const made = await request(world, world.move())
  await expect.poll(made.state).toBe('tracking')

  await restartWithout(world)

  await expect.poll(made.state, { timeout: 15_000 }).toBe('done')
  await expect.poll(made.thread).toMatch(/\*Done\.?\*/)
})

test('of an evacuation, what was not sent is not sent, and its message says so', async () => {
  const world = await startMachineWorld({ timings: { ...usualTimings, accountWindowMs: 2_000 } })
  const second = elasticIps.find(({ address }) => address === '203.0.113.13')
  const body = { errors: [{ code: 'RATE_LIMIT_EXCEEDED', status: '429', meta: { retry_after: 1 } }] }
  world.accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${second?.id}`, kind: 'status', status: 429, body, times: 1_000 })
  const made = await request(world, { change: 'ip.evacuate', server: 'edge-ash-1', target: 'web-2' })
  await expect.poll(made.text, { timeout: 15_000 }).toMatch(/1 of 2 moved.*`203\.0\.113\.13` {2}waiting/s)

  await restartWithout(world)

  await expect
    .poll(made.text, { timeout: 15_000 })
    .toMatch(/Partly done.* 1 of 2 moved.*\n.*`203\.0\.113\.13` {2}not started\. No policy rule/s)
})
