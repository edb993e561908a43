import type { WebClient } from '@slack/web-api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { quietClient } from './quiet-client.ts'
import type { Slack, SlackOptions } from './slack.ts'
import { startSlack } from './start-slack.ts'

const ops = 'C0OPS00001'
const general = 'C0GENERAL1'
const ada = 'U0ADA00001'

describe('the Web API', () => {
  let slack: Slack
  let client: WebClient
  let now = 1_763_700_000_000

  async function start(options: SlackOptions = {}): Promise<void> {
    await slack?.close()
    slack = await startSlack({ now: () => now, ...options })
    client = quietClient(slack)
  }

  beforeEach(() => start())
  afterEach(() => slack.close())

  /** Slack's `error`, or `ok`. */
  async function outcome(call: Promise<unknown>): Promise<string> {
    try {
      await call
      return 'ok'
    } catch (error) {
      const { data } = error as { data?: { error?: string } }
      if (data?.error === undefined) throw error
      return data.error
    }
  }

  const post = (more: object = {}) => client.chat.postMessage({ channel: ops, text: 'Hello', ...more } as never)

  test('says who the bot is and what it may do', async () => {
    const answer = await client.auth.test()

    expect(answer).toMatchObject({ ok: true, user_id: 'U0LOCKKEEP', bot_id: 'B0LOCKKEEP', team_id: 'T0NIMBUS01', team: 'Nimbus Works' })
    expect(answer.response_metadata?.scopes).toContain('chat:write')
  })

  test('refuses missing, wrong and misplaced tokens', async () => {
    const as = (token: string) => quietClient(slack, token)

    expect(await outcome(as('').auth.test())).toBe('not_authed')
    expect(await outcome(as('xoxb-wrong').auth.test())).toBe('invalid_auth')
    expect(await outcome(as(slack.appToken).auth.test())).toBe('not_allowed_token_type')
    expect(await outcome(as(slack.botToken).apps.connections.open())).toBe('not_allowed_token_type')
    expect(await outcome(as(slack.appToken).apps.connections.open())).toBe('ok')
    slack.revoke('token_revoked')
    expect(await outcome(client.auth.test())).toBe('token_revoked')
  })

  test('refuses what the scopes do not cover, and methods that are not there', async () => {
    await start({ scopes: ['commands', 'chat:write'] })

    const error = await client.users.info({ user: ada }).catch((reason: unknown) => reason)

    expect(error).toMatchObject({ data: { error: 'missing_scope', needed: 'users:read', provided: 'commands,chat:write' } })
    expect(await outcome(client.apiCall('chat.shout'))).toBe('unknown_method')
  })

  test('posts, updates and deletes', async () => {
    const { ts = '' } = await post({ metadata: { event_type: 'card', event_payload: { id: 'r1' } } })
    await client.chat.update({ channel: ops, ts, text: 'Changed' })
    const reply = await client.chat.postMessage({ channel: ops, text: 'Reply', thread_ts: ts })
    const history = await client.conversations.history({ channel: ops, include_all_metadata: true })
    const replies = await client.conversations.replies({ channel: ops, ts })
    await client.chat.delete({ channel: ops, ts: reply.ts ?? '' })

    expect(history.messages).toMatchObject([
      {
        ts,
        text: 'Changed',
        reply_count: 1,
        edited: { user: 'U0LOCKKEEP' },
        metadata: { event_type: 'card', event_payload: { id: 'r1' } },
      },
    ])
    expect(replies.messages?.map((message) => message.text)).toEqual(['Changed', 'Reply'])
    expect(slack.messages(ops)).toMatchObject([{ text: 'Changed', edited: true }])
    expect(slack.thread(ops, ts)).toHaveLength(1)
  })

  test('answers every wrong post with the error that Slack gives', async () => {
    const blocks = (value: unknown) => post({ blocks: value as never })
    const table = { type: 'table', rows: [[{ type: 'raw_text', text: 'x' }]] }
    const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } })

    expect(await outcome(post({ channel: 'C0NOWHERE1' }))).toBe('channel_not_found')
    expect(await outcome(post({ channel: general }))).toBe('not_in_channel')
    expect(await outcome(post({ text: ' ' }))).toBe('no_text')
    expect(await outcome(post({ text: 'a'.repeat(4001) }))).toBe('msg_too_long')
    expect(await outcome(post({ thread_ts: '1.000001' }))).toBe('thread_not_found')
    expect(await outcome(blocks('[{'))).toBe('invalid_blocks_format')
    expect(await outcome(blocks([{ type: 'header' }]))).toBe('invalid_blocks')
    expect(await outcome(blocks([table, table]))).toBe('invalid_attachments')
    expect(await outcome(blocks(Array(5).fill(section('x'.repeat(2_000)))))).toBe('ok')
    expect(await outcome(blocks([...Array(5).fill(section('x'.repeat(2_000))), section('x')]))).toBe('msg_blocks_too_long')
    expect(await outcome(post({ metadata: { event_type: 1 } as never }))).toBe('invalid_metadata_format')
    expect(await outcome(client.chat.update({ channel: ops, ts: '1.000001', text: 'x' }))).toBe('message_not_found')
    slack.archive('ops')
    expect(await outcome(post())).toBe('is_archived')
    slack.unarchive('ops')
    slack.kickBot('ops')
    expect(await outcome(post())).toBe('not_in_channel')
  })

  test('says where invalid blocks are wrong', async () => {
    const error = await post({ blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'a'.repeat(3001) } }] }).catch(
      (reason: unknown) => reason,
    )

    expect(error).toMatchObject({
      data: {
        error: 'invalid_blocks',
        response_metadata: {
          messages: [
            '[ERROR] failed to match all allowed schemas [json-pointer:/blocks/0/text]',
            '[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]',
          ],
        },
      },
    })
  })

  test('does not let the bot change what it has not written', async () => {
    const said = await slack.as(ada).say('Mine', { channel: ops })

    expect(await outcome(client.chat.update({ channel: ops, ts: said?.ts ?? '', text: 'x' }))).toBe('cant_update_message')
    expect(await outcome(client.chat.delete({ channel: ops, ts: said?.ts ?? '' }))).toBe('cant_delete_message')
  })

  test('keeps ephemerals out of reach', async () => {
    const { message_ts: ts = '' } = await client.chat.postEphemeral({ channel: ops, user: ada, text: 'psst' })
    slack.leave('ops', 'U0DOV00001')

    expect(slack.as('U0BEN00001').sees(ops)).toEqual([])
    expect(slack.as(ada).sees(ops)).toMatchObject([{ text: 'psst', ephemeral: true, visibleTo: ada }])
    expect(await outcome(client.chat.update({ channel: ops, ts, text: 'x' }))).toBe('message_not_found')
    expect(await outcome(client.chat.postEphemeral({ channel: ops, user: 'U0DOV00001', text: 'x' }))).toBe('user_not_in_channel')
    expect(await outcome(client.chat.postEphemeral({ channel: general, user: ada, text: 'x' }))).toBe('not_in_channel')
  })

  test('knows people, groups and direct messages', async () => {
    await start({ scopes: ['chat:write', 'users:read', 'usergroups:read', 'im:write'] })
    const { user } = await client.users.info({ user: 'U0DOV00001' })
    const { users } = await client.usergroups.users.list({ usergroup: 'S0ONCALL01' })
    slack.setUserGroup('S0ONCALL01', { disabled: true })
    const disabled = await client.usergroups.users.list({ usergroup: 'S0ONCALL01' })
    const { channel } = await client.conversations.open({ users: ada })
    await client.chat.postMessage({ channel: ada, text: 'Hello Ada' })

    expect(user).toMatchObject({ id: 'U0DOV00001', real_name: 'Dov Meyer', is_restricted: true, is_bot: false, deleted: false })
    expect(users).toEqual(['U0BEN00001', 'U0CHI00001'])
    expect(disabled.users).toEqual([])
    expect(slack.directMessages(ada)).toMatchObject([{ channel: channel?.id, text: 'Hello Ada' }])
    expect(await outcome(client.users.info({ user: 'U0NOBODY01' }))).toBe('user_not_found')
    expect(await outcome(client.usergroups.users.list({ usergroup: 'S0NOBODY01' }))).toBe('no_such_subteam')
  })

  test('names its scopes with every answer, and wants those of the kind of conversation', async () => {
    await start({ scopes: ['channels:read', 'channels:history', 'groups:read', 'im:write'] })
    slack.workspace.channels.push({ id: 'C0SECRET01', name: 'secret', topic: '', members: [ada, 'U0LOCKKEEP'], isPrivate: true })
    const direct = await client.conversations.open({ users: ada })
    const missing = (call: Promise<unknown>) =>
      call.then(
        () => 'ok',
        ({ data }) => data.needed,
      )
    const info = (channel: string) => missing(client.conversations.info({ channel }))

    const response = await fetch(`${slack.apiUrl}users.info`, { method: 'POST', headers: { authorization: `Bearer ${slack.botToken}` } })

    expect([response.headers.get('x-oauth-scopes'), response.headers.get('x-accepted-oauth-scopes')]).toEqual([
      'channels:read,channels:history,groups:read,im:write',
      'users:read',
    ])
    expect([await info(ops), await info('C0SECRET01'), await info('C0MPDM0001'), await info(direct.channel?.id ?? '')]).toEqual([
      'ok',
      'ok',
      'mpim:read',
      'im:read',
    ])
    expect(await missing(client.conversations.history({ channel: 'C0SECRET01' }))).toBe('groups:history')
    expect(await missing(client.conversations.history({ channel: ops }))).toBe('ok')
    expect(await missing(client.usergroups.list())).toBe('usergroups:read')
    expect(await missing(post())).toBe('chat:write')
    expect(await outcome(client.conversations.info({ channel: 'C0NOWHERE1' }))).toBe('channel_not_found')
  })

  test('tells what kind of conversation it is', async () => {
    await start({ scopes: ['channels:read', 'groups:read', 'mpim:read'] })
    slack.workspace.channels.push({ id: 'C0SECRET01', name: 'secret', topic: '', members: [ada, 'U0LOCKKEEP'], isPrivate: true })
    slack.workspace.channels.push({ id: 'C0HIDDEN01', name: 'hidden', topic: '', members: [ada], isPrivate: true })
    const info = async (channel: string) => {
      const answer = await client.conversations.info({ channel })
      return Object.entries(answer.channel ?? {}).flatMap(([name, value]) => (value === true ? [name] : []))
    }

    expect(await info(ops)).toEqual(['is_channel', 'is_member'])
    expect(await info(general)).toEqual(['is_channel', 'is_general'])
    expect(await info('C0SHARED01')).toEqual(['is_channel', 'is_member', 'is_ext_shared', 'is_shared'])
    expect(await info('C0SECRET01')).toEqual(['is_channel', 'is_private', 'is_member'])
    expect(await info('C0MPDM0001')).toEqual(['is_group', 'is_mpim', 'is_private', 'is_member'])
    expect(await outcome(info('C0HIDDEN01'))).toBe('channel_not_found')
  })

  test('people come, change and go', async () => {
    const finn = { id: 'U0FIN00001', name: 'Finn Aalto', handle: 'finn' }
    await start({ people: [finn] })
    const userOf = async (user: string) => (await client.users.info({ user })).user

    slack.setUserGroup('S0ONCALL01', [finn.id])
    slack.setPerson(ada, { deleted: true })
    slack.setPerson('U0BEN00001', { isStranger: true, teamId: 'T0PARTNER1' })

    expect((await client.usergroups.users.list({ usergroup: 'S0ONCALL01' })).users).toEqual([finn.id])
    expect((await client.usergroups.list()).usergroups).toMatchObject([{ id: 'S0ONCALL01', handle: 'oncall', name: 'On call' }])
    expect(await userOf(finn.id)).toMatchObject({ name: 'finn', real_name: 'Finn Aalto', is_restricted: false, team_id: 'T0NIMBUS01' })
    expect(await userOf(ada)).toMatchObject({ deleted: true })
    expect(await userOf('U0BEN00001')).toMatchObject({ is_stranger: true, team_id: 'T0PARTNER1' })
    expect(await userOf('U0EVE00001')).toMatchObject({ real_name: 'Eve Park', is_stranger: true, team_id: 'T0PARTNER1' })
    expect(slack.as(finn.id).sees(general)).toEqual([])
    await slack.as(finn.id).say('Hello', { channel: ops })
    expect(slack.messages(ops)).toMatchObject([{ text: 'Hello', userName: 'Finn Aalto' }])
  })

  test('a broadcast reply stands in the thread and in the channel', async () => {
    const { ts = '' } = await post()
    await client.chat.postMessage({ channel: ops, text: 'Only here', thread_ts: ts })
    const broadcast = await client.chat.postMessage({ channel: ops, text: 'For all', thread_ts: ts, reply_broadcast: true })
    const history = await client.conversations.history({ channel: ops })
    const replies = await client.conversations.replies({ channel: ops, ts })

    expect(broadcast.message).toMatchObject({ subtype: 'thread_broadcast', thread_ts: ts, root: { ts, text: 'Hello' } })
    expect(history.messages?.map(({ text }) => text)).toEqual(['For all', 'Hello'])
    expect(replies.messages?.map(({ text }) => text)).toEqual(['Hello', 'Only here', 'For all'])
    expect(slack.messages(ops)).toMatchObject([
      { text: 'Hello', replyCount: 2 },
      { text: 'For all', threadTs: ts, broadcast: true },
    ])
    expect(slack.transcript(ops)).toMatchInlineSnapshot(`
      "Lockkeeper: Hello
          Lockkeeper: Only here
          Lockkeeper: For all
      Lockkeeper (also sent to the channel): For all"
    `)
  })

  test("tells the time by Slack's own clock", async () => {
    await start({ clockSkewMs: -600_000 })

    const response = await fetch(`${slack.apiUrl}api.test`, { method: 'POST' })

    expect(response.headers.get('date')).toBe(new Date(now - 600_000).toUTCString())
  })

  test('holds to the rate limits when asked to', async () => {
    await start({ limits: true })
    const calls = Array.from({ length: 21 }, () => client.usergroups.users.list({ usergroup: 'S0ONCALL01' }))

    const results = await Promise.allSettled(calls)
    now += 61_000
    const later = await client.usergroups.users.list({ usergroup: 'S0ONCALL01' })

    expect(results.filter((result) => result.status === 'rejected')).toHaveLength(1)
    expect(slack.calls('usergroups.users.list').map((call) => call.status)).toContain(429)
    expect(later.ok).toBe(true)
  })

  test('fails on purpose, as often as asked and only where it fits', async () => {
    const late = slack.faults.add({ method: 'chat.postMessage', kind: '429', retryAfter: 7, when: (args) => args.thread_ts !== undefined })
    const broken = slack.faults.add({ method: '*', kind: 'status', status: 502, skip: 1 })
    slack.faults.add({ method: 'auth.test', kind: 'error', error: 'internal_error' })

    const first = await post()
    await expect(post({ thread_ts: first.ts })).rejects.toMatchObject({ retryAfter: 7 })
    await expect(post()).rejects.toMatchObject({ statusCode: 502 })

    expect(await outcome(client.auth.test())).toBe('internal_error')
    expect([late.fired, broken.fired]).toEqual([1, 1])
    expect(slack.calls('chat.postMessage').map((call) => [call.status, call.fault])).toEqual([
      [200, undefined],
      [429, '429'],
      [502, 'status'],
    ])
  })

  test('the journal never holds a token', async () => {
    await post()
    await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', body: new URLSearchParams({ token: slack.botToken }) })

    expect(slack.calls('auth.test')).toMatchObject([{ status: 200, args: {} }])
    expect(JSON.stringify(slack.journal)).not.toContain(slack.botToken)
  })
})
