import { expect, test } from 'vitest'
import { moveForm } from '../../src/features/ip-move.ts'
import { actionIdOf } from '../../src/kit/form.ts'
import { cardButtons } from '../../src/messages/words.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { ops, people, startWorld, untilShown, type World } from '../journeys/world.ts'
import type { RawRequest } from '../sandbox/slack/slack.ts'
import { problemsWithView } from '../sandbox/slack/validate-blocks.ts'

const form = 'application/x-www-form-urlencoded'
const json = 'application/json'

const ada = { id: people.ada, team_id: 'T0NIMBUS01' }
const team = { id: 'T0NIMBUS01' }

const interaction = (payload: unknown): RawRequest => ({
  contentType: form,
  body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString(),
})
const event = (inner: unknown): RawRequest => bodyOf({ type: 'event_callback', team_id: team.id, event_id: 'Ev1', event: inner })
const bodyOf = (body: unknown): RawRequest => ({ contentType: json, body: JSON.stringify(body) })
const command = (fields: Record<string, string>): RawRequest => ({ contentType: form, body: new URLSearchParams(fields).toString() })

const input = { type: 'input', block_id: 'server', element: { type: 'plain_text_input', action_id: 'e' } }
const push = expect.objectContaining({ response_action: 'push', view: expect.objectContaining({ type: 'modal' }) })
const atField = (blockId: string) => ({ response_action: 'errors', errors: { [blockId]: expect.stringMatching(/form/) } })
const sentence = { response_type: 'ephemeral', text: expect.stringMatching(/read this command/) }
const empty = ''
const noOptions = { options: [] }
const answeredAtField = expect.objectContaining({ response_action: 'errors' })

/** Payloads without a listener, by Slack's name for them, and the acknowledgement that Slack expects. */
const unhandled: Record<string, [RawRequest, unknown]> = {
  'a closed view': [interaction({ type: 'view_closed', user: ada, team, view: { id: 'V1', callback_id: 'c' }, is_cleared: false }), empty],
  'a step of a workflow to edit': [interaction({ type: 'workflow_step_edit', callback_id: 'c', user: ada, team }), empty],
  'a legacy button': [
    interaction({ type: 'interactive_message', callback_id: 'c', user: ada, team, actions: [{ name: 'b', type: 'button', value: 'v' }] }),
    empty,
  ],
  'a legacy dialog': [interaction({ type: 'dialog_submission', callback_id: 'c', user: ada, team, submission: { a: 'b' } }), empty],
  'a canceled legacy dialog': [interaction({ type: 'dialog_cancellation', callback_id: 'c', user: ada, team }), empty],
  'a step of a workflow': [
    event({
      type: 'function_executed',
      function: { callback_id: 'f' },
      function_execution_id: 'Fx1',
      inputs: {},
      bot_access_token: 'xwfp-1',
    }),
    empty,
  ],
  'a message': [event({ type: 'message', user: ada.id, channel: ops, text: 'hi', ts: '1.1' }), empty],
  'a mention': [event({ type: 'app_mention', user: ada.id, channel: ops, text: 'hi', ts: '1.1' }), empty],
  'an event whose members are null': [event({ type: 'reaction_added', user: null, channel: null, item: null }), empty],
  'an event without an event': [bodyOf({ type: 'event_callback', team_id: team.id, event_id: 'Ev2' }), empty],
  'an event that is null': [event(null), empty],
  'the word that events are limited': [bodyOf({ type: 'app_rate_limited', team_id: team.id, minute_rate_limited: 1_518_467_820 }), empty],
  'a type to come': [interaction({ type: 'hologram_waved', user: ada }), empty],
  'no type': [interaction({ user: ada }), empty],
  'a type that is no word': [interaction({ type: { a: 1 }, user: ada }), empty],
  'nothing that is known': [interaction({}), empty],
  'a list': [bodyOf([{ type: 'block_actions' }]), empty],
  'a text': [bodyOf('block_actions'), empty],
  'a number': [interaction(7), empty],
  true: [bodyOf(true), empty],
  'null as JSON': [bodyOf(null), empty],
  'null as a payload': [interaction(null), empty],
  'a form without any fields': [{ contentType: form, body: '' }, empty],
}

