import { expect, test } from 'vitest'
import { moveForm } from '../../src/features/moves/ip-move.ts'
import { actionIdOf } from '../../src/kit/change-form.ts'
import { cardButtons } from '../../src/messages/button-ids.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { ops, people, startWorld, untilShown, type World } from '../journeys/world.ts'
import type { RawRequest } from '../sandbox/slack/slack.ts'
import { problemsWithView } from '../sandbox/slack/validate-blocks.ts'

const ada = { id: people.ada, team_id: 'T0NIMBUS01' }
const team = { id: 'T0NIMBUS01' }

const form = (fields: Record<string, string>): RawRequest => ({
  contentType: 'application/x-www-form-urlencoded',
  body: new URLSearchParams(fields).toString(),
})
const json = (body: unknown): RawRequest => ({ contentType: 'application/json', body: JSON.stringify(body) })
const interaction = (payload: unknown): RawRequest => form({ payload: JSON.stringify(payload) })
const of = (type: string, more: object = {}): RawRequest =>
  interaction({ type, user: ada, team, callback_id: 'c', trigger_id: 't', ...more })
const event = (inner: unknown): RawRequest => json({ type: 'event_callback', team_id: team.id, event_id: 'Ev1', event: inner })
const ofEvent = (type: string, more: object = {}): RawRequest => event({ type, user: ada.id, channel: ops, text: 'hi', ts: '1.1', ...more })
const click = (more: object): RawRequest => of('block_actions', { actions: [{ action_id: 'a', block_id: 'b', action_ts: '1' }], ...more })

const input = { type: 'input', block_id: 'server', element: { type: 'plain_text_input', action_id: 'e' } }
const submission = (view: unknown, more: object = {}): RawRequest => of('view_submission', { view, ...more })
const push = expect.objectContaining({ response_action: 'push', view: expect.objectContaining({ type: 'modal' }) })
const atField = { response_action: 'errors', errors: { server: expect.stringMatching(/form/) } }
const answeredAtField = expect.objectContaining({ response_action: 'errors' })
const sentence = { response_type: 'ephemeral', text: expect.stringMatching(/read this command/) }
const noOptions = { options: [] }

/** A payload, and the body of the acknowledgement that Slack expects. Default: an empty one. */
type Row = [RawRequest, unknown?]

/** Payloads without a listener, by Slack's name for them. */
const unhandled: Record<string, Row> = {
  'a closed view': [of('view_closed', { view: { id: 'V1', callback_id: 'c' }, is_cleared: false })],
  'a legacy button': [of('interactive_message', { actions: [{ name: 'b', type: 'button', value: 'v' }] })],
  'a legacy dialog': [of('dialog_submission', { submission: { a: 'b' } })],
  'a step of a workflow': [event({ type: 'function_executed', function: { callback_id: 'f' }, function_execution_id: 'Fx1', inputs: {} })],
  'a message': [ofEvent('message')],
  'a mention': [ofEvent('app_mention')],
  'an event whose members are null': [event({ type: 'reaction_added', user: null, channel: null, item: null })],
  'an event without an event': [json({ type: 'event_callback', team_id: team.id, event_id: 'Ev2' })],
  'the word that events are limited': [json({ type: 'app_rate_limited', team_id: team.id, minute_rate_limited: 1_518_467_820 })],
  'no type': [interaction({ user: ada })],
  'a type that is no word': [interaction({ type: { a: 1 }, user: ada })],
  'nothing that is known': [interaction({})],
  'a list': [json([{ type: 'block_actions' }])],
  'a text': [json('block_actions')],
  'a number': [interaction(7)],
  true: [json(true)],
  'null as JSON': [json(null)],
  'null as a payload': [interaction(null)],
  'a form without any fields': [form({})],
}

