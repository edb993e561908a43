import { App } from '@slack/bolt'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { quietLogger } from './quiet-client.ts'
import type { Slack } from './slack.ts'
import { startSlack } from './start-slack.ts'

const ada = 'U0ADA00001'
const ben = 'U0BEN00001'

const modal = {
  type: 'modal' as const,
  callback_id: 'move',
  private_metadata: 'C0OPS00001',
  title: { type: 'plain_text' as const, text: 'Move an Elastic IP' },
  submit: { type: 'plain_text' as const, text: 'Ask' },
  blocks: [
    {
      type: 'input',
      block_id: 'address',
      label: { type: 'plain_text' as const, text: 'Elastic IP' },
      element: { type: 'external_select', action_id: 'pick', min_query_length: 0 },
    },
    {
      type: 'input',
      block_id: 'reason',
      label: { type: 'plain_text' as const, text: 'Reason' },
      element: { type: 'plain_text_input', action_id: 'text' },
    },
  ],
}

const card = [
  { type: 'section', text: { type: 'mrkdwn', text: `Move *203.0.113.10* for <@${ada}>` } },
  {
    type: 'actions',
    elements: [{ type: 'button', action_id: 'approve', value: 'r1', text: { type: 'plain_text', text: 'Approve' } }],
  },
]

