import type { RichTextPart } from './rich-text.ts'

/** The blocks and elements that the bot sends, as the page reads them. The stand-in Slack has validated them before. */

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

/** The conversations that a select offers. Source: https://docs.slack.dev/reference/block-kit/composition-objects/conversation-filter-object. */
export interface ConversationFilter {
  include?: ('im' | 'mpim' | 'private' | 'public')[]
  exclude_external_shared_channels?: boolean
}

export type TableCell =
  | { type: 'raw_text'; text: string }
  | { type: 'raw_number'; value: number; text?: string }
  | { type: 'rich_text'; elements: RichTextPart[] }

export interface Element {
  type: string
  action_id?: string
  text?: TextObject
  value?: string
  style?: 'primary' | 'danger'
  confirm?: Confirmation
  placeholder?: TextObject
  options?: Option[]
  initial_option?: Option
  initial_conversation?: string
  default_to_current_conversation?: boolean
  filter?: ConversationFilter
  initial_value?: string
  min_query_length?: number
  max_length?: number
  multiline?: boolean
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
  /** Of a data table. The first row is the header. */
  rows?: TableCell[][]
  caption?: string
  page_size?: number
  row_header_column_index?: number
}

/** Slack's view object. */
export interface ModalView {
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
  selected_conversation?: string | null
}

export type FormValues = Record<string, Record<string, ElementState>>
