import { describe, expect, test } from 'vitest'
import { ada, ben, dov, general, mrkdwn, ops, outcomeOf, quietClient, section, startScripted } from './slack-for-test.ts'

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

test('each kind of conversation has the flags that Slack gives it', async () => {
  const { slack, client } = await startScripted({ scopes: ['channels:read', 'groups:read', 'mpim:read'] })
  slack.workspace.channels.push({ id: 'C0SECRET01', name: 'secret', topic: '', members: [ada, 'U0LOCKKEEP'], isPrivate: true })
  slack.workspace.channels.push({ id: 'C0HIDDEN01', name: 'hidden', topic: '', members: [ada], isPrivate: true })
  const marks = async (channel: string) =>
    Object.entries((await client.conversations.info({ channel })).channel ?? {}).flatMap(([name, value]) => (value === true ? [name] : []))

  expect(await marks(ops)).toEqual(['is_channel', 'is_member'])
  expect(await marks(general)).toEqual(['is_channel', 'is_general'])
  expect(await marks('C0SHARED01')).toEqual(['is_channel', 'is_member', 'is_ext_shared', 'is_shared'])
  expect(await marks('C0SECRET01')).toEqual(['is_channel', 'is_private', 'is_member'])
  expect(await marks('C0MPDM0001')).toEqual(['is_group', 'is_mpim', 'is_private', 'is_member'])
  expect(await outcomeOf(marks('C0HIDDEN01'))).toBe('channel_not_found')
})

describe('a message', () => {
  test('keeps its metadata after an update, and has its replies below it', async () => {
    const { slack, client } = await startScripted()
    const metadata = { event_type: 'card', event_payload: { key: 'r1' } }
    const { ts = '' } = await client.chat.postMessage({ ...hello, metadata })
    await client.chat.update({ channel: ops, ts, text: 'Changed' })
    await client.chat.postMessage({ channel: ops, text: 'Reply', thread_ts: ts })

    const history = await client.conversations.history({ channel: ops, include_all_metadata: true })
    const replies = await client.conversations.replies({ channel: ops, ts })

    expect(history.messages).toMatchObject([{ ts, text: 'Changed', reply_count: 1, edited: { user: 'U0LOCKKEEP' }, metadata }])
    expect(replies.messages?.map(({ text }) => text)).toEqual(['Changed', 'Reply'])
    expect(slack.messages(ops)).toMatchObject([{ text: 'Changed', edited: true }])
  })

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
