import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import type { SlackOptions } from './slack.ts'
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

test('faults happen as often as ordered, for requests that fit; a lost answer leaves the message there', async () => {
  const { slack, client } = await startScripted()
  const late = slack.faults.add({ method: 'chat.postMessage', kind: '429', retryAfter: 7, when: (args) => args.thread_ts !== undefined })
  const broken = slack.faults.add({ method: '*', kind: 'status', status: 502, skip: 1 })
  slack.faults.add({ method: 'auth.test', kind: 'error', error: 'internal_error' })

  const { ts = '' } = await client.chat.postMessage(hello)
  await expect(client.chat.postMessage({ ...hello, thread_ts: ts })).rejects.toMatchObject({ retryAfter: 7 })
  await expect(client.chat.postMessage(hello)).rejects.toMatchObject({ statusCode: 502 })
  slack.faults.add({ method: 'chat.postMessage', kind: 'drop-after' })
  await expect(client.chat.postMessage({ ...hello, text: 'Lost' })).rejects.toThrow()

  expect(await outcomeOf(client.auth.test())).toBe('internal_error')
  expect([late.fired, broken.fired]).toEqual([1, 1])
  expect(slack.messages(ops).map(({ text }) => text)).toEqual(['Hello', 'Lost'])
  expect(slack.calls('chat.postMessage').map((call) => [call.status, call.fault])).toEqual([
    [200, undefined],
    [429, '429'],
    [502, 'status'],
    [0, 'drop-after'],
  ])
})