/** Payloads without a member that is indispensable. */
const unreadable: Record<string, [RawRequest, unknown]> = {
  'a command of nobody': [command({ command: '/infra', text: 'help', channel_id: ops, trigger_id: 't' }), sentence],
  'a command from nowhere': [command({ command: '/infra', text: 'help', user_id: ada.id, trigger_id: 't' }), sentence],
  'a command without a slash': [command({ command: 'infra', text: 'help', user_id: ada.id, channel_id: ops }), sentence],
  'a click of nobody': [interaction({ type: 'block_actions', actions: [{ action_id: 'a', block_id: 'b', action_ts: '1' }] }), empty],
  'a click of null': [interaction({ type: 'block_actions', user: null, actions: [{ action_id: 'a', block_id: 'b' }] }), empty],
  'a click of somebody without an id': [interaction({ type: 'block_actions', user: {}, actions: [{ action_id: 'a' }] }), empty],
  'a click on nothing': [interaction({ type: 'block_actions', user: ada, actions: [] }), empty],
  'a click without actions': [interaction({ type: 'block_actions', user: ada }), empty],
  'a click on null': [interaction({ type: 'block_actions', user: ada, actions: [null] }), empty],
  'clicks that are null': [interaction({ type: 'block_actions', user: ada, actions: null }), empty],
  'a click without an action id': [interaction({ type: 'block_actions', user: ada, actions: [{ type: 'button' }] }), empty],
  'a click in a view without an id': [interaction({ type: 'block_actions', user: ada, actions: [{ action_id: 'a' }], view: {} }), empty],
  'a shortcut of nobody': [interaction({ type: 'shortcut', callback_id: 'c', trigger_id: 't', team }), empty],
  'a shortcut without an id': [interaction({ type: 'shortcut', trigger_id: 't', user: ada, team }), empty],
  'a message shortcut from nowhere': [
    interaction({
      type: 'message_action',
      callback_id: 'look-up',
      trigger_id: 't',
      user: ada,
      team,
      message: { ts: '1.1', text: 'web-1' },
    }),
    empty,
  ],
  'a message shortcut in a channel without an id': [
    interaction({ type: 'message_action', callback_id: 'look-up', trigger_id: 't', user: ada, team, channel: { id: '' } }),
    empty,
  ],
  'a submission of nobody': [
    interaction({ type: 'view_submission', view: { id: 'V1', callback_id: 'c', blocks: [input] } }),
    atField('server'),
  ],
  'a submission of nothing': [interaction({ type: 'view_submission', user: ada }), push],
  'a submission of null': [interaction({ type: 'view_submission', user: ada, view: null }), push],
  'a submission of a view without an id': [
    interaction({ type: 'view_submission', user: ada, view: { callback_id: 'c', blocks: [{ type: 'divider' }, input] } }),
    atField('server'),
  ],
  'a submission of nobody, without an input': [
    interaction({ type: 'view_submission', view: { id: 'V1', blocks: [{ type: 'actions', block_id: 'a' }, null] } }),
    push,
  ],
  'an option load of nobody': [interaction({ type: 'block_suggestion', action_id: 'a', block_id: 'b', value: 'we' }), noOptions],
  'an option load of null': [interaction({ type: 'block_suggestion', user: null, action_id: 'a', value: 'we' }), noOptions],
  'an option load for nothing': [interaction({ type: 'block_suggestion', user: ada, value: 'we' }), noOptions],
  'an opened Home tab without a person': [event({ type: 'app_home_opened', tab: 'home' }), empty],
  'an opened Home tab of the person null': [event({ type: 'app_home_opened', user: null, channel: null, tab: 'home' }), empty],
}

/** Sends all of them at once. Returns the status and body of each, or `late` for an answer after 2 s. */
async function sendAll(world: World, requests: Record<string, [RawRequest, unknown?]>) {
  const answers = Object.entries(requests).map(async ([name, [raw]]) => {
    const began = performance.now()
    const { status, body } = await world.slack.sendRaw(raw)
    const isLate = performance.now() - began > 2_000
    return [name, [isLate ? 'late' : status, body.startsWith('{') ? JSON.parse(body) : body]]
  })
  return Object.fromEntries(await Promise.all(answers)) as Record<string, unknown>
}

function expected(requests: Record<string, [RawRequest, unknown]>) {
  return Object.fromEntries(Object.entries(requests).map(([name, [, body]]) => [name, [200, body]]))
}

