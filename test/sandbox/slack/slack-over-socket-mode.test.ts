import { App, LogLevel } from '@slack/bolt'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Slack } from './slack.ts'
import { startSlack } from './start-slack.ts'

const ada = 'U0ADA00001'

describe('a Bolt app over Socket Mode', () => {
  let slack: Slack
  let app: App

  beforeEach(async () => {
    slack = await startSlack({ ackDeadlineMs: 400 })
    app = new App({
      token: slack.botToken,
      appToken: slack.appToken,
      socketMode: true,
      logLevel: LogLevel.ERROR,
      clientOptions: { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 } },
    })
    app.command('/infra', async ({ command, ack, respond, client }) => {
      if (command.text === 'silence') return
      await ack(command.text === 'quick' ? 'Right away' : undefined)
      if (command.text === 'modal') {
        await client.views.open({
          trigger_id: command.trigger_id,
          view: {
            type: 'modal',
            callback_id: 'reason',
            title: { type: 'plain_text', text: 'Why?' },
            submit: { type: 'plain_text', text: 'Send' },
            blocks: [
              {
                type: 'input',
                block_id: 'why',
                label: { type: 'plain_text', text: 'Reason' },
                element: { type: 'plain_text_input', action_id: 'text' },
              },
            ],
          },
        })
      }
      if (command.text === 'card') {
        await respond({
          text: 'Sure?',
          blocks: [
            { type: 'actions', elements: [{ type: 'button', action_id: 'yes', text: { type: 'plain_text', text: 'Yes' }, value: '1' }] },
          ],
        })
      }
    })
    app.view('reason', async ({ ack, view }) => {
      if (view.state.values.why?.text?.value === 'no') return ack({ response_action: 'errors', errors: { why: 'Really?' } })
      await ack({ response_action: 'clear' })
    })
    app.action('yes', async ({ ack, respond }) => {
      await ack()
      await respond({ text: 'Done', replace_original: true })
    })
    app.event('app_home_opened', async ({ event, client }) => {
      if (event.tab !== 'home') return
      const said = { type: 'section' as const, text: { type: 'plain_text' as const, text: 'Welcome' } }
      const yes = { type: 'button' as const, action_id: 'home', text: { type: 'plain_text' as const, text: 'Yes' } }
      await client.views.publish({ user_id: event.user, view: { type: 'home', blocks: [said, { type: 'actions', elements: [yes] }] } })
    })
    app.action('home', async ({ ack, body, client }) => {
      await ack()
      await client.views.publish({ user_id: body.user.id, view: { type: 'home', blocks: [] } })
    })
    await app.start()
  })
  afterEach(async () => {
    await app.stop()
    await slack.until(() => slack.sockets() === 0)
    await slack.close()
  })

  test('commands, modals with errors, and clicks all go over the socket', async () => {
    const asAda = slack.as(ada)
    const quick = await asAda.command('/infra quick', { channel: 'ops' })
    await asAda.command('/infra modal', { channel: 'ops' })
    await slack.until(() => asAda.openViews().length === 1)
    await asAda.fill(undefined, { Reason: 'no' })
    const refused = await asAda.submit()
    await asAda.fill(undefined, { Reason: 'it is time' })
    const taken = await asAda.submit()
    await asAda.command('/infra card', { channel: 'ops' })
    const ephemeral = await slack.until(() => slack.ephemerals(ada).find((message) => message.blocks))
    const click = await asAda.click(ephemeral, 'Yes')
    await slack.until(() => slack.ephemerals(ada).some((message) => message.text === 'Done'))

    expect(quick).toMatchObject({ outcome: 'acknowledged', request: { transport: 'socket' } })
    expect(refused.errors).toEqual({ why: 'Really?' })
    expect(taken.outcome).toBe('acknowledged')
    expect(asAda.openViews()).toEqual([])
    expect(click.outcome).toBe('acknowledged')
    expect(slack.transcript('ops', { as: ada })).toMatchInlineSnapshot(`
      "Lockkeeper (only visible to Ada): Right away
      Lockkeeper (only visible to Ada): Done (edited)"
    `)
  })

  test('a command left without an acknowledgement times out', async () => {
    const delivery = await slack.as(ada).command('/infra silence', { channel: 'ops' })

    expect(delivery).toMatchObject({ outcome: 'timeout', notice: '/infra failed with the error "operation_timeout"' })
  })

  test('a disconnect makes the bot leave', async () => {
    const before = slack.sockets()

    slack.disconnectSockets()
    await slack.until(() => slack.sockets() === 0)

    expect(before).toBe(1)
  })

  test('the Home tab is opened, published and clicked', async () => {
    const opened = await slack.as(ada).openHome()
    const home = await slack.until(() => slack.as(ada).home())
    const clicked = await slack.as(ada).click(home, 'Yes')
    await slack.until(() => slack.home(ada)?.hash !== home.hash)

    expect(JSON.parse(opened.request.body)).toMatchObject({
      type: 'events_api',
      accepts_response_payload: false,
      retry_attempt: 0,
      retry_reason: '',
      payload: { type: 'event_callback', event: { type: 'app_home_opened', user: ada } },
    })
    expect([opened.outcome, clicked.outcome]).toEqual(['acknowledged', 'acknowledged'])
    expect(slack.home(ada)?.blocks).toEqual([])
  })
})
