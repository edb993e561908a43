import { parse as parseForm } from 'node:querystring'
import fc from 'fast-check'
import { anyText } from '../any-text.ts'
import { ops, people } from '../journeys/world.ts'
import type { RawRequest } from '../sandbox/slack/slack.ts'

/** Ids that nobody has. If one of them appears as a mention, it came from outside and was not escaped. */
const evil = '<!channel> <!here> <!everyone> <@UEVIL12345> <#CEVIL12345> <!subteam^SEVIL12345> <https://evil.example|web-2>'.split(' ')
export const evilMarkup = /<!(channel|here|everyone)[|>]|<@UEVIL|<#CEVIL|<!subteam\^SEVIL|<(https?:\/\/|mailto:)evil/
/**
 * What must not be shown even to the person who typed it. A mention by id is fine there: Slack makes the same of `@name`, and notifies
 * nobody.
 */
export const evilPrivateMarkup = /<!(channel|here|everyone)[|>]|<(https?:\/\/|mailto:)evil/

const marks = ['\n', '\r\n', '\u2028', '\t', '\0', '\u202e', '\u200b', '\ud83d', '👩‍👩‍👧', ...'&|`*_~>“"\'{}']
const words = '&lt;!channel&gt; -- %s ../ __proto__ constructor [object_Object] null -1 1e999 eip_ sv_'.split(' ')
const piece = fc.oneof(
  fc.constantFrom(...evil),
  fc.constantFrom(...marks, ...words),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  anyText({ maxLength: 12 }),
)

/** Text that nobody should send: markup, half characters, direction marks, and sometimes thousands of them. */
export const garbageText = fc.oneof(
  often(
    8,
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  ),
  fc.tuple(piece, fc.integer({ min: 1, max: 9_000 })).map(([text, length]) => text.repeat(length).slice(0, length)),
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

function often<T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.WeightedArbitrary<T> {
  return { weight, arbitrary }
}

const form = 'application/x-www-form-urlencoded'
const userId = fc.oneof(often(8, fc.constantFrom(...Object.values(people))), garbageText)
const channelId = fc.oneof(often(8, fc.constant(ops)), garbageText)

/** Nearly right: each part is what it should be, and seldom other garbage, null or missing. Most of it passes the schemas. */
function or<T>(right: fc.Arbitrary<T>, weight = 60): fc.Arbitrary<T | unknown> {
  return fc.oneof(often(weight, right), garbageText, garbageJson, fc.constantFrom(null, {}, undefined))
}

const orOf = <T>(...right: T[]) => or(fc.constantFrom(...right))

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

const asForm = (fields: Record<string, string>): RawRequest => ({ contentType: form, body: new URLSearchParams(fields).toString() })
const asJson = (body: unknown): RawRequest => ({ contentType: 'application/json', body: JSON.stringify(body) })

/** One request of Slack that is wrong, or nearly right. */
export function garbageRequest(known: Known): fc.Arbitrary<RawRequest> {
  // Unlike every earlier one, so that none counts as a duplicate.
  const once = fc.uuid()
  const teamId = orOf('T0NIMBUS01')
  const url = orOf('https://evil.example/hook')
  const block = orOf(...known.blocks)
  const callback = orOf(...known.submissions)
  const rightMetadata = fc.record({
    version: orOf(1),
    origin: fc.record({ teamId, channelId, userId, command: orOf('/infra') }),
    button: or(spoilt(known.buttonValue)),
    opens: or(garbageText),
    chosen: or(garbageText),
    responseUrl: url,
  })
  const asText = (value: fc.Arbitrary<unknown>) => value.map((one) => JSON.stringify(one))
  const metadata = fc.oneof(often(3, asText(rightMetadata)), garbageText, asText(garbageJson))
  const chosen = fc.record({ text: or(fc.record({ type: fc.constant('plain_text'), text: garbageText })), value: or(garbageText) })
  const element = fc.record({
    type: fc.constant('plain_text_input'),
    value: or(garbageText),
    selected_option: or(chosen),
    selected_user: or(userId),
  })
  const entered = or(fc.record({ e: or(element) }))
  const view = or(
    fc.record({
      id: or(once),
      type: orOf('modal', 'home'),
      hash: or(once),
      blocks: or(fc.array(fc.record({ type: orOf('input'), block_id: block }), { maxLength: 3 })),
      callback_id: callback,
      private_metadata: metadata,
      state: or(fc.record({ values: or(fc.dictionary(fc.constantFrom(...known.blocks), entered)) })),
    }),
  )
  const surroundings = {
    user: or(fc.record({ id: userId, team_id: teamId })),
    team: orOf({ id: 'T0NIMBUS01' }),
    channel: or(channelId.map((id) => ({ id }))),
    trigger_id: or(once),
    response_url: url,
    enterprise: orOf(null),
    is_enterprise_install: orOf<unknown>(true, false, 'false'),
    view,
  }

  const command = fc.record({
    command: fc.oneof(
      often(8, fc.constant('/infra')),
      garbageText.map((text) => `/${text}`),
    ),
    text: fc.tuple(fc.constantFrom('', ...known.words), garbageText).map(([words, text]) => `${words} ${text}`),
    user_id: userId,
    channel_id: channelId,
    team_id: fc.constant('T0NIMBUS01'),
    trigger_id: once,
  })
  const action = fc.record({
    type: fc.constant('button'),
    action_id: orOf(...known.clicks),
    block_id: block,
    action_ts: or(once),
    value: or(spoilt(known.buttonValue)),
    selected_option: or(chosen),
  })
  const click = fc.record({
    type: fc.constant('block_actions'),
    ...surroundings,
    container: or(fc.record({ message_ts: orOf(known.cardTs) })),
    actions: or(fc.array(or(action), { minLength: 1, maxLength: 2 })),
  })
  const submission = fc.record({ type: fc.constant('view_submission'), ...surroundings })
  const options = fc.record({
    type: fc.constant('block_suggestion'),
    ...surroundings,
    action_id: orOf(...known.options),
    block_id: block,
    value: or(garbageText),
  })
  const interaction = fc.oneof(often(3, click), often(3, submission), often(2, options), garbageJson)
  const inner = fc.record({
    type: fc.constantFrom('app_home_opened', 'message', 'app_mention'),
    user: or(userId),
    channel: or(channelId),
    tab: orOf('home'),
  })
  const event = fc.record({ type: fc.constant('event_callback'), team_id: teamId, event_id: or(once), event: or(inner, 12) })
  const anything = fc.record({
    body: fc.oneof(garbageText, asText(garbageJson)),
    contentType: fc.constantFrom(form, 'application/json', 'text/plain'),
  })

  return fc.oneof(
    often(4, command.map(asForm)),
    often(
      8,
      interaction.map((payload) => asForm({ payload: JSON.stringify(payload) ?? '' })),
    ),
    often(2, event.map(asJson)),
    often(1, anything),
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
  garbageJson.map((value) => () => value),
  often(
    6,
    fc
      .array(fc.tuple(fc.nat(10_000), fc.oneof(often<unknown>(3, garbageText), garbageJson)), { minLength: 1, maxLength: 40 })
      .map((changes) => (body: unknown) => replaceValues(body, changes)),
  ),
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
