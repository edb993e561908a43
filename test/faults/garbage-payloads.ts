import { parse as parseForm } from 'node:querystring'
import fc from 'fast-check'
import { anyText } from '../any-text.ts'
import { ops, people } from '../journeys/world.ts'
import type { RawRequest } from '../sandbox/slack/slack.ts'

/** Ids that nobody has. If one of them appears as a mention, it came from outside and was not escaped. */
const evil = [
  '<!channel>',
  '<!here>',
  '<!everyone>',
  '<@UEVIL12345>',
  '<#CEVIL12345>',
  '<!subteam^SEVIL12345>',
  '<https://evil.example|web-2>',
]
export const evilMarkup = /<!(channel|here|everyone)[|>]|<@UEVIL|<#CEVIL|<!subteam\^SEVIL|<(https?:\/\/|mailto:)evil/
/**
 * What must not be shown even to the person who typed it. A mention by id is fine there: Slack makes the same of `@name`, and notifies
 * nobody.
 */
export const evilPrivateMarkup = /<!(channel|here|everyone)[|>]|<(https?:\/\/|mailto:)evil/

const piece = fc.oneof(
  fc.constantFrom(...evil),
  fc.constantFrom(
    '&lt;!channel&gt;',
    '&',
    '|',
    '`',
    '*',
    '_',
    '~',
    '>',
    '“',
    '\n',
    '\r\n',
    '\u2028',
    '\t',
    '\0',
    '\u202e',
    '\u200b',
    '\ud83d',
    '👩‍👩‍👧',
  ),
  fc.constantFrom(
    '--',
    '"',
    "'",
    '{',
    '}',
    '%s',

    '../',
    '__proto__',
    'constructor',
    '[object Object]',
    'null',
    '-1',
    '1e999',
    'eip_',
    'sv_',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  anyText({ maxLength: 12 }),
)

/** Text that nobody should send: markup, half characters, direction marks, and sometimes thousands of them. */
export const garbageText = fc.oneof(
  { weight: 8, arbitrary: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')) },
  {
    weight: 1,
    arbitrary: fc.tuple(piece, fc.integer({ min: 1, max: 9_000 })).map(([text, length]) => text.repeat(length).slice(0, length)),
  },
)

/** Any JSON, containing such texts. */
export const garbageJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(garbageText, fc.double(), fc.maxSafeInteger(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom('id', 'data', 'text', 'value', 'type'), fc.string({ maxLength: 8 })), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value

/** What is registered with a bot, and the value of a button that would decide something. */
export interface Known {
  words: string[]
  clicks: string[]
  submissions: string[]
  options: string[]
  blocks: string[]
  buttonValue: string
  cardTs: string
}

const form = 'application/x-www-form-urlencoded'
const userId = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(people.ada, people.ben, people.chiara, people.dov) }, garbageText)
const channelId = fc.oneof({ weight: 8, arbitrary: fc.constant(ops) }, garbageText)

/** Nearly right: each part is what it should be, and seldom other garbage, null or missing. Most of it passes the schemas. */
function or<T>(right: fc.Arbitrary<T>, weight = 60): fc.Arbitrary<T | unknown> {
  return fc.oneof(
    { weight, arbitrary: right },
    { weight: 1, arbitrary: garbageText },
    { weight: 1, arbitrary: garbageJson },
    fc.constant(null),
    fc.constant({}),
    fc.constant(undefined),
  )
}

/** What Slack also sends, or has sent, to apps that subscribe to it. Lockkeeper does not. */
const unusedInteractions = [
  'shortcut',
  'message_action',
  'view_closed',
  'interactive_message',
  'dialog_submission',
  'dialog_suggestion',
  'dialog_cancellation',
  'workflow_step_edit',
]
const unheardEvents = [
  'message',
  'app_mention',
  'function_executed',
  'reaction_added',
  'member_joined_channel',
  'app_uninstalled',
  'tokens_revoked',
]

/** Form elements that the bot does not use keep the choice in other members. */
const otherElement = fc.constantFrom(
  { type: 'checkboxes', selected_options: [{ text: { type: 'plain_text', text: 'x' }, value: 'x' }] },
  { type: 'multi_users_select', selected_users: [people.ada] },
  { type: 'datepicker', selected_date: null },
  { type: 'file_input', files: [] },
)

/** The right value with a defect in it, so that it never decides anything. */
function spoilt(value: string): fc.Arbitrary<string> {
  return fc
    .oneof(
      fc
        .tuple(fc.nat(value.length - 1), fc.constantFrom('0', 'f', 'g', '.', ' ', '<'))
        .map(([at, letter]) => value.slice(0, at) + letter + value.slice(at + 1)),
      garbageText.map((text) => value + text),
      garbageText.map((text) => text + value),
      garbageText,
    )
    .filter((text) => text !== value)
}

/** One request of Slack that is wrong, or nearly right. */
export function garbageRequest(known: Known): fc.Arbitrary<RawRequest> {
  // Unlike every earlier one, so that none counts as a duplicate.
  const once = fc.uuid()
  const origin = fc.record({ teamId: or(fc.constant('T0NIMBUS01')), channelId, userId, command: or(fc.constant('/infra')) })
  const metadata = fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .record({
          version: or(fc.constant(1)),
          origin,
          extra: or(spoilt(known.buttonValue)),
          responseUrl: or(fc.constant('https://evil.example/hook')),
        })
        .map((value) => JSON.stringify(value)),
    },
    garbageText,
    garbageJson.map((value) => JSON.stringify(value)),
  )
  const chosen = fc.record({ text: or(fc.record({ type: fc.constant('plain_text'), text: garbageText })), value: or(garbageText) })
  const element = fc.record({
    type: fc.constant('plain_text_input'),
    value: or(garbageText),
    selected_option: or(chosen),
    selected_user: or(userId),
  })
  const state = or(
    fc.record({
      values: or(
        fc.dictionary(
          fc.constantFrom(...known.blocks),
          or(fc.record({ e: fc.oneof({ weight: 9, arbitrary: or(element) }, otherElement) })),
        ),
      ),
    }),
  )
  const view = fc.record({
    id: or(once),
    type: or(fc.constantFrom('modal', 'home')),
    hash: or(once),
    blocks: or(fc.array(fc.record({ type: or(fc.constant('input')), block_id: or(fc.constantFrom(...known.blocks)) }), { maxLength: 3 })),
    callback_id: or(fc.constantFrom(...known.submissions)),
    private_metadata: metadata,
    state,
  })
  const person = fc.record({ id: userId, team_id: or(fc.constant('T0NIMBUS01')) })
  const surroundings = {
    user: or(person),
    team: or(fc.constant({ id: 'T0NIMBUS01' })),
    channel: or(channelId.map((id) => ({ id }))),
    trigger_id: or(once),
    response_url: or(fc.constant('https://evil.example/hook')),
    enterprise: or(fc.constant(null)),
    is_enterprise_install: or(fc.constantFrom(true, false, 'false')),
  }

  const command = fc
    .record({
      command: fc.oneof(
        { weight: 8, arbitrary: fc.constant('/infra') },
        garbageText.map((text) => `/${text}`),
      ),
      text: fc.tuple(fc.constantFrom('', ...known.words), garbageText).map(([words, text]) => `${words} ${text}`),
      user_id: userId,
      channel_id: channelId,
      team_id: fc.constant('T0NIMBUS01'),
      trigger_id: once,
    })
    .map((fields): RawRequest => ({ contentType: form, body: new URLSearchParams(fields).toString() }))
  // Over Socket Mode commands arrive as JSON, so their members can have any shape.
  const oddCommand = fc
    .record({
      command: or(fc.constant('/infra')),
      text: or(garbageText),
      user_id: or(userId),
      channel_id: or(channelId),
      team_id: or(fc.constant('T0NIMBUS01')),
      trigger_id: or(once),
      response_url: or(fc.constant('https://evil.example/hook')),
    })
    .map((fields): RawRequest => ({ contentType: 'application/json', body: JSON.stringify(fields) }))
  const action = fc.record({
    type: fc.constant('button'),
    action_id: or(fc.constantFrom(...known.clicks)),
    block_id: or(fc.constantFrom(...known.blocks)),
    action_ts: or(once),
    value: or(spoilt(known.buttonValue)),
    selected_option: or(chosen),
  })
  const click = fc.record({
    type: fc.constant('block_actions'),
    ...surroundings,
    container: or(fc.record({ message_ts: or(fc.constant(known.cardTs)) })),
    actions: or(fc.array(or(action), { minLength: 1, maxLength: 2 })),
    view: or(view),
  })
  const submission = fc.record({ type: fc.constant('view_submission'), ...surroundings, view: or(view) })
  const options = fc.record({
    type: fc.constant('block_suggestion'),
    ...surroundings,
    action_id: or(fc.constantFrom(...known.options)),
    block_id: or(fc.constantFrom(...known.blocks)),
    value: or(garbageText),
    view: or(view),
  })
  const unused = fc.record({
    type: or(fc.constantFrom(...unusedInteractions)),
    ...surroundings,
    callback_id: or(fc.constantFrom(...known.submissions)),
    name: or(fc.constant(undefined)),
    actions: or(fc.constantFrom(undefined, [{ name: 'b', type: 'button', value: 'v' }])),
    view: or(view),
  })
  const interaction = fc
    .oneof(
      { weight: 3, arbitrary: click },
      { weight: 3, arbitrary: submission },
      { weight: 2, arbitrary: options },
      { weight: 2, arbitrary: unused },
      garbageJson,
    )
    .map((payload): RawRequest => ({ contentType: form, body: new URLSearchParams({ payload: JSON.stringify(payload) ?? '' }).toString() }))
  const event = fc
    .record({
      type: fc.constant('event_callback'),
      team_id: or(fc.constant('T0NIMBUS01')),
      event_id: or(once),
      event: or(
        fc.record({
          type: fc.oneof({ weight: 2, arbitrary: fc.constant('app_home_opened') }, fc.constantFrom(...unheardEvents)),
          user: or(userId),
          channel: or(channelId),
          item: or(fc.constant(undefined)),
          tab: or(fc.constant('home')),
        }),
        12,
      ),
    })
    .map((payload): RawRequest => ({ contentType: 'application/json', body: JSON.stringify(payload) }))
  const anything = fc
    .tuple(
      fc.oneof(
        garbageText,
        garbageJson.map((value) => JSON.stringify(value)),
      ),
      fc.constantFrom(form, 'application/json', 'text/plain'),
    )
    .map(([body, contentType]): RawRequest => ({ contentType, body }))

  return fc.oneof(
    { weight: 4, arbitrary: command },
    { weight: 1, arbitrary: oddCommand },
    { weight: 8, arbitrary: interaction },
    { weight: 2, arbitrary: event },
    { weight: 1, arbitrary: anything },
  )
}

