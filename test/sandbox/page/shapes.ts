import type { CommandSuggestion, ShortcutSuggestion, Message as SlackMessage } from '../slack/slack.ts'
import type { Channel as SlackChannel, Person as SlackPerson } from '../slack/workspace.ts'

/** What the page gets from the desk's routes, and the blocks that the bot sends. The stand-in Slack has validated them before. */

export type Person = Required<Pick<SlackPerson, 'id' | 'name' | 'handle' | 'title' | 'role' | 'color'>>
export type Channel = Pick<SlackChannel, 'id' | 'name' | 'topic' | 'isShared'>
export type Command = CommandSuggestion
export type Shortcut = Omit<ShortcutSuggestion, 'type'>

export interface Workspace {
  team: { id: string; name: string }
  people: Person[]
  /** The names of people and groups in messages. */
  handles: { id: string; handle: string }[]
  channels: Channel[]
  bot: { id: string; name: string }
  shortcuts: { message: Shortcut[]; global: Shortcut[] }
}

export interface Message extends Omit<SlackMessage, 'blocks' | 'metadata'> {
  blocks?: Block[]
  metadata?: { event_payload?: { key?: string } }
}

export interface OpenView {
  id: string
  view: View
}

/** What one person sees: the messages of each channel, the app's Home tab, the open modals, and the bot's commands. `channel`: the direct messages from the app. */
export interface PageState {
  channel: string
  home: OpenView | null
  messages: Record<string, Message[]>
  views: OpenView[]
  commands: Command[]
}

/** Something that the drawer can break: a switch, or an act with the verb of its button. */
export type Breakage = { id: string; name: string; effect: string } & ({ kind: 'switch'; isOn: boolean } | { kind: 'act'; verb: string })

/** The message or view that blocks are in. */
export interface Surface {
  /** Unique on the page. */
  key: string
  place: { channel: string; ts: string } | { viewId: string }
  /** What is on the screen. It is sent with every press, because Slack delivers a press even if the bot has replaced it since. */
  seen: { message: Message } | { view: View }
  /** Messages under inputs, by block id. */
  errors?: Record<string, string> | undefined
}

export interface TextObject {
  type: 'plain_text' | 'mrkdwn'
  text: string
  verbatim?: boolean
}

export interface Option {
  text: TextObject
  value: string
  description?: TextObject
}

export interface Confirmation {
  title: TextObject
  text: TextObject
  confirm: TextObject
  deny: TextObject
  style?: 'primary' | 'danger'
}

export interface Element {
  type: string
  action_id?: string
  text?: TextObject
  value?: string
  /** A button opens it, and is sent to the bot like any other. */
  url?: string
  style?: 'primary' | 'danger'
  confirm?: Confirmation
  placeholder?: TextObject
  options?: Option[]
  initial_option?: Option
  initial_options?: Option[]
  initial_conversation?: string
  default_to_current_conversation?: boolean
  /** The conversations that a select offers. */
  filter?: { exclude_external_shared_channels?: boolean }
  initial_value?: string
  min_query_length?: number
  max_length?: number
  multiline?: boolean
}

export type RichTextPiece = { style?: { bold?: boolean; code?: boolean } } & (
  | { type: 'text'; text: string }
  | { type: 'link'; url: string; text?: string }
  | { type: 'user'; user_id: string }
  | { type: 'usergroup'; usergroup_id: string }
  | { type: 'channel'; channel_id: string }
  | { type: 'date'; timestamp: number; format: string }
)

export interface RichTextSection {
  type: 'rich_text_section'
  elements: RichTextPiece[]
}

export type TableCell =
  | { type: 'raw_text'; text: string }
  | { type: 'raw_number'; value: number; text: string }
  | { type: 'rich_text'; elements: RichTextSection[] }

export interface Block {
  type: string
  block_id?: string
  text?: TextObject
  fields?: TextObject[]
  accessory?: Element
  elements?: unknown[]
  element?: Element
  label?: TextObject
  hint?: TextObject
  optional?: boolean
  dispatch_action?: boolean
  /** Of a data table. The first row is the header. */
  rows?: TableCell[][]
  caption?: string
  page_size?: number
  row_header_column_index?: number
}

export interface View {
  type: string
  title?: TextObject
  submit?: TextObject
  close?: TextObject
  blocks: Block[]
}

/** The value of an element, as Slack writes it into `view.state.values` and into an action. */
export interface ElementState {
  type: string
  value?: string | null
  selected_option?: Option | null
  selected_options?: Option[]
  selected_conversation?: string | null
}

export type FormValues = Record<string, Record<string, ElementState>>
