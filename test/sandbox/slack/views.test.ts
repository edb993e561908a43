import type { WebClient } from '@slack/web-api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { quietClient } from './quiet-client.ts'
import { type ScriptedBot, startScriptedBot } from './scripted-bot.ts'
import type { Hands, Slack } from './slack.ts'
import { startSlack } from './start-slack.ts'

const ada = 'U0ADA00001'
const plain = (text: string) => ({ type: 'plain_text' as const, text })
const input = (blockId: string, element: object, more: object = {}) => ({
  type: 'input',
  block_id: blockId,
  label: plain(blockId),
  element,
  ...more,
})
const modal = (title: string, blocks: object[] = [input('Name', { type: 'plain_text_input', action_id: 'n' })], more: object = {}) =>
  ({ type: 'modal', callback_id: title, title: plain(title), submit: plain('Go'), blocks, ...more }) as never

describe('modals', () => {
  let slack: Slack
  let bot: ScriptedBot
  let client: WebClient
  let asAda: Hands
  let now = 1_763_700_000_000

  beforeEach(async () => {
    bot = await startScriptedBot()
    slack = await startSlack({ botUrl: bot.url, now: () => now, ackDeadlineMs: 300 })
    client = quietClient(slack)
    asAda = slack.as(ada)
  })
  afterEach(async () => {
    await slack.close()
    await bot.close()
  })

  async function trigger(): Promise<string> {
    const delivery = await asAda.command('/infra', { channel: 'ops' })
    return String(delivery.payload.trigger_id)
  }

  async function open(view: never) {
    const { view: opened } = await client.views.open({ trigger_id: await trigger(), view })
    return { id: String(opened?.id), hash: String(opened?.hash) }
  }

  test('a trigger is good for three seconds and for one view', async () => {
    const used = await trigger()
    await client.views.open({ trigger_id: used, view: modal('One') })
    const late = await trigger()
    now += 3001

    await expect(client.views.open({ trigger_id: used, view: modal('Two') })).rejects.toThrow('exchanged_trigger_id')
    await expect(client.views.open({ trigger_id: late, view: modal('Two') })).rejects.toThrow('expired_trigger_id')
    await expect(client.views.open({ trigger_id: '1.2.three', view: modal('Two') })).rejects.toThrow('invalid_trigger_id')
    expect(asAda.topView().title).toBe('One')
  })

  test('an invalid view is refused with the place where it is wrong', async () => {
    const trigger_id = await trigger()
    const error = await client.views
      .open({ trigger_id, view: modal('This title is too long for a modal') })
      .catch((reason: unknown) => reason)

    expect(error).toMatchObject({
      data: {
        error: 'invalid_arguments',
        response_metadata: { messages: expect.arrayContaining([expect.stringContaining('/view/title/text')]) },
      },
    })
  })

  test('an update with an old hash loses, and what was typed stays', async () => {
    const { id, hash } = await open(modal('One'))
    await asAda.fill(id, { Name: 'web-2' })
    const { view } = await client.views.update({ view_id: id, hash, view: modal('Two') })

    await expect(client.views.update({ view_id: id, hash, view: modal('Three') })).rejects.toThrow('hash_conflict')
    await expect(client.views.update({ view_id: 'V0NOWHERE', view: modal('Three') })).rejects.toThrow('not_found')
    expect(view?.hash).not.toBe(hash)
    expect(asAda.topView().view).toMatchObject({ title: { text: 'Two' }, state: { values: { Name: { n: { value: 'web-2' } } } } })
  })

  test('at most three views lie on top of each other', async () => {
    await open(modal('One'))
    await client.views.push({ trigger_id: await trigger(), view: modal('Two') })
    await client.views.push({ trigger_id: await trigger(), view: modal('Three') })

    await expect(client.views.push({ trigger_id: await trigger(), view: modal('Four') })).rejects.toThrow('push_limit_reached')
    const [root, second, third] = asAda.openViews()
    expect(third?.view).toMatchObject({ root_view_id: root?.id, previous_view_id: second?.id })
  })

  test('a submission carries the whole view and nothing of a channel', async () => {
    await open(modal('One', undefined, { private_metadata: 'C0OPS00001' }))
    await asAda.fill(undefined, { Name: 'web-2' })
    const delivery = await asAda.submit()

    expect(Object.keys(delivery.payload).sort()).toMatchInlineSnapshot(`
      [
        "api_app_id",
        "enterprise",
        "is_enterprise_install",
        "response_urls",
        "team",
        "token",
        "trigger_id",
        "type",
        "user",
        "view",
      ]
    `)
    expect(delivery.payload.view).toMatchObject({
      callback_id: 'One',
      private_metadata: 'C0OPS00001',
      state: { values: { Name: { n: { type: 'plain_text_input', value: 'web-2' } } } },
    })
    expect(delivery.payload).toMatchObject({ type: 'view_submission', is_enterprise_install: false, user: { id: ada, name: 'ada' } })
  })

  test('the answer to a submission decides: update, push, clear, close', async () => {
    await open(modal('One', [{ type: 'section', text: plain('x') }]))
    bot.answer(() => ({ body: { response_action: 'update', view: modal('Two') } }))
    await asAda.submit()
    const updated = asAda.openViews().map((view) => view.title)

    await asAda.fill(undefined, { Name: 'web-2' })
    bot.answer(() => ({ body: { response_action: 'push', view: modal('Three', [{ type: 'section', text: plain('x') }]) } }))
    await asAda.submit()
    const pushed = asAda.openViews().map((view) => view.title)

    bot.answer(() => ({}))
    await asAda.submit()
    const closed = asAda.openViews().map((view) => view.title)

    bot.answer(() => ({ body: { response_action: 'clear' } }))
    await asAda.submit()

    expect([updated, pushed, closed, asAda.openViews()]).toEqual([['Two'], ['Two', 'Three'], ['Two'], []])
  })

  test('an answer that Slack cannot use, a late one and an error keep the modal and tell the person', async () => {
    await open(modal('One', [{ type: 'section', text: plain('x') }]))

    bot.answer(() => ({ body: { response_action: 'update', view: modal('A title of more than twenty-four') } }))
    const invalid = await asAda.submit()
    bot.answer(() => ({ body: { response_action: 'errors', errors: { Nowhere: 'no such block' } } }))
    const elsewhere = await asAda.submit()
    bot.answer(() => ({ hold: true }))
    const late = await asAda.submit()
    bot.answer(() => ({ status: 500 }))
    const failed = await asAda.submit()

    const trouble = 'We had some trouble connecting. Try again?'
    expect([invalid.notice, elsewhere.notice, late.notice, failed.notice]).toEqual([trouble, trouble, trouble, trouble])
    expect([late.outcome, failed.outcome]).toEqual(['timeout', 'refused'])
    expect(asAda.topView().title).toBe('One')
  })

  test('closing is told only where the view asks for it, the cross clears the stack', async () => {
    await open(modal('One'))
    const silent = await asAda.close()
    await open(modal('Two', undefined, { notify_on_close: true }))
    await client.views.push({ trigger_id: await trigger(), view: modal('Three', undefined, { notify_on_close: true }) })
    const told = await asAda.close(undefined, { clear: true })

    expect(silent).toBeUndefined()
    expect(told?.payload).toMatchObject({ type: 'view_closed', is_cleared: true, view: { callback_id: 'Three' } })
    expect(asAda.openViews()).toEqual([])
  })

  test('a picker is searched after enough letters, and a choice that dispatches is told at once', async () => {
    const element = { type: 'external_select', action_id: 'pick', min_query_length: 2 }
    const { id } = await open(modal('One', [input('Server', element, { dispatch_action: true })]))
    bot.answer((payload) =>
      payload.type === 'block_suggestion' ? { body: { options: [{ text: plain('web-2 (Madrid)'), value: 'sv_22mUQSvUfeqdv' }] } } : {},
    )

    const tooShort = await asAda.search(undefined, 'Server', 'w')
    const deliveries = await asAda.fill(id, { Server: 'sv_22mUQSvUfeqdv' })

    expect(tooShort).toMatchObject({ outcome: 'not-sent', options: [] })
    expect(deliveries.map((delivery) => delivery.payload)).toMatchObject([
      {
        type: 'block_actions',
        container: { type: 'view', view_id: id },
        actions: [{ type: 'external_select', action_id: 'pick', block_id: 'Server', selected_option: { value: 'sv_22mUQSvUfeqdv' } }],
        view: { state: { values: { Server: { pick: { selected_option: { value: 'sv_22mUQSvUfeqdv' } } } } } },
      },
    ])
    expect(deliveries[0]?.payload).not.toHaveProperty('response_url')
    expect(deliveries[0]?.payload).not.toHaveProperty('channel')
    await expect(asAda.fill(id, { Server: 'db' })).rejects.toThrow('"Server" offers no "db"; there is: web-2 (Madrid).')
  })

  test('every kind of input finds its place in the state', async () => {
    const option = (text: string) => ({ text: plain(text), value: text.toLowerCase() })
    await open(
      modal('One', [
        input('Select', { type: 'static_select', action_id: 'a', options: [option('Red'), option('Blue')] }),
        input('Checks', { type: 'checkboxes', action_id: 'a', options: [option('X'), option('Y')], initial_options: [option('X')] }),
        input('Day', { type: 'datepicker', action_id: 'a' }),
        input('Person', { type: 'users_select', action_id: 'a' }),
        input('Number', { type: 'number_input', action_id: 'a', is_decimal_allowed: false }),
        input('Maybe', { type: 'plain_text_input', action_id: 'a' }, { optional: true }),
      ]),
    )

    await asAda.fill(undefined, { Select: 'Blue', Day: '2026-11-21', Person: 'U0BEN00001', Number: 'many' })
    const refused = await asAda.submit()
    await asAda.fill(undefined, { Number: 7 })
    const delivery = await asAda.submit()

    expect(refused.errors).toEqual({ Number: 'Please enter a number.' })
    expect((delivery.payload.view as { state: unknown }).state).toMatchInlineSnapshot(`
      {
        "values": {
          "Checks": {
            "a": {
              "selected_options": [
                {
                  "text": {
                    "text": "X",
                    "type": "plain_text",
                  },
                  "value": "x",
                },
              ],
              "type": "checkboxes",
            },
          },
          "Day": {
            "a": {
              "selected_date": "2026-11-21",
              "type": "datepicker",
            },
          },
          "Maybe": {
            "a": {
              "type": "plain_text_input",
              "value": null,
            },
          },
          "Number": {
            "a": {
              "type": "number_input",
              "value": "7",
            },
          },
          "Person": {
            "a": {
              "selected_user": "U0BEN00001",
              "type": "users_select",
            },
          },
          "Select": {
            "a": {
              "selected_option": {
                "text": {
                  "text": "Blue",
                  "type": "plain_text",
                },
                "value": "blue",
              },
              "type": "static_select",
            },
          },
        },
      }
    `)
  })

  test('the Home tab is published for one person', async () => {
    await client.views.publish({ user_id: ada, view: { type: 'home', blocks: [{ type: 'header', text: plain('Home') }] } })

    expect(slack.home(ada)).toMatchObject({ type: 'home', blocks: [{ type: 'header' }] })
    expect(slack.home('U0BEN00001')).toBeUndefined()
  })
})
