import { hash } from 'node:crypto'
import type { AckFn, App, Receiver, ReceiverEvent, ViewResponseAction } from '@slack/bolt'
import { z } from 'zod'
import { Origin } from '../domain/approval.ts'
import { MessageRef } from '../domain/request.ts'
import { modal, notice, wholeSection } from './blocks.ts'
import type { Chosen, Ticked, Values } from './interactions.ts'
import type { Respond } from './response-url.ts'
import { type Mrkdwn, mrkdwn, toPlainText } from './text.ts'

/** Another request: its id, and the address of its message. */
const LinkedRequest = z.object({ id: z.string(), link: z.string().optional() })

/** Stored in a modal, because Slack sends no channel and no response URL with what people do in it. CONTRIBUTING.md says how it may change. */
const Metadata = z.object({
  origin: Origin,
  responseUrl: z.string().optional(),
  /** The message that the form was opened from. */
  message: MessageRef.optional(),
  extra: z.string().optional(),
  /** The reason that was typed before the form opened. */
  reason: z.string().optional(),
  /** The rule that requires a reason, by its name. */
  ruleWithReason: z.string().optional(),
  /** The request that the form undoes. */
  undoes: LinkedRequest.optional(),
  /** The ended request that the form repeats. */
  repeats: LinkedRequest.optional(),
  /** What that request filled in, and the title of the form while it stays. */
  filled: z.object({ choice: z.string(), title: z.string().optional() }).optional(),
})
export type Metadata = z.infer<typeof Metadata>
const StoredMetadata = Metadata.extend({ version: z.literal(1) })

export function writeMetadata(metadata: Metadata): string {
  return JSON.stringify({ version: 1, ...metadata } satisfies z.infer<typeof StoredMetadata>)
}

/** Reads a modal's metadata. Undefined if it has none, or another version of Lockkeeper wrote it. */
export function readMetadata(text: string): Metadata | undefined {
  return readJson(StoredMetadata, text)
}

/** Parses the JSON of a button or a modal. Undefined if it is missing, damaged or from another version of Lockkeeper. */
export function readJson<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/**
 * Schemas of Slack's payloads (docs.slack.dev, "Interaction payloads"), with the members that Lockkeeper uses. All others are dropped. A
 * member is required only if nothing can be done without it. Any other counts as absent if it is missing, null or of another type.
 */
const textOrEmpty = z.string().catch('')
const textOrAbsent = z.string().optional().catch(undefined)
const requiredId = z.string().min(1)
const User = z.object({ id: requiredId, team_id: textOrAbsent })
const Identified = z.object({ id: z.string() }).optional().catch(undefined)

const Option = z
  .object({ text: z.object({ text: z.string() }).optional().catch(undefined), value: z.string() })
  .optional()
  .catch(undefined)

const ElementState = z.object({
  value: textOrAbsent,
  selected_option: Option,
  selected_options: z.array(Option).optional().catch(undefined),
  selected_user: textOrAbsent,
  selected_conversation: textOrAbsent,
})
type ElementState = z.infer<typeof ElementState>

/** Each block and element is parsed by itself, so that one of an unknown type does not discard the values of the others. */
const BlockState = z.record(z.string(), ElementState.catch({})).catch({})
const State = z.object({ values: z.record(z.string(), BlockState).catch({}) }).catch({ values: {} })

export const View = z.object({
  id: requiredId,
  type: z.string().catch('modal'),
  hash: textOrAbsent,
  callback_id: textOrEmpty,
  private_metadata: textOrEmpty,
  state: State,
  blocks: z.array(z.unknown()).catch([]),
})

export const CommandPayload = z.object({
  command: z.string().startsWith('/'),
  text: textOrEmpty,
  user_id: requiredId,
  channel_id: requiredId,
  team_id: textOrAbsent,
  trigger_id: textOrEmpty,
  response_url: textOrAbsent,
})

const Action = z.object({
  action_id: z.string(),
  block_id: textOrEmpty,
  action_ts: textOrEmpty,
  value: textOrAbsent,
  selected_option: Option,
})