const unreadable: Record<string, Row> = {
  'a command of nobody': [form({ command: '/infra', text: 'help', channel_id: ops, trigger_id: 't' }), sentence],
  'a command from nowhere': [form({ command: '/infra', text: 'help', user_id: ada.id, trigger_id: 't' }), sentence],
  'a command without a slash': [form({ command: 'infra', text: 'help', user_id: ada.id, channel_id: ops }), sentence],
  'a click of nobody': [click({ user: undefined })],
  'a click on nothing': [click({ actions: [] })],
  'a click without actions': [click({ actions: undefined })],
  'a click on null': [click({ actions: [null] })],
  'a click without an action id': [click({ actions: [{ type: 'button' }] })],
  'a click in a view without an id': [click({ view: {} })],
  'a shortcut of nobody': [of('shortcut', { user: undefined })],
  'a shortcut without an id': [of('shortcut', { callback_id: undefined })],
  'a message shortcut from nowhere': [of('message_action', { callback_id: 'look-up', message: { ts: '1.1', text: 'web-1' } })],
  'a message shortcut in a channel without an id': [of('message_action', { callback_id: 'look-up', channel: { id: '' } })],
  'a submission of nobody': [submission({ id: 'V1', callback_id: 'c', blocks: [input] }, { user: undefined }), atField],
  'a submission of nothing': [submission(undefined), push],
  'a submission of a view without an id': [submission({ callback_id: 'c', blocks: [{ type: 'divider' }, input] }), atField],
  'a submission of nobody, without an input': [
    submission({ id: 'V1', blocks: [{ type: 'actions', block_id: 'a' }, null] }, { user: undefined }),
    push,
  ],
  'an option load of nobody': [of('block_suggestion', { user: undefined, action_id: 'a', value: 'we' }), noOptions],
  'an option load for nothing': [of('block_suggestion', { value: 'we' }), noOptions],
  'an opened Home tab without a person': [event({ type: 'app_home_opened', tab: 'home' })],
}

/** Sends all of them at once. Returns the status and body of each. */
async function sendAll(world: World, requests: Record<string, Row>) {
  const answers = Object.entries(requests).map(async ([name, [raw]]) => {
    const { status, body } = await world.slack.sendRaw(raw)
    return [name, [status, body.startsWith('{') ? JSON.parse(body) : body]]
  })
  return Object.fromEntries(await Promise.all(answers)) as Record<string, unknown>
}

const expected = (requests: Record<string, Row>) =>
  Object.fromEntries(Object.entries(requests).map(([name, [, body = '']]) => [name, [200, body]]))

function linesLike(world: World, text: RegExp) {
  return world.log.filter((line) => text.test(line)).map((line) => JSON.parse(line) as { kind?: string; members?: string[] })
}

test.each<[string, Record<string, Row>, RegExp, string[]]>([
  ['without a listener', unhandled, /does not handle/, ['view_closed', 'function_executed', 'message', 'app_rate_limited', 'unknown']],
  [
    'that cannot be read',
    unreadable,
    /could not be read/,
    ['command: user_id', 'block_actions: user', 'view_submission: view', 'block_suggestion: action_id'],
  ],
])('a payload %s is acknowledged, a form stays open, and each kind is logged once', async (_, payloads, line, some) => {
  const world = await startWorld()
  const before = world.log.length

  const first = await sendAll(world, payloads)
  const second = await sendAll(world, payloads)

  expect([first, second]).toEqual([expected(payloads), expected(payloads)])
  const kinds = linesLike(world, line).map(({ kind, members }) => (members ? `${kind}: ${members.join()}` : kind))
  expect(kinds).toEqual([...new Set(kinds)])
  expect(kinds).toEqual(expect.arrayContaining(some))
  expect(world.log.slice(before).filter((each) => /"level":"(error|fatal)"|"from":"slack"/.test(each))).toEqual([])
  const [, pushed] = (first['a submission of nothing'] ?? []) as [number?, { view: object }?]
  if (pushed) expect(problemsWithView(pushed.view, 'modal')).toEqual([])
})