function linesLike(world: World, text: RegExp) {
  return world.log.filter((line) => text.test(line)).map((line) => JSON.parse(line) as { kind?: string; members?: string[] })
}

test('a payload without a listener is acknowledged at once, and logged once for its kind', async () => {
  const world = await startWorld()
  const before = world.log.length

  const first = await sendAll(world, unhandled)
  const second = await sendAll(world, unhandled)

  expect([first, second]).toEqual([expected(unhandled), expected(unhandled)])
  const kinds = linesLike(world, /does not handle/).map(({ kind }) => kind)
  expect(kinds).toEqual([...new Set(kinds)])
  expect(kinds).toEqual(
    expect.arrayContaining(['workflow_step_edit', 'view_closed', 'function_executed', 'message', 'app_rate_limited', 'unknown']),
  )
  expect(world.log.slice(before).filter((line) => /"level":"(error|fatal)"|"from":"slack"/.test(line))).toEqual([])
}, 30_000)

test('a payload that cannot be read is acknowledged at once, a form stays open, and each kind is logged once', async () => {
  const world = await startWorld()
  const before = world.log.length

  const first = await sendAll(world, unreadable)
  const second = await sendAll(world, unreadable)

  expect([first, second]).toEqual([expected(unreadable), expected(unreadable)])
  const lines = linesLike(world, /could not be read/).map(({ kind, members }) => `${kind}: ${members?.join()}`)
  expect(lines).toEqual([...new Set(lines)])
  expect(lines).toEqual(
    expect.arrayContaining(['command: user_id', 'block_actions: user', 'view_submission: view', 'block_suggestion: action_id']),
  )
  expect(world.log.slice(before).filter((line) => /"level":"(error|fatal)"|"from":"slack"/.test(line))).toEqual([])
  const [, pushed] = first['a submission of nothing'] as [number, { view: object }]
  expect(problemsWithView(pushed.view, 'modal')).toEqual([])
}, 30_000)

