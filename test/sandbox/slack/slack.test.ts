import { describe, expect, test } from 'vitest'
import {
  actions,
  ada,
  ben,
  button,
  chiara,
  dov,
  general,
  input,
  modal,
  mrkdwn,
  ops,
  option,
  outcomeOf,
  plain,
  quietClient,
  section,
  startScripted,
} from './slack-for-test.ts'

const hello = { channel: ops, text: 'Hello' }

test('a missing, wrong, revoked token and one of the other kind are refused', async () => {
  const { slack, client } = await startScripted()
  const as = (token: string) => quietClient(slack, token)

  expect(await outcomeOf(as('').auth.test())).toBe('not_authed')
  expect(await outcomeOf(as('xoxb-wrong').auth.test())).toBe('invalid_auth')
  expect(await outcomeOf(as(slack.appToken).auth.test())).toBe('not_allowed_token_type')
  expect(await outcomeOf(as(slack.botToken).apps.connections.open())).toBe('not_allowed_token_type')
  expect(await outcomeOf(as(slack.appToken).apps.connections.open())).toBe('ok')
  slack.revoke('token_revoked')
  expect(await outcomeOf(client.auth.test())).toBe('token_revoked')
})

test('every answer names the granted scopes, and a call needs those of its kind of conversation', async () => {
  const { slack, client } = await startScripted({ scopes: ['channels:read', 'channels:history', 'groups:read'] })
  slack.workspace.channels.push({ id: 'C0SECRET01', name: 'secret', topic: '', members: [ada, 'U0LOCKKEEP'], isPrivate: true })
  const needed = (call: Promise<unknown>) =>
    call.then(
      () => 'none',
      ({ data }) => `${data.error} ${data.needed}`,
    )

  expect((await client.auth.test()).response_metadata?.scopes).toEqual(['channels:read', 'channels:history', 'groups:read'])
  expect(await needed(client.conversations.info({ channel: ops }))).toBe('none')
  expect(await needed(client.conversations.info({ channel: 'C0SECRET01' }))).toBe('none')
  expect(await needed(client.conversations.info({ channel: 'C0MPDM0001' }))).toBe('missing_scope mpim:read')
  expect(await needed(client.conversations.history({ channel: ops }))).toBe('none')
  expect(await needed(client.conversations.history({ channel: 'C0SECRET01' }))).toBe('missing_scope groups:history')
  expect(await needed(client.users.info({ user: ada }))).toBe('missing_scope users:read')
  expect(await needed(client.usergroups.list())).toBe('missing_scope usergroups:read')
  expect(await needed(client.chat.postMessage(hello))).toBe('missing_scope chat:write')
})

describe('a message', () => {
  test("is refused with Slack's error", async () => {
    const { slack, client } = await startScripted()
    const post = (more: object) => outcomeOf(client.chat.postMessage({ ...hello, ...more } as never))
    const blocks = (value: unknown) => post({ blocks: value })
    const said = await slack.as(ada).say('Mine', { channel: ops })

    expect(await post({ channel: 'C0NOWHERE1' })).toBe('channel_not_found')
    expect(await post({ channel: general })).toBe('not_in_channel')
    expect(await post({ text: ' ' })).toBe('no_text')
    expect(await post({ text: 'a'.repeat(4001) })).toBe('msg_too_long')
    expect(await post({ thread_ts: '1.000001' })).toBe('thread_not_found')
    expect(await blocks('[{')).toBe('invalid_blocks_format')
    expect(await blocks([{ type: 'header' }])).toBe('invalid_blocks')
    expect(await blocks(Array(5).fill(section({ text: mrkdwn('x'.repeat(2_000)) })))).toBe('ok')
    expect(await blocks([...Array(5).fill(section({ text: mrkdwn('x'.repeat(2_000)) })), section()])).toBe('msg_blocks_too_long')
    expect(await post({ metadata: { event_type: 1 } })).toBe('invalid_metadata_format')
    expect(await outcomeOf(client.chat.update({ channel: ops, ts: '1.000001', text: 'x' }))).toBe('message_not_found')
    expect(await outcomeOf(client.chat.update({ channel: ops, ts: said?.ts ?? '', text: 'x' }))).toBe('cant_update_message')
    slack.kickBot('ops')
    expect(await post({})).toBe('not_in_channel')
    await slack.as(ada).say('/invite @Lockkeeper', { channel: ops })
    expect(await post({})).toBe('ok')
    slack.archive('ops')
    expect(await post({})).toBe('is_archived')
  })

  test('that is ephemeral is visible to one member, and unknown to the Web API', async () => {
    const { slack, client } = await startScripted()
    const { message_ts: ts = '' } = await client.chat.postEphemeral({ ...hello, user: ada })
    slack.leave('ops', dov)

    expect(slack.as(ada).sees(ops)).toMatchObject([{ text: 'Hello', ephemeral: true, visibleTo: ada }])
    expect(slack.as(ben).sees(ops)).toEqual([])
    expect((await client.conversations.history({ channel: ops })).messages).toEqual([])
    expect(await outcomeOf(client.chat.update({ channel: ops, ts, text: 'x' }))).toBe('message_not_found')
    expect(await outcomeOf(client.chat.postEphemeral({ ...hello, user: dov }))).toBe('user_not_in_channel')
    expect(await outcomeOf(client.chat.postEphemeral({ ...hello, channel: general, user: ada }))).toBe('not_in_channel')
  })
})