test('a person whose command or click cannot be read gets an answer', async () => {
  const world = await startWorld()
  const { payload } = await world.ada.command('/infra help', { channel: ops })
  const responseUrl = String(payload.response_url)
  const metadata = writeMetadata({ origin: { channelId: ops, userId: ada.id, command: '/infra' }, responseUrl })

  await world.slack.sendRaw(click({ actions: [{}], response_url: responseUrl }))
  await untilShown(world.slack, people.ada, /Couldn't read this click\. Nothing was changed\./)
  await world.slack.sendRaw(of('workflow_step_edit', { response_url: responseUrl }))
  await untilShown(world.slack, people.ada, /Lockkeeper doesn't handle this/)
  await world.slack.sendRaw(click({ view: { private_metadata: metadata } }))
  await world.slack.until(() => world.slack.ephemerals(people.ada).filter(({ text }) => /read this click/.test(text)).length === 2)
})

test('an odd member that is not needed hinders nobody', async () => {
  const world = await startWorld()
  await world.ada.command('/infra ip move', { channel: ops })
  const { view } = await world.slack.until(() => world.ada.topView())
  const nulls = { team: null, channel: null, trigger_id: null, response_url: null }
  const odd = { ...nulls, enterprise: 7, is_enterprise_install: 'false', container: [] }
  const submitted = (changes: object): Row => [submission({ ...view, ...changes }, odd)]
  const chosen = (element: unknown) =>
    submitted({ state: { values: { elasticIpId: { [actionIdOf(moveForm, 'elasticIpId')]: element }, serverId: null, reason: 'x' } } })
  const button = { type: 'button', action_id: cardButtons.approve, block_id: null, action_ts: null, value: null, selected_option: null }

  const atFields = await sendAll(world, {
    'no state': submitted({ state: {} }),
    'a state that is null': submitted({ state: null }),
    'no hash': submitted({ state: {}, hash: null }),
    'a value that is null': chosen({ type: 'plain_text_input', value: null }),
    'an option that is null': chosen({ type: 'external_select', selected_option: null }),
    'an option without a text': chosen({ type: 'external_select', selected_option: { value: 'eip_long_gone' } }),
    checkboxes: chosen({ type: 'checkboxes', selected_options: [{ value: 'x' }] }),
    people: chosen({ type: 'multi_users_select', selected_users: [ada.id] }),
  })
  const outOfDate = await sendAll(world, {
    'no metadata': submitted({ private_metadata: null }),
    'no callback id': submitted({ callback_id: null }),
    'an unknown callback id': submitted({ callback_id: 'constructor' }),
  })
  const typed = { action_id: actionIdOf(moveForm, 'elasticIpId'), value: null, view: { ...view, id: null } }
  const loaded = await world.slack.sendRaw(of('block_suggestion', { ...odd, ...typed }))
  for (const actions of [[button, null], [{ ...button, action_id: 'constructor' }]])
    await world.slack.sendRaw(click({ ...odd, message: null, view: null, actions }))
  const bare = { text: null, trigger_id: null, response_url: null, team_id: null }
  await world.slack.sendRaw(json({ command: '/infra', user_id: people.chiara, channel_id: ops, ...bare }))

  expect(atFields).toEqual(Object.fromEntries(Object.keys(atFields).map((name) => [name, [200, answeredAtField]])))
  const outOfDateAnswers = new Set(Object.values(outOfDate).map((answer) => JSON.stringify(answer)))
  expect([...outOfDateAnswers]).toMatchInlineSnapshot(`
    [
      "[200,{"response_action":"errors","errors":{"elasticIpId":"This form is out of date, so nothing was sent. Copy what you need, close it and run the command again."}}]",
    ]
  `)
  expect(JSON.parse(loaded.body).options.length).toBeGreaterThan(1)
  await untilShown(world.slack, people.chiara, /What you can do/)
  const texts = () => world.slack.directMessages(people.ada).map(({ text }) => text)
  await world.slack.until(() => texts().length === 2)
  expect(texts()).toEqual([expect.stringMatching(/button/), expect.stringMatching(/button/)])
  expect(linesLike(world, /could not be read/)).toEqual([expect.objectContaining({ kind: 'view_submission' })])
})

test('no button, form or picker reports a payload without values as a defect', async () => {
  const world = await startWorld()
  const { clicks = {}, submissions = {}, options = {} } = world.bots[0]?.interactions ?? {}
  const metadata = writeMetadata({ origin: { channelId: ops, userId: ada.id, command: '/infra' } })
  const empty = { value: null, selected_option: null, block_id: null }
  const each = (what: string, ids: object, request: (id: string) => RawRequest) =>
    Object.keys(ids).map((id): [string, Row] => [`${what} ${id}`, [request(id)]])
  const view = { private_metadata: metadata, state: {} }
  const requests = [
    ...each('click', clicks, (id) => click({ channel: { id: ops }, actions: [{ action_id: id, ...empty }] })),
    ...each('submission', submissions, (id) => submission({ id: 'V1', callback_id: id, ...view })),
    ...each('options', options, (id) => of('block_suggestion', { action_id: id, ...empty, view })),
  ]

  const answers = await sendAll(world, Object.fromEntries(requests))

  expect(Object.entries(answers).filter(([, answer]) => (answer as unknown[])[0] !== 200)).toEqual([])
  await world.chiara.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.chiara, /What you can do/)
  expect(world.log.filter((line) => /"reference"/.test(line))).toEqual([])
})