test('the journal never contains a token', async () => {
  const { slack, client } = await startScripted()
  await client.chat.postMessage(hello)
  await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', body: new URLSearchParams({ token: slack.botToken }) })

  expect(slack.calls('auth.test')).toMatchObject([{ status: 200, args: {} }])
  expect(JSON.stringify(slack.journal)).not.toContain(slack.botToken)
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

describe('what people do', () => {
  async function startWithCard(options: SlackOptions = {}, ...blocks: Json[]) {
    const scripted = await startScripted(options)
    const shown = blocks.length > 0 ? blocks : [actions(button())]
    await scripted.client.chat.postMessage({ channel: ops, text: 'Card', blocks: shown as never })
    const [card] = scripted.slack.messages('ops')
    if (card === undefined) throw new Error('no card')
    return { ...scripted, card, asAda: scripted.slack.as(ada), asBen: scripted.slack.as(ben) }
  }

  const post = (url: unknown, body: object) =>
    fetch(String(url), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  describe('a command', () => {
    test('arrives member by member, as a signed form', async () => {
      const { bot, slack, clock } = await startScripted()
      await slack.as(ada).command('/infra ip move', { channel: 'ops' })

      const [{ headers, payload } = { headers: {}, payload: {} }] = bot.received
      expect({ ...payload, response_url: 'R', trigger_id: 'T' }).toEqual({
        api_app_id: 'A0LOCKKEEP',
        channel_id: ops,
        channel_name: 'ops',
        command: '/infra',
        is_enterprise_install: 'false',
        response_url: 'R',
        team_domain: 'nimbus-works',
        team_id: 'T0NIMBUS01',
        text: 'ip move',
        token: 'not-verified-by-this',
        trigger_id: 'T',
        user_id: ada,
        user_name: 'ada',
      })
      expect(headers).toMatchObject({
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': String(clock.now / 1000),
      })
    })

    test('has its mentions, channels, domain names and signs escaped as Slack escapes them', async () => {
      const { bot, slack } = await startScripted()
      await slack.as(ada).command('/infra @ben #ops @oncall @here https://example.com web.example.com a&b <c>', { channel: 'ops' })

      expect(bot.received[0]?.payload.text).toBe(
        '<@U0BEN00001|ben> <#C0OPS00001|ops> <!subteam^S0ONCALL01|@oncall> <!here> <https://example.com> <http://web.example.com|web.example.com> a&amp;b &lt;c&gt;',
      )
    })
  })

  describe('a click', () => {
    test('arrives member by member', async () => {
      const { card, asBen } = await startWithCard()

      const { payload } = await asBen.click(card, 'Go')

      expect(payload).toMatchObject({
        message: { ts: card.ts, user: 'U0LOCKKEEP', bot_id: 'B0LOCKKEEP', blocks: [{ block_id: 'buttons' }] },
        container: { type: 'message', message_ts: card.ts, channel_id: ops, is_ephemeral: false },
      })
      expect({ ...payload, message: 'M', container: 'C', response_url: 'R', trigger_id: 'T' }).toEqual({
        actions: [{ action_id: 'go', action_ts: '1763700000.000001', block_id: 'buttons', text: plain('Go'), type: 'button', value: 'r1' }],
        api_app_id: 'A0LOCKKEEP',
        channel: { id: ops, name: 'ops' },
        container: 'C',
        enterprise: null,
        is_enterprise_install: false,
        message: 'M',
        response_url: 'R',
        state: { values: {} },
        team: { domain: 'nimbus-works', id: 'T0NIMBUS01' },
        token: 'not-verified-by-this',
        trigger_id: 'T',
        type: 'block_actions',
        user: { id: ben, name: 'ben', team_id: 'T0NIMBUS01', username: 'ben' },
      })
    })

    test('that fails gives the person a warning', async () => {
      const { bot, slack, card, asBen } = await startWithCard()
      const noticeOf = async () => {
        const { outcome, notice } = await asBen.click(card, 'Go')
        return [outcome, notice]
      }

      bot.answer(() => ({ hold: true }))
      expect(await noticeOf()).toEqual(['timeout', '⚠️ Operation timed out. Apps need to respond within 3 seconds.'])
      bot.answer(() => ({ status: 500 }))
      expect(await noticeOf()).toEqual(['refused', '⚠️ This app responded with Status Code 500.'])
      bot.answer(() => ({}))
      slack.faults.add({ method: 'delivery.block_actions', kind: 'drop-after' })
      expect(await noticeOf()).toEqual(['unreachable', '⚠️ This app did not respond.'])
      expect(bot.received).toHaveLength(3)
    })
  })

  describe('a response URL', () => {
    test('works five times in half an hour, also where the bot is not a member', async () => {
      const { slack, clock } = await startScripted()
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
  })
})

describe('modals and Home tabs', () => {
  const trouble = 'We had some trouble connecting. Try again?'

  async function startWithModals() {
    const scripted = await startScripted()
    const asAda = scripted.slack.as(ada)
    const trigger = async () => String((await asAda.command('/infra', { channel: 'ops' })).payload.trigger_id)
    const open = async (view: never) => String((await scripted.client.views.open({ trigger_id: await trigger(), view })).view?.id)
    const titles = () => asAda.openViews().map(({ title }) => title)
    return { ...scripted, asAda, trigger, open, titles }
  }

  describe('a modal', () => {
    test('opens with a trigger, which is valid for three seconds and for one view', async () => {
      const { client, asAda, trigger, clock } = await startWithModals()
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

    test('sends its submission with the whole view and no channel', async () => {
      const { asAda, open } = await startWithModals()
      const often = input('Often', { type: 'radio_buttons', options: [option('Once'), option('Daily')] })
      await open(
        modal('One', { private_metadata: 'C0OPS00001', blocks: [input('Name'), often, input('Note', undefined, { optional: true })] }),
      )
      const refused = await asAda.submit()
      await asAda.fill(undefined, { Name: 'web-2', Often: 'Daily' })
      const { payload } = await asAda.submit()

      const unfilled = 'Please complete this required field.'
      expect(refused).toMatchObject({ outcome: 'not-sent', errors: { Name: unfilled, Often: unfilled } })
      expect(Object.keys(payload).sort().join(' ')).toBe(
        'api_app_id enterprise is_enterprise_install response_urls team token trigger_id type user view',
      )
      expect(payload).toMatchObject({ type: 'view_submission', is_enterprise_install: false, user: { id: ada, name: 'ada' } })
      expect(payload.view).toMatchObject({ callback_id: 'One', private_metadata: 'C0OPS00001' })
      expect((payload.view as Json).state).toEqual({
        values: {
          Name: { a: { type: 'plain_text_input', value: 'web-2' } },
          Often: { a: { type: 'radio_buttons', selected_option: option('Daily') } },
          Note: { a: { type: 'plain_text_input', value: null } },
        },
      })
    })

    test('stays, and Slack shows a notice, if the answer is late, an error or one that Slack cannot use', async () => {
      const { bot, asAda, open, titles } = await startWithModals()
      await open(modal('One', { blocks: [section()] }))
      const unusable = [
        { body: { response_action: 'update', view: modal('A title of more than twenty-four') } },
        { body: { response_action: 'errors', errors: { Nowhere: 'no such block' } } },
        { hold: true },
        { status: 500 },
      ]

      for (const answer of unusable) {
        bot.answer(() => answer)
        expect((await asAda.submit()).notice).toBe(trouble)
      }
      expect(titles()).toEqual(['One'])
    })

    test('requests options from the bot after enough letters, and delivers a choice at once if the block says so', async () => {
      const { bot, asAda, open } = await startWithModals()
      const picker = { type: 'external_select', min_query_length: 2 }
      const id = await open(modal('One', { blocks: [input('Server', picker, { dispatch_action: true })] }))
      const web2 = { text: plain('web-2 (Madrid)'), value: 'sv_22mUQSvUfeqdv' }
      bot.answer(({ type }) => (type === 'block_suggestion' ? { body: { options: [web2] } } : {}))

      const tooShort = await asAda.search(undefined, 'Server', 'w')
      const [click] = await asAda.fill(id, { Server: 'sv_22mUQSvUfeqdv' })

      expect(tooShort).toMatchObject({ outcome: 'not-sent', options: [] })
      expect(bot.received.at(-2)?.payload).toMatchObject({
        type: 'block_suggestion',
        value: 'sv_22mUQSvUfeqdv',
        view: { state: { values: {} } },
      })
      expect(click?.payload).toMatchObject({
        type: 'block_actions',
        container: { type: 'view', view_id: id },
        actions: [{ type: 'external_select', action_id: 'a', block_id: 'Server', selected_option: web2 }],
        view: { state: { values: { Server: { a: { selected_option: web2 } } } } },
      })
      expect(click?.payload).not.toHaveProperty('response_url')
      await expect(asAda.fill(id, { Server: 'db' })).rejects.toThrow('"Server" offers no "db"; there is: web-2 (Madrid).')
    })
  })

  describe('the Home tab', () => {
    async function startWithHome() {
      const scripted = await startScripted()
      const publish = (...blocks: Json[]) => scripted.client.views.publish({ user_id: ada, view: { type: 'home', blocks } as never })
      const home = () => {
        const view = scripted.slack.as(ada).home()
        if (view === undefined) throw new Error('nothing is on the Home tab')
        return view
      }
      return { ...scripted, publish, home, asAda: scripted.slack.as(ada) }
    }

    test('delivers to the bot who opens it, member by member', async () => {
      const { bot, asAda, publish } = await startWithHome()

      const delivery = await asAda.openHome()
      await publish({ type: 'header', text: plain('Lockkeeper') })
      await asAda.openHome()
      await asAda.openHome({ tab: 'messages' })

      const [first, second, third] = bot.received.map(({ payload }) => payload)
      expect(delivery).toMatchObject({ kind: 'event', outcome: 'acknowledged', status: 200 })
      expect(bot.received[0]?.headers['content-type']).toBe('application/json')
      expect(first).toEqual({
        api_app_id: 'A0LOCKKEEP',
        authorizations: [{ enterprise_id: null, is_bot: true, is_enterprise_install: false, team_id: 'T0NIMBUS01', user_id: 'U0LOCKKEEP' }],
        event: { channel: 'D0ADA00001', event_ts: '1763700000.000000', tab: 'home', type: 'app_home_opened', user: ada },
        event_id: 'Ev0000000001',
        event_time: 1763700000,
        is_ext_shared_channel: false,
        team_id: 'T0NIMBUS01',
        token: 'not-verified-by-this',
        type: 'event_callback',
      })
      expect(second?.event).toMatchObject({ tab: 'home', view: { type: 'home', blocks: [{ type: 'header' }] } })
      expect(third?.event).not.toHaveProperty('view')
    })
  })
})

describe('notifications', () => {
  async function start() {
    const { slack, client, ...rest } = await startScripted()
    const notified = () => [ada, ben, chiara, dov].filter((person) => slack.as(person).notifications().length > 0)
    return { ...rest, slack, client, notified }
  }

  test('a new message notifies the people and the groups that it mentions, with its text', async () => {
    const { slack, client, notified } = await start()

    await client.chat.postMessage({ channel: ops, text: 'Nobody is meant.' })
    expect(notified()).toEqual([])
    const { ts } = await client.chat.postMessage({ channel: ops, text: `<@${dov}> or <!subteam^S0ONCALL01>: look.` })

    expect(notified()).toEqual([ben, chiara, dov])
    expect(slack.as(dov).notifications()).toMatchObject([{ channel: ops, ts, text: `<@${dov}> or <!subteam^S0ONCALL01>: look.` }])
  })

  test('an ephemeral message and an edit notify nobody', async () => {
    const { client, notified } = await start()
    const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })

    await client.chat.postEphemeral({ channel: ops, user: ada, text: `<@${ada}>: only you see this.` })
    await client.chat.update({ channel: ops, ts, text: `<@${ada}>: approved.` })

    expect(notified()).toEqual([])
  })

  test('a reply notifies those who were named in its thread or replied to it, but not its author or the others of a group', async () => {
    const { slack, client, notified } = await start()
    const { ts: threadTs = '' } = await client.chat.postMessage({ channel: ops, text: 'A request for <!subteam^S0ONCALL01>' })
    await slack.as(dov).say('What is this?', { channel: ops, threadTs })
    await slack.as(ada).say(`<@${dov}>: mine.`, { channel: ops, threadTs })
    const before = slack.as(ben).notifications().length

    await client.chat.postMessage({ channel: ops, thread_ts: threadTs, text: 'Done.' })

    expect([ada, ben, dov].map((person) => slack.as(person).notifications().at(-1)?.text)).toEqual([
      'Done.',
      'A request for <!subteam^S0ONCALL01>',
      'Done.',
    ])
    expect(slack.as(ben).notifications()).toHaveLength(before)
    expect(slack.as(ada).notifications()).toHaveLength(1)
    expect(notified()).toEqual([ada, ben, chiara, dov])
  })
})
