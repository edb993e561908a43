import { hash } from 'node:crypto'
import { z } from 'zod'
import { Origin } from '../domain/approval.ts'
import { EndsTerms, ReasonTerms } from '../domain/policy.ts'
import { MessageRef } from '../domain/request.ts'
import { withSpaces } from '../domain/text.ts'
import type { LoggedPayload } from '../ops/log.ts'
import type { Entered } from './interactions.ts'
import type { Mrkdwn } from './text.ts'

const LinkedRequest = z.object({ id: z.string(), link: z.string().optional() })

/** Stored in a modal, because Slack sends no channel and no response URL with what people do in it. */
const Metadata = z.object({
  origin: Origin,
  responseUrl: z.string().optional(),
  message: MessageRef.optional(),
  /** The value of the button that opened the form. */
  button: z.string().optional(),
  /** The words of the command whose form follows once the channel is chosen. */
  opens: z.string().optional(),
  /** What is chosen in the field on which another one depends. */
  chosen: z.string().optional(),
  reason: z.string().optional(),
  start: z.string().optional(),
  /** The time zone of the person, if it was known when the form opened. */
  zone: z.string().optional(),
  reasonTerms: ReasonTerms.omit({ link: true }).optional(),
  undoes: LinkedRequest.optional(),
  repeats: LinkedRequest.optional(),
  title: z.string().optional(),
  ends: EndsTerms.optional(),
  /** Marks of what the form told that it does. */
  told: z.array(z.string()).optional(),
})
export type Metadata = z.infer<typeof Metadata>
const StoredMetadata = Metadata.extend({ version: z.literal(1) })

export function writeMetadata(metadata: Metadata): string {
  return JSON.stringify({ version: 1, ...metadata } satisfies z.infer<typeof StoredMetadata>)
}

export function readMetadata(text: string): Metadata | undefined {
  return readJson(StoredMetadata, text)
}

const markOf = ({ text }: Mrkdwn) => hash('sha256', text, 'base64url').slice(0, 6)

/** Slack takes 3,000 characters of metadata. Nobody reads more in a form. */
const mostTold = 150

export function marksOf(told: Mrkdwn[]): string[] | undefined {
  return told.length > mostTold ? undefined : told.map(markOf)
}

/** What a form would tell now and did not when it was shown: its submission must not do more than the person read. */
export function untold(metadata: Metadata | undefined, told: Mrkdwn[]): Mrkdwn[] {
  const marks = metadata?.told
  return marks ? told.filter((words) => !marks.includes(markOf(words))) : []
}

/** Undefined if it is missing, damaged or from another version of Lockkeeper. */
export function readJson<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** docs.slack.dev, "Interaction payloads". A member is required only if nothing can be done without it. Any other one that is wrong is absent. */
const orAbsent = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined)
const textOrEmpty = z.string().catch('')
const textOrAbsent = orAbsent(z.string())
const anyList = z.array(z.unknown()).catch([])
const requiredId = z.string().min(1)
const User = z.object({ id: requiredId, team_id: textOrAbsent })
const Identified = orAbsent(z.object({ id: z.string() }))
const Option = orAbsent(z.object({ text: orAbsent(z.object({ text: z.string() })), value: z.string() }))

const ElementState = z.object({
  value: textOrAbsent,
  selected_option: Option,
  selected_options: orAbsent(z.array(Option)),
  selected_user: textOrAbsent,
  selected_conversation: textOrAbsent,
})
type ElementState = z.infer<typeof ElementState>

/** Each block and element is parsed by itself, so that one of an unknown type does not discard the values of the others. */
const BlockState = z.record(z.string(), ElementState.catch({})).catch({})
const State = z.object({ values: z.record(z.string(), BlockState).catch({}) }).catch({ values: {} })

const View = z.object({
  id: requiredId,
  type: z.string().catch('modal'),
  hash: textOrAbsent,
  callback_id: textOrEmpty,
  private_metadata: textOrEmpty,
  state: State,
  blocks: anyList,
})

