import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Origin } from '../../domain/approval/origin.ts'
import type { Chosen, Ticked, Values } from '../commands/handlers.ts'
import { readMetadata } from './metadata.ts'

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