test('a person whose command or click cannot be read gets an answer', async () => {
  const world = await startWorld()
  const { payload } = await world.ada.command('/infra help', { channel: ops })
  const responseUrl = String(payload.response_url)
  const metadata = writeMetadata({ origin: { channelId: ops, userId: ada.id, command: '/infra' }, responseUrl })

  await world.slack.sendRaw(interaction({ type: 'block_actions', user: ada, actions: [{}], response_url: responseUrl }))
  await untilShown(world.slack, people.ada, /Couldn't read this click\. Nothing was changed\./)
  await world.slack.sendRaw(interaction({ type: 'workflow_step_edit', user: ada, response_url: responseUrl }))
  await untilShown(world.slack, people.ada, /Lockkeeper doesn't handle this/)
  await world.slack.sendRaw(
    interaction({ type: 'block_actions', user: ada, actions: [{ action_id: 'a' }], view: { private_metadata: metadata } }),
  )
  await world.slack.until(() => world.slack.ephemerals(people.ada).filter(({ text }) => /read this click/.test(text)).length === 2)
})

test('an odd member that is not needed hinders nobody', async () => {
  const world = await startWorld()
  await world.ada.command('/infra ip move', { channel: ops })
  const { view } = await world.slack.until(() => world.ada.topView())
  const odd = {
    team: null,
    enterprise: 7,
    channel: null,
    trigger_id: null,
    response_url: null,
    is_enterprise_install: 'false',
    container: [],
  }
  const submission = (changes: object): [RawRequest] => [
    interaction({ type: 'view_submission', user: ada, ...odd, view: { ...view, ...changes } }),
  ]
  const chosen = (element: unknown) =>
    submission({ state: { values: { elasticIpId: { [actionIdOf(moveForm, 'elasticIpId')]: element }, serverId: null, reason: 'x' } } })
  const button = { type: 'button', action_id: cardButtons.approve, block_id: null, action_ts: null, value: null, selected_option: null }

  const submitted = await sendAll(world, {
    'no state': submission({ state: {} }),
    'a state that is null': submission({ state: null }),
    'no hash': submission({ state: {}, hash: null }),
    'a value that is null': chosen({ type: 'plain_text_input', value: null }),
    'an option that is null': chosen({ type: 'external_select', selected_option: null }),
    'an option without a text': chosen({ type: 'external_select', selected_option: { value: 'eip_long_gone' } }),
    checkboxes: chosen({ type: 'checkboxes', selected_options: [{ value: 'x' }] }),
    people: chosen({ type: 'multi_users_select', selected_users: [ada.id] }),
  })
  const outOfDate = await sendAll(world, {
    'no metadata': submission({ private_metadata: null }),
    'no callback id': submission({ callback_id: null }),
    'an unknown callback id': submission({ callback_id: 'constructor' }),
  })
  const typed = {
    type: 'block_suggestion',
    user: ada,
    ...odd,
    action_id: actionIdOf(moveForm, 'elasticIpId'),
    value: null,
    view: { ...view, id: null },
  }
  const loaded = await world.slack.sendRaw(interaction(typed))
  const pressed = { type: 'block_actions', user: ada, ...odd, message: null, view: null }
  await world.slack.sendRaw(interaction({ ...pressed, actions: [button, null] }))
  await world.slack.sendRaw(interaction({ ...pressed, actions: [{ ...button, action_id: 'constructor' }] }))
  const bare = { text: null, trigger_id: null, response_url: null, team_id: null }
  await world.slack.sendRaw(bodyOf({ command: '/infra', user_id: people.chiara, channel_id: ops, ...bare }))

  expect(submitted).toEqual(Object.fromEntries(Object.keys(submitted).map((name) => [name, [200, answeredAtField]])))
  const outOfDateAnswers = new Set(Object.values(outOfDate).map((answer) => JSON.stringify(answer)))
  expect([...outOfDateAnswers]).toMatchInlineSnapshot(`
    [
      "[200,{"response_action":"errors","errors":{"elasticIpId":"This form is out of date, so nothing was sent. Copy what you need, close it and run the command again."}}]",
    ]
  `)
  expect(JSON.parse(loaded.body).option_groups[0].options.length).toBeGreaterThan(1)
  await untilShown(world.slack, people.chiara, /What you can do/)
  const texts = () => world.slack.directMessages(people.ada).map(({ text }) => text)
  await world.slack.until(() => texts().length === 2)
  expect(texts()).toEqual([expect.stringMatching(/button/), expect.stringMatching(/button/)])
  expect(linesLike(world, /could not be read/)).toEqual([expect.objectContaining({ kind: 'view_submission' })])
}, 30_000)

test('no button, form or picker reports a payload without values as a defect', async () => {
  const world = await startWorld()
  const { clicks = {}, submissions = {}, options = {} } = world.bots[0]?.interactions ?? {}
  const metadata = writeMetadata({ origin: { channelId: ops, userId: ada.id, command: '/infra' } })
  const empty = { value: null, selected_option: null, block_id: null }
  const each = (what: string, ids: object, payload: (id: string) => object) =>
    Object.keys(ids).map((id): [string, [RawRequest]] => [`${what} ${id}`, [interaction({ user: ada, ...payload(id) })]])
  const requests = [
    ...each('click', clicks, (id) => ({ type: 'block_actions', channel: { id: ops }, actions: [{ action_id: id, ...empty }] })),
    ...each('submission', submissions, (id) => ({
      type: 'view_submission',
      view: { id: 'V1', callback_id: id, private_metadata: metadata, state: {} },
    })),
    ...each('options', options, (id) => ({
      type: 'block_suggestion',
      action_id: id,
      ...empty,
      view: { private_metadata: metadata, state: {} },
    })),
  ]

  const answers = await sendAll(world, Object.fromEntries(requests))

  expect(Object.entries(answers).filter(([, answer]) => (answer as unknown[])[0] !== 200)).toEqual([])
  await world.chiara.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.chiara, /What you can do/)
  expect(world.log.filter((line) => /"reference"/.test(line))).toEqual([])
}, 30_000)

test('none of these payloads is acknowledged without a signature of Slack', async () => {
  const world = await startWorld()

  const requests = [...Object.values(unhandled), ...Object.values(unreadable)].map(([raw]) => ({
    ...raw,
    signature: `v0=${'0'.repeat(64)}`,
  }))
  const answers = await Promise.all(requests.map((raw) => world.slack.sendRaw(raw)))

  expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 401))
  expect(linesLike(world, /could not be read|does not handle/)).toEqual([])
})