test('calls over the rate limit are refused if the limits apply', async () => {
  const { slack, client, clock } = await startScripted({ limits: true })
  const calls = Array.from({ length: 21 }, () => client.usergroups.users.list({ usergroup: 'S0ONCALL01' }))

  const results = await Promise.allSettled(calls)
  clock.now += 61_000
  const later = await client.usergroups.users.list({ usergroup: 'S0ONCALL01' })

  expect(results.filter((result) => result.status === 'rejected')).toHaveLength(1)
  expect(slack.calls('usergroups.users.list').map((call) => call.status)).toContain(429)
  expect(later.ok).toBe(true)
})

test('what the stand-in does not describe is refused with its name, and the test of that bot fails at its end', async () => {
  const { slack, client } = await startScripted()

  await outcomeOf(client.reactions.add({ channel: ops, timestamp: '1.000001', name: 'eyes' }))
  await outcomeOf(client.chat.postMessage({ ...hello, icon_emoji: ':lock:' }))
  const refused = await outcomeOf(client.chat.postMessage({ ...hello, blocks: [{ type: 'image', alt_text: 'A lock' } as never] }))

  expect(refused).toContain('The stand-in Slack does not describe the type "image" at /blocks/0.')
  await expect(slack.close()).rejects.toThrow(
    /the method reactions\.add.*"icon_emoji" as an argument of chat\.postMessage.*the type "image" at \/blocks\/0/s,
  )
  expect(slack.messages(ops)).toEqual([])
  slack.notDescribed.length = 0
})

async function startWithCard() {
  const scripted = await startScripted()
  await scripted.client.chat.postMessage({ channel: ops, text: 'Card', blocks: [actions(button())] })
  const [card] = scripted.slack.messages('ops')
  if (card === undefined) throw new Error('no card')
  const asAda = scripted.slack.as(ada)
  const trigger = async () => String((await asAda.command('/infra', { channel: 'ops' })).payload.trigger_id)
  const open = async (view: never) => String((await scripted.client.views.open({ trigger_id: await trigger(), view })).view?.id)
  return { ...scripted, card, asAda, asBen: scripted.slack.as(ben), trigger, open }
}

test('what the bot receives is as in the documentation of Slack, member by member', async () => {
  const { bot, client, asAda, asBen, card, open } = await startWithCard()
  const web2 = { text: plain('web-2 (Madrid)'), value: 'sv_22mUQSvUfeqdv' }
  bot.answer(({ type }) => (type === 'block_suggestion' ? { body: { options: [web2] } } : {}))
  const often = input('Often', { type: 'radio_buttons', options: [option('Once'), option('Daily')] })
  const server = input('Server', { type: 'external_select', min_query_length: 2 }, { dispatch_action: true })

  await asAda.command('/infra @ben #ops @oncall @here https://example.com web.example.com a&b <c>', { channel: 'ops' })
  await asBen.click(card, 'Go')
  await open(modal('One', { private_metadata: 'C0OPS00001', blocks: [server, often, input('Note', undefined, { optional: true })] }))
  const tooShort = await asAda.search(undefined, 'Server', 'w')
  const refused = await asAda.submit()
  await expect(asAda.fill(undefined, { Server: 'db' })).rejects.toThrow('"Server" offers no "db"; there is: web-2 (Madrid).')
  await asAda.fill(undefined, { Server: web2.value, Often: 'Daily' })
  await asAda.submit()
  await asAda.openHome()
  await client.views.publish({ user_id: ada, view: { type: 'home', blocks: [{ type: 'header', text: plain('Lockkeeper') }] } })
  await asAda.openHome()

  const unfilled = 'Please complete this required field.'
  expect(tooShort).toMatchObject({ outcome: 'not-sent', options: [] })
  expect(refused).toMatchObject({ outcome: 'not-sent', errors: { Server: unfilled, Often: unfilled } })
  const received = bot.received.map(({ headers, payload }) => `${headers['content-type']}\n\n${JSON.stringify(payload, null, 2)}\n`)
  const text = received.join('\n').replaceAll(/(response|trigger_id": "\d+\.\d+)[/.][\w-]{24,}/g, '$1 …')
  await expect(text.replaceAll(/127\.0\.0\.1:\d+/g, 'slack')).toMatchFileSnapshot('payloads.md')
})

