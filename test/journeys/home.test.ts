import { describe, expect, test } from 'vitest'
import { elementsOf, findElement } from '../sandbox/slack/elements.ts'
import { objectOf, objectsOf, textOf } from '../sandbox/slack/json.ts'
import { openRecords } from './records.ts'
import { approvedKey, ops, people, requestMove, startWorld, untilCard, untilReport, type World } from './world.ts'

const blocksOf = ({ slack }: World, user: string) => objectsOf(slack.home(user)?.blocks)
const wordsOf = (world: World, user: string) => JSON.stringify(blocksOf(world, user))

/** Opens the Home tab, and waits until it has these words. */
async function openHome(world: World, user: string, words: RegExp) {
  await world.slack.as(user).openHome()
  return untilHome(world, user, words)
}

function untilHome(world: World, user: string, words: RegExp) {
  const shown = () => (words.test(wordsOf(world, user)) ? world.slack.as(user).home() : undefined)
  return world.slack.until(shown, { what: `a Home tab with ${words}` })
}

/** Returns where the tab has *Approve*, and what it asks then. */
function approvals(world: World, user: string): { at: number; asks: string }[] {
  return blocksOf(world, user).flatMap((block, at) =>
    elementsOf([block])
      .filter(({ label }) => label === 'Approve')
      .map(({ element }) => objectOf(element.confirm))
      .map(({ title, text }) => ({ at, asks: `${textOf(title)} ${textOf(text)}` })),
  )
}

describe('the Home tab', () => {
  test("shows the requests that wait for the person, with their buttons, the person's own requests and those in progress", async () => {
    const world = await startWorld({ env: { ENVIRONMENT: 'production' }, account: { moveTakes: { min: 60_000, max: 60_000 } } })
    const { elasticIp, target, card } = await requestMove(world)

    const home = await openHome(world, people.ben, /Needs your approval \(1\)/)
    for (const fact of [elasticIp.address, target.hostname, '[production]', 'Reject']) expect(wordsOf(world, people.ben)).toContain(fact)
    await openHome(world, people.ada, /Your requests \(1\)/)
    expect(wordsOf(world, people.ada)).not.toContain('Needs your approval')
    expect(wordsOf(world, people.ada)).toContain(`archives/${ops}/p${card.ts.replace('.', '')}`)

    await world.ben.click(home, 'Approve')
    await untilCard(world.slack, /\*Moving\*/)
    await openHome(world, people.chiara, /In progress \(1\)/)
  })

  test('has no other *Approve* under a second click, whichever process publishes the tab: what was decided stays until it is refreshed', async () => {
    const world = await startWorld({ replicas: 2 })
    const first = await requestMove(world)
    await requestMove(world, { skip: 1 })
    const home = await openHome(world, people.chiara, /Needs your approval \(2\)/)
    const [asked, second] = approvals(world, people.chiara)
    expect(asked?.asks).toBe('Approve this change? Move `203.0.113.10`: web-1 → web-2')

    // Another process takes the click.
    world.slack.connectBot(world.bots[1]?.slackUrl ?? '')
    await world.chiara.click(home, 'Approve')
    const decided = await untilHome(world, people.chiara, /Needs your approval \(1\).*Stays here until/)
    expect(approvals(world, people.chiara)).toEqual([second])
    await untilReport(world.slack, first.card.ts, /Done/)
    expect((await openRecords(world).all()).map(({ state }) => state).toSorted()).toEqual(['done', 'waiting'])

    await world.chiara.click(decided, 'Refresh')
    await world.slack.until(() => !/Stays here until/.test(wordsOf(world, people.chiara)))
    expect(wordsOf(world, people.chiara)).toContain('Needs your approval (1)')
  })

  test('shows a request that its person has just made with a form, also if it showed none before', async () => {
    const world = await startWorld()
    await openHome(world, people.ada, /Nothing needs your approval, and you have no requests/)

    await world.ada.globalShortcut('move-elastic-ip', { channel: ops })
    await world.slack.until(() => world.ada.topView(), { what: 'the form for the channel' })
    await world.ada.submit()
    await world.slack.until(() => JSON.stringify(world.ada.topView()?.view ?? '').includes('elastic-ip'), { what: 'the form of the move' })
    await world.ada.fill(undefined, { 'Elastic IP': '203.0.113.10 on web-1', Server: 'web-2 (Storefront, ASH)' })
    await world.ada.submit()

    await untilHome(world, people.ada, /Your requests \(1\)/)
    // Nothing else tells a person who sees no channel that the request was posted, and where.
    const answer = await world.slack.until(() => (world.ada.topView()?.title === 'Request sent' ? world.ada.topView() : undefined))
    // On a busy machine the message may come later.
    expect(JSON.stringify(answer.view)).toMatch(/(?:Posted in <#C0OPS00001>|Recorded): “Move `203\.0\.113\.10`/)
  })

  test('shows the last five ended requests, the others on demand, and begins forms with the channel of the last one', async () => {
    const world = await startWorld()
    for (const skip of [0, 1, 2, 3, 4, 5]) {
      const { card, elasticIp } = await requestMove(world, { skip })
      await world.ada.click(card, 'Withdraw')
      await untilCard(world.slack, new RegExp(`Withdrawn.*${elasticIp.address}`))
    }
    const shown = () => wordsOf(world, people.ada).match(/\|Open>/g)?.length
    const home = await openHome(world, people.ada, /Your requests \(6\).*Show more/)
    expect(shown()).toBe(5)

    await world.ada.click(home, 'Show more')
    const long = await untilHome(world, people.ada, /Your requests \(6\)(?!.*Show more)/)
    expect(shown()).toBe(6)

    await world.ada.click(long, 'Move IP')
    const form = await world.slack.until(() => world.ada.topView(), { what: 'the form for the channel' })
    expect(JSON.stringify(form.view)).toContain(`"initial_conversation":"${ops}"`)
  })

  test('answers a stale button in a direct message if no modal can be opened, and is updated', async () => {
    const world = await startWorld()
    const { card } = await requestMove(world)
    const home = await openHome(world, people.ben, /Needs your approval \(1\)/)
    await world.ada.click(card, 'Withdraw')
    await untilCard(world.slack, /Withdrawn/)

    world.slack.faults.add({ method: 'views.open', kind: 'error', error: 'expired_trigger_id' })
    await world.ben.click(home, 'Approve')

    await world.slack.until(() => world.slack.directMessages(people.ben).some(({ text }) => /already withdrew this/.test(text)))
    await untilHome(world, people.ben, /Needs your approval \(0\).*Withdrawn, /)
    expect(world.accountApi.journal.writes()).toEqual([])
  })

  test('creates no key, because its token could not be shown there: neither by a button nor by one from an older version', async () => {
    const world = await startWorld()
    const approved = await approvedKey(world)
    const home = await openHome(world, people.ada, /Approved: press \*Create key\* by/)
    expect(wordsOf(world, people.ada)).not.toContain('"text":"Create key"')

    const { actionId, element } = findElement(approved.blocks ?? [], 'Create key') ?? expect.fail('the card has no button')
    world.slack.faults.add({ method: 'views.open', kind: 'error', error: 'expired_trigger_id' })
    await world.ada.click(home, 'New key', { action: { action_id: actionId, value: element.value } })

    const direct = () => world.slack.directMessages(people.ada).some(({ text }) => /Press the button on the request message/.test(text))
    await world.slack.until(direct)
    expect(world.accountApi.journal.writes()).toEqual([])
    await world.ada.click(approved, 'Create key')
    await untilReport(world.slack, approved.ts, /Done/)
  })
})
