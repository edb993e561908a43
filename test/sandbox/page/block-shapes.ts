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
}

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
}

export type FormValues = Record<string, Record<string, ElementState>>