const CommandPayload = z.object({
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

const ClickPayload = z.object({
  type: z.literal('block_actions'),
  user: User,
  team: Identified,
  channel: Identified,
  container: orAbsent(z.object({ message_ts: textOrAbsent, is_ephemeral: orAbsent(z.boolean()) })),
  message: orAbsent(z.object({ ts: textOrAbsent })),
  trigger_id: textOrEmpty,
  response_url: textOrAbsent,
  // A click has one action. Any others are ignored.
  actions: z.tuple([Action]).rest(z.unknown()),
  view: View.nullish().transform((view) => view ?? undefined),
})

const SubmissionPayload = z.object({
  type: z.literal('view_submission'),
  user: User,
  team: Identified,
  trigger_id: textOrEmpty,
  view: View,
})

/** Of a message, or from anywhere in Slack: then without a channel and a message. What cannot be read of a message counts as empty. */
const ShortcutPayload = z.object({
  type: z.enum(['shortcut', 'message_action']),
  callback_id: z.string(),
  user: User,
  team: Identified,
  channel: Identified,
  trigger_id: textOrEmpty,
  action_ts: textOrEmpty,
  response_url: textOrAbsent,
  message: orAbsent(z.object({ ts: textOrAbsent, thread_ts: textOrAbsent, text: textOrEmpty, blocks: anyList, attachments: anyList })),
})

const OptionsPayload = z.object({
  type: z.literal('block_suggestion'),
  action_id: z.string(),
  value: textOrEmpty,
  user: User,
  team: Identified,
  channel: Identified,
  view: orAbsent(View.pick({ private_metadata: true, state: true })),
})

/** Slack sends `app_home_opened` for the Messages tab, too (docs.slack.dev, "app_home_opened event"). */
const HomeOpenedPayload = z.object({
  team_id: textOrAbsent,
  event_id: textOrEmpty,
  event: z.object({ type: z.literal('app_home_opened'), user: requiredId, tab: z.string().catch('home') }),
})

/** Reads where a click, a shortcut or an option load came from. For a modal, that is where it was opened. `command`: its name, if no modal has it. */
export function readOrigin(
  { team, user, channel, view }: Pick<z.infer<typeof OptionsPayload>, 'team' | 'user' | 'channel' | 'view'>,
  command: string,
): Origin {
  const opened = readMetadata(view?.private_metadata ?? '')?.origin
  return {
    teamId: team?.id ?? user.team_id,
    channelId: channel?.id ?? opened?.channelId ?? '',
    userId: user.id,
    command: opened?.command || command,
  }
}

export function enteredIn(state: z.infer<typeof State> | undefined): Entered {
  const entered: Entered = { values: {}, chosen: {}, ticked: {} }
  for (const [blockId, elements] of Object.entries(state?.values ?? {})) {
    const [element = {} as ElementState] = Object.values(elements)
    const { selected_option: option, selected_options: ticked, selected_user: user, selected_conversation: conversation, value } = element
    entered.values[blockId] = option?.value ?? user ?? conversation ?? (value && withSpaces(value))
    if (option) entered.chosen[blockId] = { text: { type: 'plain_text', text: option.text?.text || option.value }, value: option.value }
    if (ticked) entered.ticked[blockId] = ticked.flatMap((one) => one?.value ?? [])
  }
  return entered
}

export const schemas = {
  command: CommandPayload,
  block_actions: ClickPayload,
  view_submission: SubmissionPayload,
  block_suggestion: OptionsPayload,
  shortcut: ShortcutPayload,
  // The channel is required, because rights are judged by it.
  message_action: ShortcutPayload.extend({ channel: z.object({ id: requiredId }) }),
  app_home_opened: HomeOpenedPayload,
}

export type Payloads = { [Kind in keyof typeof schemas]: z.infer<(typeof schemas)[Kind]> }
export type Received = { [Kind in keyof Payloads]: { kind: Kind; payload: Payloads[Kind] } }[keyof Payloads]

export function readPayload(body: unknown): { received: Received } | { unhandled: LoggedPayload } {
  const kind = kindOf(body)
  // A kind comes from outside, and could be `constructor`.
  if (!Object.hasOwn(schemas, kind)) return { unhandled: { kind, why: 'no-listener' } }
  const parsed = schemas[kind as Received['kind']].safeParse(body)
  if (parsed.success) return { received: { kind, payload: parsed.data } as Received }
  return { unhandled: { kind, why: 'unreadable', members: parsed.error.issues.map(({ path }) => path.join('.')) } }
}

function kindOf(body: unknown): string {
  const { command, type, event } = membersOf(body)
  if (command !== undefined) return 'command'
  const named = type === 'event_callback' ? (membersOf(event).type ?? type) : type
  // Kinds are logged, so only what looks like one of Slack's is taken.
  return typeof named === 'string' && /^[a-z][a-z_.]{0,59}$/.test(named) ? named : 'unknown'
}

export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
