import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { encodeFields } from '../../src/requests/store.ts'
import { requestedAt, requestFor } from '../requests/request-for-test.ts'
import { startWorldUnder } from './policy-world.ts'
import { openRecords } from './records.ts'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

const team = 'T0NIMBUS01'
const moveFacts = { elasticIpId: 'eip_1GijF7NsZe3bN', address: '203.0.113.10', to: { id: 'sv_22mUQSvUfeqdv', name: 'web-2' } }

interface Element {
  type: string
  text?: { text: string }
  action_id?: string
  value?: string
}

interface Block {
  type: string
  block_id?: string
  text?: { text: string }
  elements?: Element[]
}

/** Opens the Home tab: sends the event as Slack does (docs.slack.dev, "app_home_opened"). */
async function openHome({ slack }: World, user: string): Promise<void> {
  const event = { type: 'app_home_opened', user, channel: `D${user.slice(1)}`, tab: 'home', event_ts: '1.1' }
  const body = { type: 'event_callback', team_id: team, api_app_id: 'A0LOCKKEEP', event_id: `Ev${randomUUID()}`, event_time: 1, event }
  const { status } = await slack.sendRaw({ body: JSON.stringify(body), contentType: 'application/json' })
  expect(status).toBe(200)
}

function blocksOf({ slack }: World, user: string): Block[] {
  return (slack.home(user)?.blocks ?? []) as Block[]
}

function wordsOf(world: World, user: string): string {
  return JSON.stringify(blocksOf(world, user))
}

/** Clicks on the Home tab: without a channel, a message and a response URL. */
async function clickHome(world: World, user: string, button: string): Promise<void> {
  const block = blocksOf(world, user).find(({ elements }) => elements?.some((element) => element.text?.text === button))
  const element = block?.elements?.find(({ text }) => text?.text === button)
  if (!block || !element) throw new Error(`there is no button ${button}`)
  await pressOnHome(world, user, element, block.block_id)
}

async function pressOnHome(world: World, user: string, element: Element, blockId = 'any'): Promise<void> {
  const home = world.slack.home(user)
  const payload = {
    type: 'block_actions',
    user: { id: user, team_id: team },
    team: { id: team, domain: 'nimbus' },
    trigger_id: `${Date.now()}.${randomUUID()}`,
    container: { type: 'view', view_id: home?.id },
    view: { id: home?.id, type: 'home', hash: home?.hash, callback_id: '', private_metadata: '', state: { values: {} } },
    actions: [{ type: 'button', action_id: element.action_id, block_id: blockId, value: element.value, action_ts: `${Date.now()}` }],
  }
  const { status } = await world.slack.sendRaw({ body: `payload=${encodeURIComponent(JSON.stringify(payload))}` })
  expect(status).toBe(200)
}

async function requestMove(world: World, by = world.ada, skip = 0) {
  const { elasticIp, target } = world.accountApi.world.movable(skip)
  await by.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  return { elasticIp, target, card: await untilCard(world.slack, /needs approval from/) }
}

interface ConfirmedElement extends Element {
  confirm?: { title: { text: string }; text: { text: string } }
}

/** Returns where the tab has *Approve*, and what it asks then. */
function approvals(world: World, user: string): { at: number; asks: string }[] {
  return blocksOf(world, user).flatMap(({ elements = [] }, at) =>
    elements
      .filter(({ text }) => text?.text === 'Approve')
      .map(({ confirm }: ConfirmedElement) => ({ at, asks: `${confirm?.title.text} ${confirm?.text.text}` })),
  )
}

describe('a second click on the Home tab', () => {
  /** Two moves wait for Chiara, whose Home tab is open. */
  async function startWithTwo() {
    const world = await startWorld({ replicas: 2 })
    const first = await requestMove(world)
    await requestMove(world, world.ada, 1)
    await world.slack.until(() => world.slack.messages(ops).length === 2)
    await openHome(world, people.chiara)
    await world.slack.until(() => /Needs your approval \(2\)/.test(wordsOf(world, people.chiara)))
    return { world, first }
  }

  test('has no other *Approve* under the pointer, whichever process publishes the tab: what was decided stays in its place', async () => {
    const { world, first } = await startWithTwo()
    const records = openRecords(world)
    const [, second] = approvals(world, people.chiara)

    // Another process takes the click.
    world.slack.connectBot(world.bots[1]?.slackUrl ?? '')
    await clickHome(world, people.chiara, 'Approve')
    await world.slack.until(() => /Needs your approval \(1\)/.test(wordsOf(world, people.chiara)))
    expect(approvals(world, people.chiara)).toEqual([second])
    await untilReport(world.slack, first.card.ts, /Done/)

    expect((await records.all()).map(({ state }) => state).toSorted()).toEqual(['done', 'waiting'])
  })
})