export const ClickPayload = z.object({
  type: z.literal('block_actions'),
  user: User,
  team: Identified,
  channel: Identified,
  container: z
    .object({ message_ts: textOrAbsent, is_ephemeral: z.boolean().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  message: z.object({ ts: textOrAbsent }).optional().catch(undefined),
  trigger_id: textOrEmpty,
  response_url: textOrAbsent,
  // A click has one action. Any others are ignored.
  actions: z.tuple([Action]).rest(z.unknown()),
  view: View.nullish().transform((view) => view ?? undefined),
})

export const SubmissionPayload = z.object({
  type: z.literal('view_submission'),
  user: User,
  team: Identified,
  trigger_id: textOrEmpty,
  view: View,
})

/** A message as a shortcut carries it. What cannot be read of it counts as empty, so that the rest is still searched. */
const SlackMessage = z.object({
  ts: textOrAbsent,
  thread_ts: textOrAbsent,
  text: textOrEmpty,
  blocks: z.array(z.unknown()).catch([]),
  attachments: z.array(z.unknown()).catch([]),
})

export const GlobalShortcutPayload = z.object({
  type: z.literal('shortcut'),
  callback_id: z.string(),
  user: User,
  team: Identified,
  trigger_id: textOrEmpty,
  action_ts: textOrEmpty,
})

/** The channel is required, because rights are judged by it. */
export const MessageShortcutPayload = GlobalShortcutPayload.extend({
  type: z.literal('message_action'),
  channel: z.object({ id: requiredId }),
  response_url: textOrAbsent,
  message: SlackMessage.catch({ ts: undefined, thread_ts: undefined, text: '', blocks: [], attachments: [] }),
})

export const OptionsPayload = z.object({
  type: z.literal('block_suggestion'),
  action_id: z.string(),
  value: textOrEmpty,
  user: User,
  team: Identified,
  channel: Identified,
  view: View.pick({ private_metadata: true, state: true }).optional().catch(undefined),
})

/** Slack sends `app_home_opened` for the Messages tab, too (docs.slack.dev, "app_home_opened event"). */
export const HomeOpenedPayload = z.object({
  team_id: textOrAbsent,
  event_id: textOrEmpty,
  event: z.object({ type: z.literal('app_home_opened'), user: requiredId, tab: z.string().catch('home') }),
})

/** Reads where a click or an option load came from. For a modal, that is where it was opened. */
export function readOrigin(payload: Pick<z.infer<typeof OptionsPayload>, 'team' | 'user' | 'channel' | 'view'>): Origin {
  const metadata = readMetadata(payload.view?.private_metadata ?? '')
  return {
    teamId: payload.team?.id ?? payload.user.team_id,
    channelId: payload.channel?.id ?? metadata?.origin.channelId ?? '',
    userId: payload.user.id,
    command: metadata?.origin.command ?? '',
  }
}

export function valuesOf(state: z.infer<typeof State> | null | undefined): Values {
  return mapState(
    state,
    (element) => element.selected_option?.value ?? element.selected_user ?? element.selected_conversation ?? element.value,
  )
}

export function chosenOf(state: z.infer<typeof State> | null | undefined): Chosen {
  return mapState(state, (element) =>
    element.selected_option
      ? {
          text: { type: 'plain_text', text: element.selected_option.text?.text || element.selected_option.value },
          value: element.selected_option.value,
        }
      : undefined,
  )
}

/** Returns the ticked checkboxes of each block that has some to tick. */
export function tickedOf(state: z.infer<typeof State> | null | undefined): Ticked {
  const ticked = mapState(state, (element) => element.selected_options?.flatMap((option) => option?.value ?? []))
  return Object.fromEntries(Object.entries(ticked).flatMap(([blockId, values]) => (values ? [[blockId, values]] : [])))
}

function mapState<T>(state: z.infer<typeof State> | null | undefined, pick: (element: ElementState) => T): Record<string, T> {
  const entries = Object.entries(state?.values ?? {}).map(([blockId, elements]) => {
    const [element] = Object.values(elements)
    return [blockId, element ? pick(element) : undefined]
  })
  return Object.fromEntries(entries)
}

/** Makes one key for all deliveries of an interaction, whether Slack sends it twice or somebody replays a recorded request. */
export function deliveryKey(...parts: (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 40)
}

const Form = z.object({ blocks: z.array(z.unknown()) })
const InputBlock = z.object({ type: z.literal('input'), block_id: z.string().min(1) })

/**
 * Answers a submission with an error and keeps the form open with everything that was entered. The error is shown at the first input. If
 * the form's blocks cannot be read, the error is pushed as a view on top: closing it brings the form back, because a view stack keeps the
 * state of its views (docs.slack.dev, "Modals"). Slack stacks at most 3 views (docs.slack.dev, "views.push method"), and Lockkeeper
 * pushes no others.
 */
export function keepForm(view: unknown, words: Mrkdwn): ViewResponseAction {
  const blockId = firstInputOf(view)
  if (blockId !== undefined) return { response_action: 'errors', errors: { [blockId]: toPlainText(words) } }
  return { response_action: 'push', view: modal({ title: 'Lockkeeper', close: 'Back', blocks: wholeSection(words) }) }
}

/** Finds the first input block. Slack accepts errors for input blocks only, and refuses all of them if one is for another block. */
function firstInputOf(view: unknown): string | undefined {
  const form = Form.safeParse(view)
  const inputs = form.success ? form.data.blocks.map((block) => InputBlock.safeParse(block)) : []
  return inputs.find((input) => input.success)?.data?.block_id
}

/** A payload from Slack that no listener handled. `kind` and `members` are names from Slack's documentation, never content. */
export interface UnhandledPayload {
  /** Slack's name for it: the `type` of an interaction or an event, or `command`. */
  kind: string
  /**
   * `no-listener`: nothing listens to this kind. `unreadable`: a required member is missing. `listener-failed`: its listener ended without an
   * acknowledgement.
   */
  why: 'no-listener' | 'unreadable' | 'listener-failed'
  /** The members that are missing or of the wrong type. */
  members?: string[]
}

type PayloadReading = { is: 'read'; kind: string; payload: Record<string, unknown> } | { is: 'unhandled'; unhandled: UnhandledPayload }

/** The schema of each kind that has a listener. A Map, because a kind comes from outside and could be `constructor`. */
const schemas = new Map<string, z.ZodType<Record<string, unknown>>>([
  ['command', CommandPayload],
  ['block_actions', ClickPayload],
  ['view_submission', SubmissionPayload],
  ['block_suggestion', OptionsPayload],
  ['shortcut', GlobalShortcutPayload],
  ['message_action', MessageShortcutPayload],
  ['app_home_opened', HomeOpenedPayload],
])

/** Determines the kind of a payload, and parses it if that kind has a listener. Never throws. */
export function readPayload(body: unknown): PayloadReading {
  const kind = kindOf(body)
  const schema = schemas.get(kind)
  if (!schema) return { is: 'unhandled', unhandled: { kind, why: 'no-listener' } }
  const parsed = schema.safeParse(body)
  if (parsed.success) return { is: 'read', kind, payload: parsed.data }
  const members = parsed.error.issues.map(({ path }) => path.join('.'))
  return { is: 'unhandled', unhandled: { kind, why: 'unreadable', members } }
}

function kindOf(body: unknown): string {
  const { command, type, event } = membersOf(body)
  if (command !== undefined) return 'command'
  return slackTypeOf(type === 'event_callback' ? (membersOf(event).type ?? type) : type)
}

/** Returns the members of an object, and none for anything else. */
export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Returns a type only if it looks like one of Slack's, because types are logged. */
function slackTypeOf(type: unknown): string {
  return typeof type === 'string' && /^[a-z][a-z_.]{0,59}$/.test(type) ? type : 'unknown'
}

/**
 * Makes the acknowledgement of a payload that no listener handled (docs.slack.dev, "Handling user interaction"). A form stays open with an
 * error, a picker gets an empty list, and a command gets a sentence. Everything else is acknowledged with an empty body.
 */
export function acknowledgementFor(unhandled: UnhandledPayload, body: unknown): unknown {
  const { view } = membersOf(body)
  if (unhandled.kind === 'view_submission') return keepForm(view, problemWith('form', unhandled))
  if (unhandled.kind === 'command') return { response_type: 'ephemeral', text: problemWith('command', unhandled).text }
  if (loadsOptions(unhandled.kind, body)) return { options: [] }
  return undefined
}

/**
 * Makes the message that follows the acknowledgement, for clicks and shortcuts: Slack does not show the content of their acknowledgement.
 */
export function followUpFor(unhandled: UnhandledPayload, body: unknown): { responseUrl: string; words: Mrkdwn } | undefined {
  const { response_url: given, view } = membersOf(body)
  const isAnswered = acknowledgementFor(unhandled, body) !== undefined
  if (isAnswered || unhandled.kind === 'dialog_cancellation') return undefined
  const responseUrl = typeof given === 'string' ? given : responseUrlIn(membersOf(view).private_metadata)
  if (responseUrl === undefined) return undefined
  if (unhandled.why !== 'no-listener') return { responseUrl, words: problemWith('click', unhandled) }
  return { responseUrl, words: mrkdwn`Lockkeeper doesn't handle this. Nothing was changed. Use its command instead.` }
}

/**
 * Reads the response URL from a modal's metadata. A modal has no response URL, so its metadata has that of the command or click that opened
 * it.
 */
function responseUrlIn(metadata: unknown): string | undefined {
  return typeof metadata === 'string' ? readMetadata(metadata)?.responseUrl : undefined
}

function problemWith(what: 'form' | 'command' | 'click', { why }: UnhandledPayload): Mrkdwn {
  return why === 'listener-failed'
    ? mrkdwn`Something went wrong with this ${what}. Tell the people who run Lockkeeper. The log has the details.`
    : mrkdwn`Couldn't read this ${what}. Nothing was changed. Try again. If it lasts, tell the people who run Lockkeeper.`
}

/** Whether a payload loads options. Dialogs and attachments, which Lockkeeper does not use, load them with different payloads. */
function loadsOptions(kind: string, body: unknown): boolean {
  if (kind === 'interactive_message') return membersOf(body).actions === undefined
  return kind === 'block_suggestion' || kind === 'dialog_suggestion'
}

export interface Screening {
  respond: Respond
  /** Called for every payload that no listener handled, after its acknowledgement. */
  onUnhandled: (unhandled: UnhandledPayload) => void
  /** Called for every payload after its acknowledgement. `ms`: the time since it arrived. `kind`: Slack's name for it. */
  onAcknowledged?: (kind: string, ms: number) => void
}

/**
 * Filters the payloads between a receiver, which has checked where they come from, and Bolt's app. Bolt 5.1 reads a payload before any
 * listener does. If a member is null, it throws and answers 500. If there is no listener, it answers nothing for 3 s and then 404. So the
 * app gets only payloads that a listener can read. All others are acknowledged here, at once.
 */
export function screen(receiver: Receiver, { respond, onUnhandled, onAcknowledged = () => {} }: Screening): Receiver {
  async function acknowledge(unhandled: UnhandledPayload, { body, ack }: ReceiverEvent): Promise<void> {
    await ack(acknowledgementFor(unhandled, body))
    onUnhandled(unhandled)
    const followUp = followUpFor(unhandled, body)
    if (followUp) await respond(followUp.responseUrl, notice(followUp.words))
  }

  async function forward(app: App, received: ReceiverEvent): Promise<void> {
    const startedAt = performance.now()
    const reading = readPayload(received.body)
    const kind = reading.is === 'read' ? reading.kind : reading.unhandled.kind
    const event: ReceiverEvent = {
      ...received,
      async ack(answer) {
        await received.ack(answer)
        onAcknowledged(kind, performance.now() - startedAt)
      },
    }
    if (reading.is === 'unhandled') return acknowledge(reading.unhandled, event)
    let acknowledged = false
    const ack: AckFn<unknown> = async (answer) => {
      acknowledged = true
      await event.ack(answer)
    }
    try {
      await app.processEvent({ ...event, body: reading.payload, ack })
    } finally {
      if (!acknowledged) await acknowledge({ kind: reading.kind, why: 'listener-failed' }, event)
    }
  }

  return {
    // Receivers only use the app's `processEvent`.
    init: (app) => receiver.init({ processEvent: (event) => forward(app, event) } as App),
    start: (...args) => receiver.start(...args),
    stop: (...args) => receiver.stop(...args),
  }
}