/** A small bot of the kind that the sandbox is for. */
async function startBot(slack: Slack, seen: string[]) {
  const app = new App({
    token: slack.botToken,
    signingSecret: slack.signingSecret,
    logger: quietLogger,
    deferInitialization: true,
    clientOptions: { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, timeout: 2000 },
  })
  app.command(/\/.*/, async ({ command, ack, respond, client }) => {
    seen.push(`${command.user_name}: ${command.command} ${command.text}`)
    if (command.text === 'silence') return
    await ack(command.text === 'quick' ? 'Right away' : undefined)
    if (command.text === 'modal') await client.views.open({ trigger_id: command.trigger_id, view: modal })
    if (command.text.startsWith('say')) await respond(command.text)
  })
  app.options('pick', async ({ options, ack }) => {
    const all = ['203.0.113.10', '203.0.113.11', '198.51.100.7']
    const found = all.filter((address) => address.startsWith(options.value))
    await ack({ options: found.map((address) => ({ text: { type: 'plain_text', text: address }, value: `eip_${address.at(-1)}` })) })
  })
  app.view('move', async ({ view, ack, client, body }) => {
    const reason = view.state.values.reason?.text?.value ?? ''
    if (reason.length < 5) return ack({ response_action: 'errors', errors: { reason: 'Say a little more.' } })
    await ack()
    const address = view.state.values.address?.pick?.selected_option?.text.text
    seen.push(`${body.user.name} submitted ${address}: ${reason}`)
    await client.chat.postMessage({ channel: view.private_metadata, text: `Move ${address}`, blocks: card })
  })
  app.action('approve', async ({ ack, body, respond, client }) => {
    await ack()
    if (body.type !== 'block_actions' || !body.message || !body.channel) return
    await client.chat.update({ channel: body.channel.id, ts: body.message.ts, text: `Approved by ${body.user.id}` })
    await client.chat.postMessage({ channel: body.channel.id, thread_ts: body.message.ts, text: `<@${body.user.id}> approved` })
    await respond({ text: 'Thank you', replace_original: false })
  })
  await app.init()
  const server = await app.start(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  slack.connectBot(`http://127.0.0.1:${address.port}/slack/events`)
  return app
}

describe('a Bolt app over HTTP', () => {
  let slack: Slack
  let app: App
  let seen: string[]

  beforeEach(async () => {
    seen = []
    slack = await startSlack({ ackDeadlineMs: 400 })
    app = await startBot(slack, seen)
  })
  afterEach(async () => {
    await app.stop()
    await slack.close()
  })

  test('from the command through the modal to the click, as a transcript', async () => {
    const asAda = slack.as(ada)
    const opened = await asAda.command('/infra modal', { channel: '#ops' })
    await slack.until(() => asAda.openViews().length === 1, { what: 'the modal' })
    const search = await asAda.search(undefined, 'Elastic IP', '203')
    await asAda.fill(undefined, { 'Elastic IP': '203.0.113.10', Reason: 'web' })
    const refused = await asAda.submit()
    await asAda.fill(undefined, { Reason: 'web-2 takes over' })
    const taken = await asAda.submit()
    const message = await slack.until(() => slack.messages('ops')[0], { what: 'the card' })
    const before = slack.transcript('ops', { as: ben })
    const click = await slack.as(ben).click(message, 'Approve')
    await slack.until(() => slack.ephemerals(ben).length === 1, { what: 'the thanks' })

    expect(opened).toMatchObject({ outcome: 'acknowledged', status: 200, body: undefined })
    expect(search.options.map((option) => option.value)).toEqual(['eip_0', 'eip_1'])
    expect(refused.errors).toEqual({ reason: 'Say a little more.' })
    expect(taken.errors).toBeUndefined()
    expect(asAda.openViews()).toEqual([])
    expect(click).toMatchObject({ outcome: 'acknowledged', kind: 'block_actions' })
    expect(seen).toEqual(['ada: /infra modal', 'ada submitted 203.0.113.10: web-2 takes over'])
    expect(before).toMatchInlineSnapshot(`
      "Lockkeeper: Move *203.0.113.10* for @Ada Okafor
        [Approve]"
    `)
    expect(slack.transcript('ops', { as: ben })).toMatchInlineSnapshot(`
      "Lockkeeper: Approved by U0BEN00001 (edited)
          Lockkeeper: @Ben Laurent approved
      Lockkeeper (only visible to Ben): Thank you"
    `)
    expect(slack.transcript('ops', { as: ada })).not.toContain('Thank you')
  })

  test('a required field stops the submission before the bot hears of it', async () => {
    const asAda = slack.as(ada)
    await asAda.command('/infra modal', { channel: 'ops' })
    await slack.until(() => asAda.topView())

    const delivery = await asAda.submit()

    expect(delivery).toMatchObject({
      outcome: 'not-sent',
      errors: { address: 'Please complete this required field.', reason: 'Please complete this required field.' },
    })
  })

  test('the answer in an acknowledgement is shown to the asker alone', async () => {
    await slack.as(ada).command('/infra quick', { channel: 'ops' })

    expect(slack.transcript('ops')).toMatchInlineSnapshot(`"Lockkeeper (only visible to Ada): Right away"`)
    expect(slack.as(ben).sees('ops')).toEqual([])
  })

  test('mentions, channels, domain names and signs arrive as Slack escapes them', async () => {
    await slack.as(ada).command('/infra say @ben #ops @oncall https://example.com web.example.com a&b <c>', { channel: 'ops' })
    await slack.until(() => slack.ephemerals(ada).length === 1)

    expect(seen).toMatchInlineSnapshot(`
      [
        "ada: /infra say <@U0BEN00001|ben> <#C0OPS00001|ops> <!subteam^S0ONCALL01|@oncall> <https://example.com> <http://web.example.com|web.example.com> a&amp;b &lt;c&gt;",
      ]
    `)
    expect(slack.transcript('ops', { as: ada })).toMatchInlineSnapshot(
      `"Lockkeeper (only visible to Ada): say @Ben Laurent #ops @oncall https://example.com web.example.com a&b <c>"`,
    )
  })

  test('a command that is not acknowledged in time is a notice', async () => {
    const delivery = await slack.as(ada).command('/infra silence', { channel: 'ops' })

    expect(delivery).toMatchObject({ outcome: 'timeout', notice: '/infra failed with the error "operation_timeout"' })
    expect(delivery.ms).toBeGreaterThanOrEqual(399)
    expect(slack.as(ada).notices()).toEqual(['/infra failed with the error "operation_timeout"'])
  })

  test('a wrong or old signature is refused by Bolt, and a repeated delivery is not', async () => {
    const delivery = await slack.as(ada).command('/infra', { channel: 'ops' })
    const { body } = delivery.request

    const wrong = await slack.sendRaw({ body, signingSecret: 'another secret' })
    const old = await slack.sendRaw({ body, timestamp: Math.floor(Date.now() / 1000) - 301 })
    const withCharset = await slack.sendRaw({ body, contentType: 'application/x-www-form-urlencoded; charset=utf-8' })
    const again = await slack.as(ada).redeliver(delivery)

    expect([wrong.status, old.status, withCharset.status]).toEqual([401, 401, 400])
    expect(again).toMatchObject({ outcome: 'acknowledged', status: 200 })
    expect(seen).toEqual(['ada: /infra ', 'ada: /infra '])
  })

  test('a response address is good for five uses', async () => {
    await slack.as(ada).command('/infra say hello', { channel: 'general' })
    await slack.until(() => slack.calls('response_url').length === 1)
    const url = String(slack.deliveries[0]?.payload.response_url)
    const post = () => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"more"}' })

    const statuses: number[] = []
    for (let use = 0; use < 5; use += 1) statuses.push((await post()).status)
    const last = await post()

    expect(statuses).toEqual([200, 200, 200, 200, 404])
    expect(await last.json()).toEqual({ ok: false, error: 'used_url' })
    expect(slack.transcript('general', { as: ada })).toMatchInlineSnapshot(`
      "Lockkeeper (only visible to Ada): say hello
      Lockkeeper (only visible to Ada): more
      Lockkeeper (only visible to Ada): more
      Lockkeeper (only visible to Ada): more
      Lockkeeper (only visible to Ada): more"
    `)
  })

  test('an ephemeral that was clicked can be replaced and deleted by its response address', async () => {
    const posted = await app.client.chat.postEphemeral({ channel: 'C0OPS00001', user: ada, text: 'Sure?', blocks: card })
    const [ephemeral] = slack.ephemerals(ada)
    if (ephemeral === undefined) throw new Error('no ephemeral')
    const click = await slack.as(ada).click(ephemeral, 'Approve')
    const url = String(click.payload.response_url)
    const post = (body: object) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

    await post({ replace_original: true, text: 'Done.' })
    const replaced = slack.transcript('ops', { as: ada })
    await post({ delete_original: true })

    expect(posted.message_ts).toBe(ephemeral.ts)
    expect(click.payload).toMatchObject({ container: { type: 'message', is_ephemeral: true, message_ts: ephemeral.ts } })
    expect(click.payload).not.toHaveProperty('message')
    expect(replaced).toMatchInlineSnapshot(`"Lockkeeper (only visible to Ada): Done. (edited)"`)
    expect(slack.ephemerals(ada)).toEqual([])
    await expect(slack.as(ben).click(ephemeral, 'Approve')).rejects.toThrow('Ben Laurent cannot see this message.')
  })

  test('somebody with an old copy of a message can still press its button', async () => {
    await app.client.chat.postMessage({ channel: 'C0OPS00001', text: 'Move', blocks: card })
    const [old] = slack.messages('ops')
    if (old === undefined) throw new Error('no card')
    await app.client.chat.update({ channel: 'C0OPS00001', ts: old.ts, text: 'Expired' })

    const click = await slack.as(ben).click(old, 'approve')
    await slack.until(() => slack.ephemerals(ben).length === 1, { what: 'the bot to be done' })

    expect(click.payload).toMatchObject({ actions: [{ action_id: 'approve', value: 'r1' }], message: { text: 'Move' } })
    await expect(slack.as(ben).click(slack.messages('ops')[0] ?? '', 'approve')).rejects.toThrow('There is nothing called "approve"')
  })

  test('losing the answer of a post leaves the message there', async () => {
    const fault = slack.faults.add({ method: 'chat.postMessage', kind: 'drop-after' })

    await expect(app.client.chat.postMessage({ channel: 'C0OPS00001', text: 'Once' })).rejects.toThrow()
    await app.client.chat.postMessage({ channel: 'C0OPS00001', text: 'Twice' })

    expect(fault.fired).toBe(1)
    expect(slack.messages('ops').map((message) => message.text)).toEqual(['Once', 'Twice'])
    expect(slack.calls('chat.postMessage').map((call) => call.fault)).toEqual(['drop-after', undefined])
  })

  test('the bot joins by /invite, as in Slack', async () => {
    const refused = app.client.chat.postMessage({ channel: 'C0GENERAL1', text: 'Hello' })
    await expect(refused).rejects.toThrow('An API error occurred: not_in_channel')

    await slack.as(ada).say('/invite @Lockkeeper', { channel: 'general' })
    await app.client.chat.postMessage({ channel: 'C0GENERAL1', text: 'Hello' })

    expect(slack.transcript('general')).toMatchInlineSnapshot(`
      "Lockkeeper: was added to #general by Ada Okafor.
      Lockkeeper: Hello"
    `)
  })
})
