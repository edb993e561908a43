import { describe, expect, test } from 'vitest'
import { elementsOf } from '../sandbox/slack/elements.ts'
import { objectsOf } from '../sandbox/slack/json.ts'
import type { Hands, Message } from '../sandbox/slack/slack.ts'
import { openRecords } from './records.ts'
import { forgetLists, ops, people, requestMove, startWorld, untilCard, untilReport, untilShown } from './world.ts'

function kindsOf({ blocks = [] }: Message): unknown[] {
  return blocks.map(({ type }) => type)
}

/** Chooses the first option of a picker in a message, and returns its value. */
async function chooseFirst(person: Hands, list: Message, picker: string): Promise<string> {
  const select = elementsOf(list.blocks ?? []).find(({ label }) => label === picker)
  const [first = ''] = objectsOf(select?.element.options).map(({ value }) => String(value))
  await person.click(list, picker, { choose: first })
  return first
}

describe('a list', () => {
  test('opens the details of a row, and from there the filled form of a change', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command(`/infra ip list ${elasticIp.id}`, { channel: ops })
    const list = await untilShown(world.slack, people.ada, /1 Elastic IP/)

    await world.ada.click(list, 'Details')
    const details = await untilShown(world.slack, people.ada, /Id: /)
    await world.ada.click(details, 'Move…')
    await world.slack.until(() => world.ada.openViews().length === 1)
    await world.ada.fill(undefined, { Server: target.id })
    await world.ada.submit()

    await untilCard(world.slack, /needs approval|Needs approval/)
  })

  test('has details that name the open request and the last change, by whom and when, with links', async () => {
    const world = await startWorld()
    const { elasticIp } = await requestMove(world)
    const detailsOf = async (fits: RegExp) => {
      await world.ada.command(`/infra ip list ${elasticIp.id}`, { channel: ops })
      await world.ada.click(await untilShown(world.slack, people.ada, /1 Elastic IP/), 'Details')
      await world.slack.until(() => fits.test(JSON.stringify(world.slack.ephemerals(people.ada).at(-1)?.blocks)))
    }
    await detailsOf(/Open request: Move [^:]*: web-1 → web-2, waiting for approval {2}· {2}by <@U0ADA00001>, <!date.*<https:[^|]*\|Open>/)

    const card = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    await detailsOf(/Last change: Move [^:]*: web-1 → web-2, done {2}· {2}by <@U0ADA00001>, <!date.*<https:[^|]*\|Open>/)
    await world.ada.command(`/infra ${elasticIp.address}`, { channel: ops })
    await world.slack.until(() => /Last change: Move/.test(JSON.stringify(world.slack.ephemerals(people.ada).at(-1)?.blocks)))
  })

  test('of API keys opens the form to revoke one, or says that it is gone', async () => {
    const world = await startWorld()
    await world.ada.command('/infra keys', { channel: ops })
    const list = await untilShown(world.slack, people.ada, /API keys/)
    const choice = await chooseFirst(world.ada, list, 'Details of an API key')
    const details = await untilShown(world.slack, people.ada, /Id: /)
    expect(details.text).toContain(`Id: \`${choice}\``)
    await world.ada.click(details, 'Revoke…')
    await world.slack.until(() => world.ada.openViews().length === 1)
    await world.ada.submit()
    await untilCard(world.slack, /Revoke API key/)

    world.accountApi.faults.add({ method: 'GET', path: /api_keys/, kind: 'status', status: 200, body: { data: [] } })
    await forgetLists(world)
    await chooseFirst(world.ada, list, 'Details of an API key')
    await untilShown(world.slack, people.ada, /This item is gone/)
  })

  test('above the limits of a table has pages, one in place of the other, with a picker for the rows of each', async () => {
    const world = await startWorld()
    world.slack.setNewBlocks('refused')
    await world.ada.command('/infra plans', { channel: ops })
    await world.ada.click(await untilShown(world.slack, people.ada, /page 1 of/), 'Next')
    await world.ada.click(await untilShown(world.slack, people.ada, /page 2 of/), 'Previous')
    await world.ada.click(await untilShown(world.slack, people.ada, /page 1 of/), 'Next')
    const second = await untilShown(world.slack, people.ada, /page 2 of/)
    expect(world.slack.ephemerals(people.ada)).toHaveLength(1)

    const choice = await chooseFirst(world.ada, second, 'Details of a plan')

    await untilShown(world.slack, people.ada, new RegExp(`Id: \`${choice}\``))
  })

  test.each([
    ['taken', ['data_table'], [200]],
    ['refused', [], [400, 200]],
  ] as const)('of moves says how long they take here, in a table and without: %s', async (are, newKinds, statuses) => {
    const world = await startWorld()
    world.slack.setNewBlocks(are)
    await requestMove(world)
    const { redis, keys } = openRecords(world)
    await redis.rpush(keys.durations('ip.move'), 41_000, 39_000, 40_000, 38_000, 65_000)
    await world.chiara.command('/infra moves', { channel: ops })
    const list = await untilShown(world.slack, people.chiara, /1 waiting for approval/)

    expect(kindsOf(list).filter((kind) => String(kind).startsWith('data_'))).toEqual(newKinds)
    expect(list.text).toContain('Moves here usually take 40\u00a0s. All of the last 5 took at most 1\u00a0min 05\u00a0s.')
    const sent = world.slack.calls('response_url').filter(({ args }) => JSON.stringify(args).includes('waiting for approval'))
    expect(sent.map(({ status }) => status)).toEqual(statuses)
  })

  test('and the help offer no change to somebody who may not request it', async () => {
    const world = await startWorld({ env: { OPERATORS: people.chiara } })
    const { elasticIp } = world.accountApi.world.movable()
    await world.ada.command('/infra ip list', { channel: ops })
    await world.ada.click(await untilShown(world.slack, people.ada, /Elastic IPs/), 'Details of an Elastic IP', { choose: elasticIp.id })
    expect(kindsOf(await untilShown(world.slack, people.ada, /Id: /))).toEqual(['section'])

    await world.ada.command('/infra help', { channel: ops })
    await untilShown(world.slack, people.ada, /Not available to you here:_ `\/infra ip move`/)
    await world.ada.command('/infra ip move 203.0.113.10 web-2', { channel: ops })
    await untilShown(world.slack, people.ada, /can request this here/)
  })
})
