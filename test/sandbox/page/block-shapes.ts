/**
 * Block Kit as the page reads it: every member that no block or element must have is optional, because the page shows what it is
 * given and leaves judging to the stand-in Slack.
 */

export interface TextObject {
  type: 'plain_text' | 'mrkdwn'
  text: string
  verbatim?: boolean
}

export interface Option {
  text: TextObject
  value: string
  description?: TextObject
  url?: string
}

export interface OptionGroup {
  label: TextObject
  options: Option[]
}

export interface Confirmation {
  title?: TextObject
  text: TextObject
  confirm?: TextObject
  deny?: TextObject
  style?: 'primary' | 'danger'
}

export interface Element {
  type: string
  action_id?: string
  text?: TextObject
  value?: string
  url?: string
  style?: 'primary' | 'danger'
  confirm?: Confirmation
  accessibility_label?: string
  placeholder?: TextObject
  options?: Option[]
  option_groups?: OptionGroup[]
  initial_option?: Option
  initial_options?: Option[]
  initial_value?: string
  initial_date?: string
  initial_time?: string
  initial_user?: string
  initial_users?: string[]
  initial_channel?: string
  initial_channels?: string[]
  initial_conversation?: string
  initial_conversations?: string[]
  min_query_length?: number
  max_selected_items?: number
  min_length?: number
  max_length?: number
  multiline?: boolean
  focus_on_load?: boolean
  dispatch_action_config?: { trigger_actions_on?: string[] }
  image_url?: string
  alt_text?: string
}

/** An element as it stands inside a context block: text or an image. */
export type ContextElement = Element | TextObject

export interface RichStyle {
  bold?: boolean
  italic?: boolean
  strike?: boolean
  code?: boolean
  underline?: boolean
}

/** A part of a rich text: a container such as a list, or a piece such as a word, told apart by `type`. */
export interface RichPart {
  type: string
  elements?: RichPart[]
  style?: RichStyle | 'bullet' | 'ordered'
  indent?: number
  offset?: number
  border?: number
  text?: string
  url?: string
  user_id?: string
  usergroup_id?: string
  channel_id?: string
  name?: string
  range?: string
  value?: string
  timestamp?: number
  format?: string
  fallback?: string
}

/** A cell of a table: `raw_text`, `raw_number` or `rich_text`. */
export interface TableCell {
  type: string
  text?: string
  value?: number
  elements?: RichPart[]
}

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
  title?: TextObject
  image_url?: string
  alt_text?: string
  rows?: TableCell[][]
  column_settings?: ({ align?: 'left' | 'center' | 'right'; is_wrapped?: boolean } | null)[]
}

/** Slack's view object. */
export interface ModalView {
  type: string
  title?: TextObject
  submit?: TextObject
  close?: TextObject
  blocks: Block[]
}

/** What an element holds, as Slack writes it into `view.state.values` and into an action. */
export interface ElementState {
  type: string
  value?: string | null
  selected_option?: Option | null
  selected_options?: Option[]
  selected_date?: string | null
  selected_time?: string | null
  selected_user?: string | null
  selected_users?: string[]
  selected_channel?: string | null
  selected_channels?: string[]
  selected_conversation?: string | null
  selected_conversations?: string[]
}

export type FormValues = Record<string, Record<string, ElementState>>
