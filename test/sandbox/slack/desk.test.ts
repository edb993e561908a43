import type { WebClient } from '@slack/web-api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import { quietClient } from './quiet-client.ts'
import { type ScriptedBot, startScriptedBot } from './scripted-bot.ts'
import type { Slack } from './slack.ts'
import { startSlack } from './start-slack.ts'

const ada = 'U0ADA00001'
const ben = 'U0BEN00001'
const ops = 'C0OPS00001'
const plain = (text: string) => ({ type: 'plain_text' as const, text })

describe('the desk', () => {
  let slack: Slack
  let bot: ScriptedBot
  let client: WebClient

  beforeEach(async () => {
    bot = await startScriptedBot()
    slack = await startSlack({
      botUrl: bot.url,
      ackDeadlineMs: 300,
      commands: [{ command: '/infra ip move', usage: '<elastic ip> <server>', description: 'moves an Elastic IP' }],
      serve: (request, response) => {
        if (request.url !== '/') return false
        response.end('the page')
        return true
      },
    })
    client = quietClient(slack)
  })
  afterEach(async () => {
    await slack.close()
    await bot.close()
  })

  const get = async (path: string) => (await fetch(`${slack.url}/desk/${path}`)).json() as Promise<Json>
  const post = async (path: string, body: Json) =>
    (await fetch(`${slack.url}/desk/${path}`, { method: 'POST', body: JSON.stringify(body) })).json() as Promise<Json>

  async function openModal() {
    const delivery = await slack.as(ada).command('/infra', { channel: ops })
    await client.views.open({
      trigger_id: String(delivery.payload.trigger_id),
      view: {
        type: 'modal',
        title: plain('Move'),
        submit: plain('Ask'),
        blocks: [
          { type: 'input', block_id: 'why', label: plain('Reason'), element: { type: 'plain_text_input', action_id: 'text' } },
          {
            type: 'input',
            block_id: 'ip',
            optional: true,
            label: plain('Elastic IP'),
            element: { type: 'external_select', action_id: 'pick', min_query_length: 0 },
          },
        ],
      },
    })
    return slack.as(ada).topView()
  }

  test('tells of the workspace, and serves the page beside it', async () => {
    const page = await fetch(slack.url)
    const missing = await fetch(`${slack.url}/nothing`)

    expect(await get('workspace')).toMatchInlineSnapshot(`
      {
        "bot": {
          "homeTab": true,
          "id": "U0LOCKKEEP",
          "name": "Lockkeeper",
        },
        "channels": [
          {
            "id": "C0OPS00001",
            "name": "ops",
            "topic": "Servers, addresses, moves",
          },
          {
            "id": "C0GENERAL1",
            "name": "general",
            "topic": "Everything else",
          },
          {
            "id": "C0SHARED01",
            "name": "partner-ops",
            "topic": "Shared with Partner Ltd",
          },
        ],
        "commands": [
          {
            "command": "/infra ip move",
            "description": "moves an Elastic IP",
            "usage": "<elastic ip> <server>",
          },
        ],
        "ok": true,
        "people": [
          {
            "color": "#7c3aed",
            "id": "U0ADA00001",
            "name": "Ada Okafor",
            "role": "requester",
            "title": "Platform engineer",
          },
          {
            "color": "#0f766e",
            "id": "U0BEN00001",
            "name": "Ben Laurent",
            "role": "approver",
            "title": "Infrastructure lead",
          },
          {
            "color": "#be185d",
            "id": "U0CHI00001",
            "name": "Chiara Conti",
            "role": "approver",
            "title": "Site reliability engineer",
          },
          {
            "color": "#b45309",
            "id": "U0DOV00001",
            "name": "Dov Meyer",
            "role": "outsider",
            "title": "Contractor (guest)",
          },
        ],
        "strangers": [
          {
            "id": "U0EVE00001",
            "name": "Eve Park",
          },
        ],
        "team": {
          "id": "T0NIMBUS01",
          "name": "Nimbus Works",
        },
        "userGroups": [
          {
            "handle": "oncall",
            "id": "S0ONCALL01",
          },
        ],
      }
    `)
    expect(await page.text()).toBe('the page')
    expect(missing.status).toBe(404)
  })

  test('shows each person what they see', async () => {
    await client.chat.postMessage({ channel: ops, text: 'Hello' })
    await client.chat.postEphemeral({ channel: ops, user: ada, text: 'psst' })

    const forAda = await get(`state?as=${ada}&channel=${ops}`)
    const forBen = await get(`state?as=${ben}&channel=${ops}`)

    expect(forAda).toMatchObject({
      ok: true,
      messages: [
        { text: 'Hello', isBot: true, userName: 'Lockkeeper' },
        { text: 'psst', ephemeral: true },
      ],
      views: [],
    })
    expect(forBen).toMatchObject({ ok: true, messages: [{ text: 'Hello', ephemeral: false }] })
    expect((forBen.messages as Json[]).length).toBe(1)
  })

  test('says, commands and invites', async () => {
    const said = await post('say', { as: ada, channel: ops, text: 'Morning' })
    const commanded = await post('say', { as: ada, channel: ops, text: '/infra help' })
    const invited = await post('say', { as: ada, channel: 'C0GENERAL1', text: '/invite @Lockkeeper' })
    const nobody = await post('say', { as: 'U0NOBODY01', channel: ops, text: 'x' })

    expect([said, commanded, invited]).toEqual([{ ok: true }, { ok: true }, { ok: true }])
    expect(bot.received.map(({ payload }) => payload.text)).toEqual(['help'])
    expect(slack.workspace.channels[1]?.members).toContain('U0LOCKKEEP')
    expect(nobody).toEqual({ ok: false, error: 'Nobody in Nimbus Works has the id U0NOBODY01.' })
  })

  test('clicks buttons and chooses in menus of a message', async () => {
    const options = [{ text: plain('Later'), value: 'later' }]
    const { ts } = await client.chat.postMessage({
      channel: ops,
      text: 'Card',
      blocks: [
        {
          type: 'actions',
          block_id: 'b',
          elements: [
            { type: 'button', action_id: 'go', value: 'r1', text: plain('Go') },
            { type: 'static_select', action_id: 'when', options },
          ],
        },
      ],
    })
    const at = { as: ben, channel: ops, ts: String(ts) }

    const clicked = await post('click', { ...at, blockId: 'b', actionId: 'go', value: 'r1' })
    const chosen = await post('click', {
      ...at,
      action: { type: 'static_select', action_id: 'when', block_id: 'b', selected_option: options[0] },
    })
    const missing = await post('click', { ...at, blockId: 'b', actionId: 'stop' })

    expect([clicked, chosen]).toEqual([{ ok: true }, { ok: true }])
    expect(bot.received.map(({ payload }) => (payload.actions as Json[])[0])).toMatchObject([
      { type: 'button', action_id: 'go', value: 'r1' },
      { type: 'static_select', action_id: 'when', block_id: 'b', selected_option: { value: 'later' } },
    ])
    expect(missing).toEqual({ ok: false, error: 'There is nothing called "stop" in the block "b" to act on in this message.' })
  })

  test('fills, searches, submits and closes a modal', async () => {
    const { id } = await openModal()
    bot.answer((payload) => {
      if (payload.type === 'block_suggestion') return { body: { options: [{ text: plain('203.0.113.10'), value: 'eip_1GijF7NsZe3bN' }] } }
      return { body: { response_action: 'errors', errors: { why: 'Say more.' } } }
    })
    const offered = await get(`options?as=${ada}&viewId=${id}&blockId=ip&actionId=pick&value=203`)
    const refused = await post('submit', { as: ada, viewId: id, values: { why: { text: { type: 'plain_text_input', value: 'x' } } } })
    const state = await get(`state?as=${ada}&channel=${ops}`)
    const stranger = await post('close', { as: ben, viewId: id })
    const closed = await post('close', { as: ada, viewId: id })

    expect(offered).toEqual({ ok: true, options: [{ text: plain('203.0.113.10'), value: 'eip_1GijF7NsZe3bN' }] })
    expect(refused).toEqual({ ok: true, errors: { why: 'Say more.' } })
    expect(state.views).toMatchObject([{ id, view: { title: { text: 'Move' }, state: { values: { why: { text: { value: 'x' } } } } } }])
    expect(stranger).toEqual({ ok: false, error: 'This modal is no longer open.' })
    expect(closed).toEqual({ ok: true })
    expect(slack.as(ada).openViews()).toEqual([])
  })

  test('a choice in a modal tells the bot at once, with what was typed so far', async () => {
    const { id } = await openModal()
    const values = {
      why: { text: { type: 'plain_text_input', value: 'so far' } },
      gone: { text: { type: 'plain_text_input', value: 'old' } },
    }
    const action = {
      type: 'external_select',
      action_id: 'pick',
      block_id: 'ip',
      selected_option: { text: plain('203.0.113.10'), value: 'eip_1GijF7NsZe3bN' },
    }

    const answer = await post('click', { as: ada, viewId: id, blockId: 'ip', actionId: 'pick', action, values })

    expect(answer).toEqual({ ok: true })
    expect(bot.received.at(-1)?.payload).toMatchObject({
      type: 'block_actions',
      actions: [{ selected_option: { value: 'eip_1GijF7NsZe3bN' } }],
    })
    expect(slack.as(ada).topView().view.state).toMatchObject({
      values: {
        why: { text: { value: 'so far' } },
        ip: { pick: { type: 'external_select', selected_option: { value: 'eip_1GijF7NsZe3bN' } } },
      },
    })
    expect(JSON.stringify(slack.as(ada).topView().view.state)).not.toContain('gone')
  })

  test('sends an event for every change, and notices only to the person concerned', async () => {
    const listen = async (as: string) => {
      const response = await fetch(`${slack.url}/desk/events?as=${as}`)
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      if (reader === undefined) throw new Error('no stream')
      return async (wanted: string) => {
        let text = ''
        while (!text.includes(wanted)) text += (await reader.read()).value ?? ''
        return text
      }
    }
    const [adaHears, benHears] = [await listen(ada), await listen(ben)]
    bot.answer(() => ({ hold: true }))

    await post('say', { as: ada, channel: ops, text: '/infra' })
    await slack.as(ben).say('Hello', { channel: ops })

    expect(await adaHears('notice')).toContain('data: {"notice":"/infra failed with the error \\"operation_timeout\\""}')
    expect(await benHears(`"rev":${slack.rev()}`)).not.toContain('notice')
  })
})
