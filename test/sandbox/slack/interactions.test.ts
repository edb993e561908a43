import type { WebClient } from '@slack/web-api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { quietClient } from './quiet-client.ts'
import { type ScriptedBot, startScriptedBot } from './scripted-bot.ts'
import { signatureOf } from './signature.ts'
import type { Slack } from './slack.ts'
import { startSlack } from './start-slack.ts'

const ada = 'U0ADA00001'
const ben = 'U0BEN00001'
const plain = (text: string) => ({ type: 'plain_text' as const, text })
const button = { type: 'button' as const, action_id: 'go', value: 'r1', text: plain('Go') }
const blocks = [{ type: 'actions' as const, block_id: 'buttons', elements: [button] }]

describe('what people do and the bot hears', () => {
  let slack: Slack
  let bot: ScriptedBot
  let client: WebClient
  let now = 1_763_700_000_000

  beforeEach(async () => {
    bot = await startScriptedBot()
    slack = await startSlack({ botUrl: bot.url, now: () => now, ackDeadlineMs: 300, commandNames: ['/infra'] })
    client = quietClient(slack)
  })
  afterEach(async () => {
    await slack.close()
    await bot.close()
  })

  async function card(more: object = {}) {
    await client.chat.postMessage({ channel: 'C0OPS00001', text: 'Card', blocks, ...more } as never)
    const message = slack.messages('ops').at(-1)
    if (message === undefined) throw new Error('no card')
    return message
  }

  test('a command, member by member', async () => {
    await slack.as(ada).command('/infra ip move', { channel: 'ops' })

    const [{ headers, payload } = { headers: {}, payload: {} }] = bot.received
    expect({ ...payload, response_url: 'R', trigger_id: 'T' }).toMatchInlineSnapshot(`
      {
        "api_app_id": "A0LOCKKEEP",
        "channel_id": "C0OPS00001",
        "channel_name": "ops",
        "command": "/infra",
        "is_enterprise_install": "false",
        "response_url": "R",
        "team_domain": "nimbus-works",
        "team_id": "T0NIMBUS01",
        "text": "ip move",
        "token": "not-verified-by-this",
        "trigger_id": "T",
        "user_id": "U0ADA00001",
        "user_name": "ada",
      }
    `)
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(headers['x-slack-request-timestamp']).toBe(String(now / 1000))
  })

  test('the signature is the documented one', () => {
    // The example of docs.slack.dev/authentication/verifying-requests-from-slack.
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'

    expect(signatureOf('8f742231b10e8888abcd99yyyzzz85a5', 1531420618, body)).toBe(
      'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    )
  })

  test('a click, member by member', async () => {
    const message = await card()
    await slack.as(ben).click(message, 'Go')

    const payload = structuredClone(bot.received[0]?.payload ?? {})
    expect(payload).toMatchObject({
      message: { ts: message.ts, user: 'U0LOCKKEEP', bot_id: 'B0LOCKKEEP', blocks: [{ block_id: 'buttons' }] },
      container: { type: 'message', message_ts: message.ts, channel_id: 'C0OPS00001', is_ephemeral: false },
    })
    expect({ ...payload, message: 'M', container: 'C', response_url: 'R', trigger_id: 'T' }).toMatchInlineSnapshot(`
      {
        "actions": [
          {
            "action_id": "go",
            "action_ts": "1763700000.000001",
            "block_id": "buttons",
            "text": {
              "text": "Go",
              "type": "plain_text",
            },
            "type": "button",
            "value": "r1",
          },
        ],
        "api_app_id": "A0LOCKKEEP",
        "channel": {
          "id": "C0OPS00001",
          "name": "ops",
        },
        "container": "C",
        "enterprise": null,
        "is_enterprise_install": false,
        "message": "M",
        "response_url": "R",
        "state": {
          "values": {},
        },
        "team": {
          "domain": "nimbus-works",
          "id": "T0NIMBUS01",
        },
        "token": "not-verified-by-this",
        "trigger_id": "T",
        "type": "block_actions",
        "user": {
          "id": "U0BEN00001",
          "name": "ben",
          "team_id": "T0NIMBUS01",
          "username": "ben",
        },
      }
    `)
  })

  test('two clicks are two, each with its own stamp and trigger', async () => {
    const message = await card()
    const [one, two] = await Promise.all([slack.as(ben).click(message, 'Go'), slack.as(ben).click(message, 'Go')])

    const stamps = [one, two].map((delivery) => (delivery.payload.actions as { action_ts: string }[])[0]?.action_ts)
    expect(new Set(stamps).size).toBe(2)
    expect(one.payload.trigger_id).not.toBe(two.payload.trigger_id)
  })

  test('a click that goes wrong is a warning to the one who clicked', async () => {
    const message = await card()
    const click = () => slack.as(ben).click(message, 'Go')

    bot.answer(() => ({ hold: true }))
    const late = await click()
    bot.answer(() => ({ status: 500 }))
    const failed = await click()
    slack.faults.add({ method: 'delivery.block_actions', kind: 'drop-after' })
    bot.answer(() => ({}))
    const lost = await click()

    expect([late, failed, lost].map((delivery) => [delivery.outcome, delivery.notice])).toMatchInlineSnapshot(`
      [
        [
          "timeout",
          "⚠️ Operation timed out. Apps need to respond within 3 seconds.",
        ],
        [
          "refused",
          "⚠️ This app responded with Status Code 500.",
        ],
        [
          "unreachable",
          "⚠️ This app did not respond.",
        ],
      ]
    `)
    expect(bot.received).toHaveLength(3)
    expect(slack.as(ada).notices()).toEqual([])
  })

  test('no bot, another command, and an answer that cannot be shown', async () => {
    bot.answer(() => ({ body: { blocks: [{ type: 'header' }] } }))
    const unusable = await slack.as(ada).command('/infra', { channel: 'ops' })
    const unknown = await slack.as(ada).command('/deploy', { channel: 'ops' })
    await bot.close()
    const gone = await slack.as(ada).command('/infra', { channel: 'ops' })

    expect([unusable, unknown, gone].map((delivery) => [delivery.outcome, delivery.notice])).toMatchInlineSnapshot(`
      [
        [
          "acknowledged",
          "/infra failed with the error "dispatch_failed"",
        ],
        [
          "not-sent",
          "/deploy is not a valid command.",
        ],
        [
          "unreachable",
          "/infra failed with the error "dispatch_failed"",
        ],
      ]
    `)
  })

  test('an answer in the channel shows what was typed', async () => {
    bot.answer(() => ({ body: { response_type: 'in_channel', text: 'Two moves.' } }))
    await slack.as(ada).command('/infra moves', { channel: 'general' })

    expect(slack.transcript('general', { as: ben })).toMatchInlineSnapshot(`
      "Ada Okafor: /infra moves
      Lockkeeper: Two moves."
    `)
  })

  test('what was chosen in a message travels with the next click', async () => {
    const menu = {
      type: 'static_select',
      action_id: 'size',
      options: ['Small', 'Large'].map((text) => ({ text: plain(text), value: text })),
    }
    const message = await card({ blocks: [{ type: 'actions', block_id: 'both', elements: [menu, button] }] })

    await slack.as(ben).click(message, 'size', { choose: 'Large' })
    const click = await slack.as(ben).click(message, 'Go')

    expect(click.payload.state).toEqual({
      values: { both: { size: { type: 'static_select', selected_option: { text: plain('Large'), value: 'Large' } } } },
    })
  })

  test('a confirmation that is denied sends nothing', async () => {
    const confirm = { title: plain('Sure?'), text: plain('Really?'), confirm: plain('Yes'), deny: plain('No') }
    const message = await card({ blocks: [{ type: 'actions', elements: [{ ...button, confirm }] }] })

    const denied = await slack.as(ben).click(message, 'Go', { confirm: 'deny' })
    const confirmed = await slack.as(ben).click(message, 'Go')

    expect([denied.outcome, confirmed.outcome]).toEqual(['not-sent', 'acknowledged'])
  })

  test('a response address ends after half an hour, and works where the bot is no member', async () => {
    const delivery = await slack.as(ada).command('/infra', { channel: 'general' })
    const url = String(delivery.payload.response_url)
    const post = (body: object) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

    const inTime = await post({ response_type: 'in_channel', text: 'For all' })
    const empty = await post({ text: '' })
    now += 30 * 60_000 + 1
    const late = await post({ text: 'Too late' })

    expect([inTime.status, empty.status, late.status]).toEqual([200, 400, 404])
    expect(await late.json()).toEqual({ ok: false, error: 'expired_url' })
    expect(slack.transcript('general', { as: ben })).toBe('Lockkeeper: For all')
  })

  test('people who left, are deactivated or write in an archived channel can do nothing', async () => {
    const message = await card()
    slack.leave('ops', ben)
    slack.setPerson('U0CHI00001', { deleted: true })
    slack.archive('general')

    await expect(slack.as(ben).click(message, 'Go')).rejects.toThrow('Ben Laurent is not in #ops.')
    await expect(slack.as('U0CHI00001').command('/infra', { channel: 'ops' })).rejects.toThrow('deactivated')
    await expect(slack.as(ada).say('Hello', { channel: 'general' })).rejects.toThrow('#general is archived.')
  })

  test('people of other workspaces cannot run commands and can press buttons', async () => {
    slack.setPerson(ben, { isStranger: true, teamId: 'T0PARTNER1' })
    const message = await card()

    const command = await slack.as(ben).command('/infra', { channel: 'ops' })
    const click = await slack.as(ben).click(message, 'Go')

    expect([command.outcome, click.outcome]).toEqual(['not-sent', 'acknowledged'])
    expect(click.payload.user).toMatchObject({ id: ben, team_id: 'T0PARTNER1' })
  })

  test('a wait in vain says what has happened', async () => {
    await card()

    await expect(slack.until(() => false, { timeoutMs: 20, what: 'a miracle' })).rejects.toThrow(
      /Waited 20 ms in vain for a miracle\.[\s\S]*chat\.postMessage → 200[\s\S]*Lockkeeper: \[Go\]/,
    )
  })

  test('a transcript shows every kind of block', async () => {
    const rich = {
      type: 'rich_text_section',
      elements: [
        { type: 'user', user_id: ada },
        { type: 'text', text: ' asks' },
      ],
    }
    await card({
      blocks: [
        { type: 'header', text: plain('Plans') },
        {
          type: 'section',
          text: { type: 'mrkdwn', text: 'For <@U0BEN00001> &amp; <!subteam^S0ONCALL01>' },
          fields: [plain('One'), plain('Two')],
        },
        { type: 'divider' },
        { type: 'rich_text', elements: [rich] },
        {
          type: 'table',
          rows: [
            ['Name', 'Price'],
            ['c4.small', '€ 0.10'],
          ].map((row) => row.map((text) => ({ type: 'raw_text', text }))),
        },
        { type: 'context', elements: [{ type: 'mrkdwn', text: 'production' }] },
        { type: 'hologram', content: 1 },
        { type: 'actions', elements: [button, { type: 'overflow', action_id: 'more', options: [{ text: plain('Later'), value: 'l' }] }] },
      ],
    })

    expect(slack.transcript('ops')).toMatchInlineSnapshot(`
      "Lockkeeper: Plans
        For @Ben Laurent & @oncall
        One
        Two
        ———
        @Ada Okafor asks
        Name | Price
        c4.small | € 0.10
        production
        [hologram block: …]
        [Go] [⋯ Later]"
    `)
    expect(slack.messages('ops')[0]?.unknownBlocks).toEqual(['hologram'])
  })
})