/** The status for a signed request: 200 for content of any kind, which is a form, or JSON, alone or as the form's `payload`. */
export function statusFor(request: RawRequest): number {
  if (request.contentType === 'text/plain') return 415
  return hasContent(request) ? 200 : 400
}

function hasContent({ contentType, body }: RawRequest): boolean {
  // Slack never sends JSON as a form.
  if (contentType === form && /^\s*["[{]/.test(body)) return false
  const payload = contentType === form ? parseForm(body).payload : body
  if (typeof payload !== 'string') return true
  try {
    JSON.parse(payload)
    return true
  } catch {
    return false
  }
}

/** An answer of the account API: any JSON, or the real answer with some values replaced. */
export const garbageAnswer: fc.Arbitrary<(body: unknown) => unknown> = fc.oneof(
  { weight: 1, arbitrary: garbageJson.map((value) => () => value) },
  {
    weight: 6,
    arbitrary: fc
      .array(fc.tuple(fc.nat(10_000), fc.oneof({ weight: 3, arbitrary: garbageText as fc.Arbitrary<unknown> }, garbageJson)), {
        minLength: 1,
        maxLength: 40,
      })
      .map((changes) => (body: unknown) => replaceValues(body, changes)),
  },
)

function replaceValues(body: unknown, changes: [number, unknown][]): unknown {
  const copy = structuredClone(body)
  const places: [Record<string, unknown>, string][] = []
  collect(copy, places)
  for (const [pick, value] of changes) {
    const place = places[pick % places.length]
    if (place) place[0][place[1]] = value
  }
  return copy
}

function collect(value: unknown, places: [Record<string, unknown>, string][]): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value)) {
    places.push([value as Record<string, unknown>, name])
    collect(part, places)
  }
}
