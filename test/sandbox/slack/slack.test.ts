import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { recordedPayloads } from '../../bolt/recorded-payloads.ts'
import { isObject, type Json } from './json.ts'
import { unlikeSdk } from './sdk-types.ts'
import {
  actions,
  ada,
  ben,
  button,
  general,
  input,
  modal,
  mrkdwn,
  ops,
  outcomeOf,
  plain,
  quietClient,
  section,
  startScripted,
} from './slack-for-test.ts'

const hello = { channel: ops, text: 'Hello' }

test("the Web API refuses with Slack's errors", async () => {
  const { slack, client } = await startScripted({ scopes: ['channels:read', 'chat:write'] })
  const post = (more: object) => outcomeOf(client.chat.postMessage({ ...hello, ...more } as never))
  const long = Array(5).fill(section({ text: mrkdwn('x'.repeat(2_000)) }))
  const said = await slack.as(ada).say('Mine', { channel: ops })

  expect(await outcomeOf(quietClient(slack, 'xoxb-wrong').auth.test())).toBe('invalid_auth')
  expect(await outcomeOf(client.conversations.info({ channel: ops }))).toBe('ok')
  expect(await outcomeOf(client.conversations.info({ channel: 'C0MPDM0001' }))).toBe('missing_scope')
  expect(await outcomeOf(client.users.info({ user: ada }))).toBe('missing_scope')
  expect(await post({ channel: 'C0NOWHERE1' })).toBe('channel_not_found')
  expect(await post({ channel: general })).toBe('not_in_channel')
  expect(await post({ text: 'a'.repeat(4001) })).toBe('msg_too_long')
  expect(await post({ thread_ts: '1.000001' })).toBe('thread_not_found')
  expect(await post({ blocks: [{ type: 'header' }] })).toBe('invalid_blocks')
  expect(await post({ blocks: long })).toBe('ok')
  expect(await post({ blocks: [...long, section()] })).toBe('msg_blocks_too_long')
  expect(await outcomeOf(client.chat.update({ channel: ops, ts: said?.ts ?? '', text: 'x' }))).toBe('cant_update_message')
  slack.kickBot('ops')
  expect(await post({})).toBe('not_in_channel')
  await slack.as(ada).say('/invite @Lockkeeper', { channel: ops })
  expect(await post({})).toBe('ok')
  slack.archive('ops')
  expect(await post({})).toBe('is_archived')
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
  const command = async () => (await asAda.command('/infra', { channel: 'ops' })).payload
  const open = async (view: never) => scripted.client.views.open({ trigger_id: String((await command()).trigger_id), view })
  return { ...scripted, card, asAda, asBen: scripted.slack.as(ben), command, open }
}

/** Content is the bot's own, and `unlikeSdk` follows messages. */
const notFollowed = /(^|\.)(blocks|values|message)$/

/** The types that the members of payloads have, by where they are: at the top by kind, and below in whatever payload. */
function shapeOf(payloads: Json[]): Map<string, Set<string>> {
  const shape = new Map<string, Set<string>>()
  const add = (at: string, value: unknown) => {
    shape.set(at, (shape.get(at) ?? new Set()).add(value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value))
  }
  const follow = (at: string, value: unknown) => {
    if (notFollowed.test(at)) return
    for (const one of [value].flat()) {
      for (const [name, inner] of Object.entries(isObject(one) ? one : {})) {
        add(`${at}.${name}`, inner)
        follow(`${at}.${name}`, inner)
      }
    }
  }
  for (const payload of payloads) {
    for (const [name, value] of Object.entries(payload)) {
      add(`${payload.type ?? 'command'}: ${name}`, value)
      follow(name, value)
    }
  }
  return shape
}

test('what the bot receives has only members that the SDKs of Slack record, with their types', async () => {
  const { bot, client, asAda, asBen, card, open } = await startWithCard()
  const web2 = { text: plain('web-2 (Madrid)'), value: 'sv_22mUQSvUfeqdv' }
  bot.answer(({ type }) => (type === 'block_suggestion' ? { body: { options: [web2] } } : {}))
  const server = input('Server', { type: 'external_select', min_query_length: 2 }, { dispatch_action: true })

  await asAda.command('/infra @ben #ops @oncall @here https://example.com web.example.com a&b <c>', { channel: 'ops' })
  await asBen.click(card, 'Go')
  await open(modal('One', { private_metadata: 'C0OPS00001', blocks: [server, input('Note', undefined, { optional: true })] }))
  const tooShort = await asAda.search(undefined, 'Server', 'w')
  const refused = await asAda.submit()
  await expect(asAda.fill(undefined, { Server: 'db' })).rejects.toThrow('"Server" offers no "db"; there is: web-2 (Madrid).')
  await asAda.fill(undefined, { Server: web2.value })
  await asAda.submit()
  await asAda.globalShortcut('use')
  await asAda.messageShortcut(card, 'use')
  await asAda.openHome()
  await client.views.publish({ user_id: ada, view: { type: 'home', blocks: [{ type: 'header', text: plain('Lockkeeper') }] } })
  await asAda.openHome()

  expect(tooShort).toMatchObject({ outcome: 'not-sent', options: [] })
  expect(refused).toMatchObject({ outcome: 'not-sent', errors: { Server: 'Please complete this required field.' } })
  const sent = bot.received.map(({ payload }) => payload)
  expect(sent[0]?.text).toBe(
    '<@U0BEN00001|ben> <#C0OPS00001|ops> <!subteam^S0ONCALL01|@oncall> <!here> <https://example.com> <http://web.example.com|web.example.com> a&amp;b &lt;c&gt;',
  )
  const kinds = recordedPayloads.map(({ body }) => body.type ?? 'command')
  expect(new Set(sent.map(({ type = 'command' }) => type))).toEqual(new Set(kinds))
  const recorded = shapeOf(recordedPayloads.map(({ body }) => body))
  const fits = (at: string, type: string) => {
    const types = recorded.get(at)
    // Null was recorded where there was nothing.
    return types !== undefined && (types.has(type) || type === 'null' || [...types].join() === 'null')
  }
  const unlike = [...shapeOf(sent)].filter(([at, types]) => ![...types].every((type) => fits(at, type)))
  // Forms of commands have no booleans.
  expect(unlike).toEqual([['command: is_enterprise_install', new Set(['string'])]])
})

test('what the Web API answers has only members that the SDK knows, with their types', async () => {
  const { slack, client, command } = await startWithCard()
  const posted = await client.chat.postMessage(hello)
  const ts = String(posted.ts)
  await client.chat.update({ ...hello, ts, text: 'Hello again' })
  await client.chat.postMessage({ ...hello, thread_ts: ts, reply_broadcast: true })
  await client.chat.postEphemeral({ ...hello, user: ada })
  await client.conversations.info({ channel: ops })
  await client.conversations.members({ channel: ops })
  await client.conversations.history({ channel: ops })
  await client.conversations.replies({ channel: ops, ts })
  await client.chat.delete({ channel: ops, ts })
  await client.users.info({ user: ada })
  await client.users.list({})
  await client.usergroups.list()
  await client.usergroups.users.list({ usergroup: slack.workspace.userGroups[0]?.id ?? '' })
  const { view } = await client.views.open({ trigger_id: String((await command()).trigger_id), view: modal('One') })
  await client.views.update({ view_id: view?.id ?? '', view: modal('Two') })
  await client.views.publish({ user_id: ada, view: { type: 'home', blocks: [] } })
  await client.auth.test()
  await client.api.test()
  await quietClient(slack, slack.appToken).apps.connections.open({})

  const described = ['web-api.ts', 'web-api-messages.ts'].flatMap((file) => [
    ...readFileSync(new URL(file, import.meta.url), 'utf8').matchAll(/^ {4}'([\w.]+)': \{/gm),
  ])
  expect(new Set(slack.journal.map(({ method }) => method))).toEqual(new Set(described.map(([, method]) => method)))
  expect(slack.journal.filter(({ result }) => !result.ok)).toEqual([])
  const unlike = slack.journal.flatMap(({ method, result }) => unlikeSdk(method, JSON.parse(JSON.stringify(result))))
  // docs.slack.dev, "User object", for people of other workspaces, and "thread_broadcast" for replies in the channel.
  expect(new Set(unlike)).toEqual(new Set(['conversations.replies.messages[].subtype', 'users.list.members[].is_stranger']))
})

test('a response URL works five times in half an hour, and a trigger once within three seconds', async () => {
  const { slack, client, clock, command } = await startWithCard()
  const [used, late] = [await command(), await command()]
  const post = async ({ response_url: url }: Json) =>
    (await fetch(String(url), { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"Hello"}' })).status
  const open = ({ trigger_id: id }: Json) => outcomeOf(client.views.open({ trigger_id: String(id), view: modal('One') }))

  expect([await open(used), await open(used)]).toEqual(['ok', 'exchanged_trigger_id'])
  const statuses: number[] = []
  for (let times = 0; times < 6; times++) statuses.push(await post(used))
  expect(statuses).toEqual([200, 200, 200, 200, 200, 404])
  clock.now += 3001
  expect(await open(late)).toBe('expired_trigger_id')
  clock.now += 30 * 60_000
  expect(await post(late)).toBe(404)
  expect(slack.ephemerals(ada)).toHaveLength(5)
})

test('a modal stays, and Slack shows a notice, if the answer is late, an error or one that Slack cannot use', async () => {
  const { bot, asAda, open } = await startWithCard()
  await open(modal('One', { blocks: [section()] }))

  for (const answer of [{ body: { response_action: 'errors', errors: { Nowhere: 'no such block' } } }, { hold: true }, { status: 500 }]) {
    bot.answer(() => answer)
    expect((await asAda.submit()).notice).toBe('We had some trouble connecting. Try again?')
  }
  expect(asAda.openViews().map(({ title }) => title)).toEqual(['One'])
})