test('a click that fails gives the person a warning', async () => {
  const { bot, slack, card, asBen } = await startWithCard()
  const noticeOf = async () => {
    const { outcome, notice } = await asBen.click(card, 'Go')
    return [outcome, notice]
  }

  bot.answer(() => ({ hold: true }))
  expect(await noticeOf()).toEqual(['timeout', '⚠️ Operation timed out. Apps need to respond within 3 seconds.'])
  bot.answer(() => ({ status: 500 }))
  expect(await noticeOf()).toEqual(['refused', '⚠️ This app responded with Status Code 500.'])
  slack.connectBot('http://127.0.0.1:9/')
  expect(await noticeOf()).toEqual(['unreachable', '⚠️ This app did not respond.'])
})

test('a response URL works five times in half an hour, also where the bot is not a member', async () => {
  const { slack, clock } = await startScripted()
  const post = (url: unknown, body: object) =>
    fetch(String(url), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const issue = async () => (await slack.as(ada).command('/infra', { channel: 'general' })).payload.response_url
  const [used, late] = [await issue(), await issue()]
  const statuses: number[] = []
  for (const text of ['', 'one', 'two', 'three', 'four', 'five', 'six']) statuses.push((await post(used, { text })).status)
  clock.now += 30 * 60_000 + 1

  expect(statuses).toEqual([400, 200, 200, 200, 200, 200, 404])
  expect(await (await post(used, { text: 'seven' })).json()).toMatchObject({ ok: false })
  expect(await (await post(late, { text: 'late' })).json()).toEqual({ ok: false, error: 'expired_url' })
  expect(slack.ephemerals(ada).map(({ text }) => text)).toEqual(['one', 'two', 'three', 'four', 'five'])
})

test('a modal opens with a trigger, which is valid for three seconds and for one view', async () => {
  const { client, asAda, trigger, clock } = await startWithCard()
  const openWith = (id: string, title = 'Two') => outcomeOf(client.views.open({ trigger_id: id, view: modal(title) }))
  const [used, late] = [await trigger(), await trigger()]

  expect(await openWith(used, 'One')).toBe('ok')
  expect(await openWith(used)).toBe('exchanged_trigger_id')
  expect(await openWith('1.2.three')).toBe('invalid_trigger_id')
  clock.now += 3001
  expect(await openWith(late)).toBe('expired_trigger_id')
  expect(await openWith(await trigger(), 'A title that is too long for a modal')).toBe('invalid_arguments')
  expect(asAda.topView().title).toBe('One')
})

test('a modal stays, and Slack shows a notice, if the answer is late, an error or one that Slack cannot use', async () => {
  const { bot, asAda, open } = await startWithCard()
  await open(modal('One', { blocks: [section()] }))
  const unusable = [
    { body: { response_action: 'update', view: modal('A title of more than twenty-four') } },
    { body: { response_action: 'errors', errors: { Nowhere: 'no such block' } } },
    { hold: true },
    { status: 500 },
  ]

  for (const answer of unusable) {
    bot.answer(() => answer)
    expect((await asAda.submit()).notice).toBe('We had some trouble connecting. Try again?')
  }
  expect(asAda.openViews().map(({ title }) => title)).toEqual(['One'])
})

test('a new message notifies whom it names and who follows its thread, but not its author, and no edit and no ephemeral message does', async () => {
  const { slack, client } = await startScripted()
  const count = () => [ada, ben, chiara, dov].map((person) => slack.as(person).notifications().length)
  const post = (text: string, threadTs?: string) => client.chat.postMessage({ channel: ops, thread_ts: threadTs, text })

  const { ts = '' } = await post('A request for <!subteam^S0ONCALL01>')
  expect(count()).toEqual([0, 1, 1, 0])
  await client.chat.postEphemeral({ channel: ops, user: ada, text: `<@${ada}>: only you see this.` })
  await client.chat.update({ channel: ops, ts, text: `<@${ada}>: approved.` })
  expect(count()).toEqual([0, 1, 1, 0])
  await slack.as(dov).say('What is this?', { channel: ops, threadTs: ts })
  await slack.as(ada).say(`<@${dov}>: mine.`, { channel: ops, threadTs: ts })
  expect(count()).toEqual([0, 1, 1, 1])
  await post('Done.', ts)
  expect(count()).toEqual([1, 1, 1, 2])
})
