import { hash } from 'node:crypto'
import { z } from 'zod'
import { Origin } from '../domain/origin.ts'
import type { Chosen, Values } from './interaction.ts'

/** Slack's payloads, as far as they are used (docs.slack.dev, "Interaction payloads"). Whatever else they carry is ignored. */
const Identified = z.object({ id: z.string() })

const Option = z.object({ text: z.object({ text: z.string() }), value: z.string() })

const ElementState = z.object({
  value: z.string().nullish(),
  selected_option: Option.nullish(),
  selected_user: z.string().nullish(),
})
type ElementState = z.infer<typeof ElementState>

const State = z.object({ values: z.record(z.string(), z.record(z.string(), ElementState)) })

export const View = z.object({
  id: z.string(),
  type: z.string().default('modal'),
  hash: z.string().optional(),
  callback_id: z.string().default(''),
  private_metadata: z.string().default(''),
  state: State.nullish(),
})

export const CommandPayload = z.object({
  command: z.string(),
  text: z.string().default(''),
  user_id: z.string(),
  channel_id: z.string(),
  team_id: z.string().optional(),
  trigger_id: z.string().default(''),
  response_url: z.string().optional(),
})

const Action = z.object({
  action_id: z.string(),
  block_id: z.string().default(''),
  action_ts: z.string().default(''),
  value: z.string().nullish(),
  selected_option: Option.nullish(),
})

export const ClickPayload = z.object({
  user: Identified.extend({ team_id: z.string().optional() }),
  team: Identified.nullish(),
  channel: Identified.nullish(),
  container: z.object({ message_ts: z.string().optional() }).nullish(),
  message: z.object({ ts: z.string().optional() }).nullish(),
  trigger_id: z.string().default(''),
  response_url: z.string().optional(),
  actions: z.array(Action).min(1),
  view: View.nullish(),
})

export const SubmissionPayload = z.object({
  user: Identified.extend({ team_id: z.string().optional() }),
  team: Identified.nullish(),
  view: View,
})

export const OptionsPayload = z.object({
  action_id: z.string(),
  value: z.string().default(''),
  user: Identified.extend({ team_id: z.string().optional() }),
  team: Identified.nullish(),
  channel: Identified.nullish(),
  view: View.nullish(),
})

/** `app_home_opened` comes for the Messages tab as well (docs.slack.dev, "app_home_opened event"). */
export const HomeOpenedPayload = z.object({
  team_id: z.string().optional(),
  event_id: z.string().default(''),
  event: z.object({ user: z.string(), tab: z.string().default('home') }),
})

/** What a modal carries along, because its interactions have no channel of their own. */
const Metadata = z.object({ origin: Origin, responseUrl: z.string().optional(), extra: z.string().optional() })
export type Metadata = z.infer<typeof Metadata>

export function writeMetadata(metadata: Metadata): string {
  return JSON.stringify(metadata)
}

/** Undefined for a modal that was opened by an older version of this bot, or that carries none. */
export function readMetadata(text: string): Metadata | undefined {
  try {
    return Metadata.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

export function valuesOf(state: z.infer<typeof State> | null | undefined): Values {
  return mapState(state, (element) => element.selected_option?.value ?? element.selected_user ?? element.value ?? undefined)
}

export function chosenOf(state: z.infer<typeof State> | null | undefined): Chosen {
  return mapState(state, (element) =>
    element.selected_option
      ? { text: { type: 'plain_text', text: element.selected_option.text.text }, value: element.selected_option.value }
      : undefined,
  )
}

function mapState<T>(state: z.infer<typeof State> | null | undefined, pick: (element: ElementState) => T): Record<string, T> {
  const entries = Object.entries(state?.values ?? {}).map(([blockId, elements]) => {
    const [element] = Object.values(elements)
    return [blockId, element ? pick(element) : undefined]
  })
  return Object.fromEntries(entries)
}

/** One key for all deliveries of the same act: what is sent twice, by Slack or by somebody who recorded it, is the same act. */
export function deliveryKey(...parts: (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 40)
}
