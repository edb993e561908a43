import type { WebClient } from '@slack/web-api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import { quietClient } from './quiet-client.ts'
import { type ScriptedBot, startScriptedBot } from './scripted-bot.ts'
import type { Slack, SlackOptions } from './slack.ts'
import { startSlack } from './start-slack.ts'

const ada = 'U0ADA00001'
const ben = 'U0BEN00001'
const plain = (text: string) => ({ type: 'plain_text' as const, text })
const button = (value: string) => ({ type: 'button', action_id: 'approve', value, text: plain('Approve') })
const actions = (blockId: string, value: string) => ({ type: 'actions', block_id: blockId, elements: [button(value)] })
const homeView = (blocks: object[], more: object = {}) => ({ type: 'home', blocks, ...more }) as never

describe('the Home tab', () => {
  let slack: Slack
  let bot: ScriptedBot
  let client: WebClient

  async function start(options: SlackOptions = {}): Promise<void> {
    await slack?.close()
    slack = await startSlack({ botUrl: bot.url, now: () => 1_763_700_000_000, ackDeadlineMs: 300, eventRetryMs: [0, 20, 40], ...options })
    client = quietClient(slack)
  }

  beforeEach(async () => {
    bot = await startScriptedBot()
    await start()
  })
  afterEach(async () => {
    await slack.close()
    await bot.close()
  })

  const publish = (blocks: object[], more: object = {}) => client.views.publish({ user_id: ada, view: homeView(blocks), ...more })

  test('who opens it is told to the bot, member by member', async () => {
    const delivery = await slack.as(ada).openHome()

    const [{ headers, payload } = { headers: {}, payload: {} }] = bot.received
    expect(delivery).toMatchObject({ kind: 'event', outcome: 'acknowledged', status: 200 })
    expect(headers['content-type']).toBe('application/json')
    expect(headers['x-slack-retry-num']).toBeUndefined()
    expect(payload).toMatchInlineSnapshot(`
      {
        "api_app_id": "A0LOCKKEEP",
        "authorizations": [
          {
            "enterprise_id": null,
            "is_bot": true,
            "is_enterprise_install": false,
            "team_id": "T0NIMBUS01",
            "user_id": "U0LOCKKEEP",
          },
        ],
        "event": {
          "channel": "D0ADA00001",
          "event_ts": "1763700000.000000",
          "tab": "home",
          "type": "app_home_opened",
          "user": "U0ADA00001",
        },
        "event_id": "Ev0000000001",
        "event_time": 1763700000,
        "is_ext_shared_channel": false,
        "team_id": "T0NIMBUS01",
        "token": "not-verified-by-this",
        "type": "event_callback",
      }
    `)
  })

  test('once something is published, the event carries it, and only to the Home tab', async () => {
    await publish([{ type: 'header', text: plain('Lockkeeper') }])

    await slack.as(ada).openHome()
    await slack.as(ada).openHome({ tab: 'messages' })
    await slack.as(ben).openHome()

    const [home, messages, another] = bot.received.map(({ payload }) => payload.event as Json)
    expect(home).toMatchObject({ tab: 'home', view: { type: 'home', blocks: [{ type: 'header' }] } })
    expect(messages?.tab).toBe('messages')
    expect([messages?.view, another?.view]).toEqual([undefined, undefined])
  })

  test('an event that is not acknowledged is sent three times more, each time with its reason', async () => {
    const script = [{ hold: true }, { status: 500 }, { status: 500 }, {}]
    bot.answer(() => script.shift() ?? {})

    const first = await slack.as(ada).openHome()
    await slack.until(() => slack.deliveries.length === 4)

    expect(first.outcome).toBe('timeout')
    expect(bot.received.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']])).toEqual([
      [undefined, undefined],
      ['1', 'http_timeout'],
      ['2', 'http_error'],
      ['3', 'http_error'],
    ])
    expect(new Set(bot.received.map(({ payload }) => payload.event_id)).size).toBe(1)
    expect(slack.deliveries.map(({ outcome }) => outcome)).toEqual(['timeout', 'refused', 'refused', 'acknowledged'])
  })

  test('the bot can ask not to be told again', async () => {
    bot.answer(() => ({ status: 500, headers: { 'x-slack-no-retry': '1' } }))

    const first = await slack.as(ada).openHome()
    bot.answer(() => ({}))
    await slack.as(ben).openHome()

    expect(first).toMatchObject({ outcome: 'refused', noRetry: true })
    expect(bot.received).toHaveLength(2)
  })

  test('is published for one person, keeps its id, and has a hash for every publication', async () => {
    const first = await publish([actions('one', 'r1')])
    const second = await publish([actions('two', 'r2')], { hash: first.view?.hash })
    const late = await publish([actions('three', 'r3')], { hash: first.view?.hash }).catch((error: unknown) => error)

    expect(second.view).toMatchObject({ id: first.view?.id, type: 'home', blocks: [{ block_id: 'two' }], previous_view_id: null })
    expect(late).toMatchObject({ data: { error: 'hash_conflict' } })
    expect(slack.as(ada).home()).toMatchObject({ id: first.view?.id, hash: second.view?.hash, title: '' })
    expect(slack.home(ada)).toEqual(slack.as(ada).home()?.view)
    expect(slack.as(ben).home()).toBeUndefined()
  })

  test('takes a hundred blocks and tables, and no view of another kind', async () => {
    const divider = { type: 'divider' }
    const table = { type: 'table', rows: [[{ type: 'raw_text', text: 'web-1' }]] }
    const outcome = (blocks: object[], more: object = {}) =>
      client.views.publish({ user_id: ada, view: homeView(blocks, more) }).then(
        () => 'ok',
        ({ data }) => [data.error, ...data.response_metadata.messages].join(' '),
      )

    expect(await outcome([table, ...Array(99).fill(divider)])).toBe('ok')
    expect(await outcome(Array(101).fill(divider))).toBe(
      'invalid_arguments [ERROR] no more than 100 items allowed [json-pointer:/view/blocks]',
    )
    expect(await outcome([divider], { type: 'modal' })).toContain('unsupported type: modal [json-pointer:/view/type]')
    expect(await outcome([divider], { title: plain('Home') })).toContain('invalid additional property: title')
    expect(await outcome([{ type: 'alert', text: plain('x') }])).toContain('unsupported type: alert')
  })

  test('a click there, member by member: with the view, without channel, message and response address', async () => {
    await client.views.publish({
      user_id: ada,
      view: homeView([actions('one', 'r1')], { private_metadata: 'page-1', callback_id: 'overview' }),
    })
    const home = slack.as(ada).home()
    if (home === undefined) throw new Error('no Home tab')

    const delivery = await slack.as(ada).click(home, 'Approve')

    const payload = { ...delivery.payload, trigger_id: 'T' }
    expect(payload).toMatchInlineSnapshot(`
      {
        "actions": [
          {
            "action_id": "approve",
            "action_ts": "1763700000.000000",
            "block_id": "one",
            "text": {
              "text": "Approve",
              "type": "plain_text",
            },
            "type": "button",
            "value": "r1",
          },
        ],
        "api_app_id": "A0LOCKKEEP",
        "container": {
          "type": "view",
          "view_id": "V0000000001",
        },
        "enterprise": null,
        "is_enterprise_install": false,
        "team": {
          "domain": "nimbus-works",
          "id": "T0NIMBUS01",
        },
        "token": "not-verified-by-this",
        "trigger_id": "T",
        "type": "block_actions",
        "user": {
          "id": "U0ADA00001",
          "name": "ada",
          "team_id": "T0NIMBUS01",
          "username": "ada",
        },
        "view": {
          "app_id": "A0LOCKKEEP",
          "app_installed_team_id": "T0NIMBUS01",
          "blocks": [
            {
              "block_id": "one",
              "elements": [
                {
                  "action_id": "approve",
                  "text": {
                    "text": "Approve",
                    "type": "plain_text",
                  },
                  "type": "button",
                  "value": "r1",
                },
              ],
              "type": "actions",
            },
          ],
          "bot_id": "B0LOCKKEEP",
          "callback_id": "overview",
          "clear_on_close": false,
          "close": null,
          "external_id": "",
          "hash": "1763700000.h0000000002",
          "id": "V0000000001",
          "notify_on_close": false,
          "previous_view_id": null,
          "private_metadata": "page-1",
          "root_view_id": "V0000000001",
          "state": {
            "values": {},
          },
          "submit": null,
          "team_id": "T0NIMBUS01",
          "title": {
            "emoji": true,
            "text": "View Title",
            "type": "plain_text",
          },
          "type": "home",
        },
      }
    `)
  })

  test('a modal opens from there, and is no part of it', async () => {
    await publish([actions('one', 'r1')])
    const home = slack.as(ada).home()
    if (home === undefined) throw new Error('no Home tab')
    const { payload } = await slack.as(ada).click(home, 'Approve')

    await client.views.open({
      trigger_id: String(payload.trigger_id),
      view: { type: 'modal', title: plain('Sure?'), submit: plain('Yes'), blocks: [{ type: 'section', text: plain('Really?') }] },
    })

    expect(slack.as(ada).topView().title).toBe('Sure?')
    expect(await slack.as(ada).submit()).toMatchObject({ outcome: 'acknowledged' })
    expect(slack.as(ada).openViews()).toEqual([])
    await expect(slack.as(ada).submit(home)).rejects.toThrow('This modal is no longer open.')
  })

  test('of several buttons with the same words, one is named by its block or its value', async () => {
    await publish([actions('one', 'r1'), actions('two', 'r2'), actions('three', 'r3')])
    const home = slack.as(ada).home()
    if (home === undefined) throw new Error('no Home tab')

    await slack.as(ada).click(home, 'Approve')
    await slack.as(ada).click(home, 'Approve', { blockId: 'two' })
    await slack.as(ada).click(home, 'Approve', { value: 'r3' })

    expect(bot.received.map(({ payload }) => (payload.actions as Json[])[0]?.value)).toEqual(['r1', 'r2', 'r3'])
    await expect(slack.as(ada).click(home, 'Approve', { value: 'r4' })).rejects.toThrow(
      'There is nothing called "Approve" with the value "r4" to act on in this Home tab.',
    )
  })

  test('a click on a copy is a click on what stood there then', async () => {
    await publish([actions('old', 'r1')])
    const before = slack.as(ada).home()
    if (before === undefined) throw new Error('no Home tab')
    await publish([actions('new', 'r2')])

    const { payload } = await slack.as(ada).click(before, 'Approve')

    expect(payload).toMatchObject({ view: { hash: before.hash, blocks: [{ block_id: 'old' }] }, actions: [{ value: 'r1' }] })
    await expect(slack.as(ben).click(before, 'Approve')).rejects.toThrow('This is not the Home tab of Ben Laurent.')
  })

  test('an app without a Home tab publishes nothing', async () => {
    await start({ homeTab: false })

    await expect(publish([])).rejects.toMatchObject({ data: { error: 'not_enabled' } })
    await expect(slack.as(ada).openHome()).rejects.toThrow('Lockkeeper has no Home tab.')
    expect(await slack.as(ada).openHome({ tab: 'messages' })).toMatchObject({ outcome: 'acknowledged' })
  })

  test('where interactivity is off, clicks and forms go nowhere and Slack says so', async () => {
    await start({ interactivity: false })
    await publish([actions('one', 'r1')])
    await client.chat.postMessage({ channel: 'C0OPS00001', text: 'Card', blocks: [actions('one', 'r1')] as never })
    const [card] = slack.messages('ops')
    const home = slack.as(ada).home()
    if (home === undefined || card === undefined) throw new Error('nothing to click')

    const clicks = [await slack.as(ada).click(home, 'Approve'), await slack.as(ben).click(card, 'Approve')]
    const { payload } = await slack.as(ada).command('/infra', { channel: 'ops' })
    await client.views.open({
      trigger_id: String(payload.trigger_id),
      view: { type: 'modal', title: plain('Move'), submit: plain('Ask'), blocks: [{ type: 'section', text: plain('x') }] },
    })
    const submission = await slack.as(ada).submit()

    const notice =
      '⚠️ This app is not configured to handle interactive responses. Please configure interactivity URL for this app under the app config page.'
    expect([...clicks, submission].map((delivery) => [delivery.outcome, delivery.notice])).toEqual(Array(3).fill(['not-sent', notice]))
    expect(slack.as(ben).notices()).toEqual([notice])
    expect(bot.received.map(({ payload: { command } }) => command)).toEqual(['/infra'])
  })
})
