import { describe, expect, test } from 'vitest'
import type { ElasticIp, Server } from '../../src/account/objects.ts'
import { checkEvacuation } from '../../src/features/moves/evacuation.ts'
import { pageActionIds } from '../../src/slack/listing.ts'
import { addresses, patched, withAddresses } from '../journeys/evacuations.ts'
import { openRecords } from '../journeys/records.ts'
import { ops, people, requestMove, sendPayload, startWorld, untilCard, untilReport, untilShown, type World } from '../journeys/world.ts'

/** Opens the form of an evacuation, and sends it with other addresses than it has. */
async function sendAddresses(world: World, ids: string[]): Promise<string> {
  await world.ada.command('/infra evacuate web-1', { channel: ops })
  const { view } = await world.slack.until(() => world.ada.topView())
  const { target, elasticIp } = world.accountApi.world.movable()
  const selected = (value: string) => ({ type: 'external_select', selected_option: { text: { type: 'plain_text', text: value }, value } })
  const options = ids.map((value) => ({ text: { type: 'plain_text', text: value }, value }))
  const values = {
    serverId: { 'evacuate-server:serverId': selected(elasticIp.serverId ?? '') },
    targetId: { 'evacuate-server:targetId': selected(target.id) },
    'elasticIpIds:forged:0': { elasticIpIds: { type: 'checkboxes', selected_options: options } },
  }
  return sendPayload(world, { type: 'view_submission', view: { ...view, state: { values } } })
}

/** Returns what the form says then. On a slow machine it says so later, in place of *Still working*. */
async function refusalOf(world: World, ids: string[]): Promise<string> {
  const answer = await sendAddresses(world, ids)
  if (!answer.includes('Still working')) return answer
  const shown = () => JSON.stringify(world.ada.topView())
  return world.slack.until(() => (shown().includes(':warning:') ? shown() : undefined), { what: 'the refusal in the form' })
}

describe('a requester who sends addresses that the form of an evacuation does not offer', () => {
  test('makes the bot read none of thousands', async () => {
    const world = await startWorld(withAddresses(addresses(3)))
    const before = world.accountApi.journal.length

    const answer = await refusalOf(
      world,
      Array.from({ length: 5_000 }, (_, index) => `eip_forged${index}`),
    )

    expect(answer).toContain('One request moves up to 50 addresses. You chose 5000.')
    expect(world.accountApi.journal.slice(before).filter(({ path }) => path.startsWith('/elastic_ips/'))).toEqual([])
    expect(await openRecords(world).all()).toEqual([])
  })

  test.each<[string, (world: World) => string, RegExp]>([
    ['of another server', ({ accountApi }) => otherAddress(accountApi).id, / is on [\w-]+\. /],
    ['that does not exist', () => 'eip_nowhere', /isn't on the account/],
    ['with a path in its id', () => '../servers', /Not a valid id/],
    ['without an id', () => '', /Not a valid id/],
    ['called like a member of every object', () => 'constructor', /isn't on the account/],
  ])('gets no request for one %s', async (_, idIn, words) => {
    const own = addresses(3)
    const world = await startWorld(withAddresses(own))

    const answer = await refusalOf(world, [...own.map(({ id }) => id), idIn(world)])

    expect(answer).toMatch(words)
    expect(await openRecords(world).all()).toEqual([])
  })

  test('has an address moved once that is sent many times', async () => {
    const [own] = addresses(1)
    const world = await startWorld(withAddresses(addresses(1)))

    await sendAddresses(world, Array(40).fill(own?.id))
    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain('web-1 → web-2 (203.0.113.10)')
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(patched(world)).toEqual([own?.id])
  })

  test('has an address counted once that is also sent by another id, which the account API reads as the same', () => {
    const place = { project: { id: 'proj_1' }, site: { id: 'site_1', name: undefined, slug: 'ASH' } }
    const one: ElasticIp = { id: 'eip_1', address: '203.0.113.1', status: 'active', server: { id: 'sv_1', hostname: 'web-1' }, ...place }
    const [source, target] = ['sv_1', 'sv_2'].map(
      (id): Server => ({ id, hostname: id, label: undefined, primaryIpv4: undefined, status: 'on', locked: false, ...place }),
    )
    const reads = { all: [one], single: new Map([['EIP_1', one]]), seen: [], source, target }

    const { facts } = checkEvacuation({ serverId: 'sv_1', targetId: 'sv_2', elasticIpIds: ['eip_1', 'EIP_1'] }, reads, 'request')

    expect(facts.items.map(({ elasticIpId }) => elasticIpId)).toEqual(['eip_1'])
  })
})

function otherAddress({ world }: World['accountApi']) {
  const { elasticIp } = world.movable()
  const other = world.elasticIps().find(({ serverId }) => serverId !== elasticIp.serverId && serverId !== null)
  if (!other) throw new Error('all addresses are on one server')
  return other
}

test('a member who sends a page button with a request message has the page shown to them, and not in its place', async () => {
  const world = await startWorld()
  const { card } = await requestMove(world, { by: world.ben })
  await world.ada.click(card, 'Approve')
  await untilShown(world.slack, people.ada, /approver/)
  const recorded = world.slack.deliveries.at(-1)
  const click = JSON.parse(new URLSearchParams(recorded?.request.body).get('payload') ?? '{}')
  const value = JSON.stringify({ version: 1, command: 'ip list', args: [], page: 0 })
  const action = { ...click.actions[0], action_id: pageActionIds.next, value, action_ts: '1795010400.2' }

  await sendPayload(world, { ...click, actions: [action] })

  await untilShown(world.slack, people.ada, /Elastic IPs/)
  expect(world.slack.messages(ops).find(({ ts }) => ts === card.ts)?.text).toBe(card.text)
})