describe('the Home tab', () => {
  test("shows the requests that wait for the person, with their buttons, the person's own requests and those in progress", async () => {
    const world = await startWorld({ env: { ENVIRONMENT: 'production' }, account: { moveTakes: { min: 60_000, max: 60_000 } } })
    const { elasticIp, target, card } = await requestMove(world)

    await openHome(world, people.ben)
    await world.slack.until(() => /Needs your approval \(1\)/.test(wordsOf(world, people.ben)))
    for (const fact of [elasticIp.address, elasticIp.id, target.hostname, target.id, '[production]'])
      expect(wordsOf(world, people.ben)).toContain(fact)

    await openHome(world, people.ada)
    await world.slack.until(() => /Your requests \(1\)/.test(wordsOf(world, people.ada)))
    expect(wordsOf(world, people.ada)).not.toContain('Needs your approval')
    expect(wordsOf(world, people.ada)).toContain(`archives/${ops}/p${card.ts.replace('.', '')}`)

    await clickHome(world, people.ben, 'Approve')
    await untilCard(world.slack, /\*Moving\*/)
    await openHome(world, people.chiara)
    await world.slack.until(() => /In progress \(1\)/.test(wordsOf(world, people.chiara)))
  })

  test('shows waiting requests, and counts moves, however many there are', async () => {
    const world = await startWorld()
    const { redis, keys } = openRecords(world)
    const pipeline = redis.pipeline()
    for (let index = 0; index < 600; index += 1) {
      const id = `moving-${index}`
      pipeline.hset(keys.record(id), encodeFields(requestFor({ id, facts: moveFacts, state: 'tracking', sentAt: requestedAt })))
      pipeline.zadd(keys.open, requestedAt, id)
    }
    await pipeline.exec()
    await requestMove(world)

    await openHome(world, people.ben)
    await world.slack.until(() => /Needs your approval \(1\)/.test(wordsOf(world, people.ben)))
    expect(wordsOf(world, people.ben)).toContain('In progress (600)')
    await openHome(world, people.ada)
    await world.slack.until(() => /Your requests \(601\)/.test(wordsOf(world, people.ada)))
    await world.ben.command('/infra pending', { channel: ops })
    await untilShown(world.slack, people.ben, /1 request needs approval\. You can approve it\./)
    await world.ben.command('/infra moves', { channel: ops })
    expect((await untilShown(world.slack, people.ben, /in progress/)).text).toContain(
      'Moves: 600 in progress, 1 waiting for approval, 0 ended lately',
    )
  })

  test('shows a request that its person has just made with a form, also if it showed none before', async () => {
    const world = await startWorld()
    await openHome(world, people.ada)
    await world.slack.until(() => /Nothing needs your approval, and you have no requests/.test(wordsOf(world, people.ada)))

    await world.ada.globalShortcut('move-elastic-ip', { channel: ops })
    await world.slack.until(() => world.ada.topView(), { what: 'the form for the channel' })
    await world.ada.submit()
    await world.slack.until(() => JSON.stringify(world.ada.topView()?.view ?? '').includes('elastic-ip'), { what: 'the form of the move' })
    await world.ada.fill(undefined, { 'Elastic IP': '203.0.113.10 on web-1', Server: 'web-2 (Storefront, ASH)' })
    await world.ada.submit()

    await world.slack.until(() => /Your requests \(1\)/.test(wordsOf(world, people.ada)), { what: 'Home with the request' })
    // Nothing else tells a person who sees no channel that the request was posted, and where.
    const answer = await world.slack.until(() => (world.ada.topView()?.title === 'Request sent' ? world.ada.topView() : undefined))
    expect(JSON.stringify(answer.view)).toMatch(
      /Request posted in <#C0OPS00001>: “Move `203\.0\.113\.10`: `web-1` → `web-2`”\. It needs approval from <!subteam\^S0ONCALL01> by/,
    )
  })

  test('answers a stale button in a direct message if no modal can be opened, and is updated', async () => {
    const world = await startWorld()
    const { card } = await requestMove(world)
    await openHome(world, people.ben)
    await world.slack.until(() => /Needs your approval \(1\)/.test(wordsOf(world, people.ben)))
    await world.ada.click(card, 'Withdraw')
    await untilCard(world.slack, /Withdrawn/)

    await clickHome(world, people.ben, 'Approve')

    await world.slack.until(() => world.slack.directMessages(people.ben).some(({ text }) => /already withdrew this/.test(text)))
    await world.slack.until(() => /Needs your approval \(0\).*\*Withdrawn\*/.test(wordsOf(world, people.ben)))
    expect(world.accountApi.journal.writes()).toEqual([])
  })

  test('creates no key, because its token could not be shown there: neither by a button nor by one from an older version', async () => {
    const world = await startWorld()
    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(card, 'Approve')
    const approved = await untilCard(world.slack, /\*Approved\.\*/)
    await openHome(world, people.ada)
    await world.slack.until(() => /Your requests \(1\)/.test(wordsOf(world, people.ada)))
    expect(wordsOf(world, people.ada)).toContain('approved: press *Create key* on the request by')
    await expect(clickHome(world, people.ada, 'Create key')).rejects.toThrow('there is no button')

    const [take] = ((approved.blocks ?? []) as unknown as Block[]).flatMap(({ elements = [] }) =>
      elements.filter(({ text }) => text?.text === 'Create key'),
    )
    if (!take) throw new Error('the card has no button')
    await pressOnHome(world, people.ada, take)

    await world.slack.until(() =>
      world.slack.directMessages(people.ada).some(({ text }) => /Press the button on the request message/.test(text)),
    )
    expect(world.accountApi.journal.writes()).toEqual([])
    await world.ada.click(approved, 'Create key')
    await untilReport(world.slack, card.ts, /Done/)
  })
})

describe("a request of one's own under a rule with break-glass", () => {
  const policy = `
rules:
  - name: addresses
    changes: ip.move
    approve: [S0ONCALL01]
    self_approval: break-glass
`

  test('can be approved on the Home tab by an approver alone', async () => {
    const world = await startWorldUnder(policy)
    await requestMove(world, world.ben)

    await openHome(world, people.ben)
    await expect.poll(() => wordsOf(world, people.ben)).toContain('Your requests (1)')

    expect(wordsOf(world, people.ben)).toContain('"Approve"')
  })
})
