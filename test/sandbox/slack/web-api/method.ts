import type { Directory } from '../directory.ts'
import type { Json } from '../json.ts'
import { stringOf } from '../json.ts'
import type { MessageStore } from '../message-store.ts'
import type { State } from '../state.ts'
import type { Triggers } from '../triggers.ts'
import type { ViewStore } from '../view-store.ts'
import { invalidArguments } from './refusal.ts'

export interface Stores {
  state: State
  directory: Directory
  messages: MessageStore
  views: ViewStore
  triggers: Triggers
}

/** A method of the Web API. `run` returns the answer without `ok`, or throws a `Refusal`. */
export interface Method {
  /** The described arguments, except for the token. */
  args: string[]
  /** Any one of these scopes is enough. */
  scopes?: string[]
  /** The scope that these arguments need. Undefined if they do not decide it. */
  scopeFor?(args: Json): string | undefined
  /** Default: `bot`. */
  token?: 'bot' | 'app' | 'none'
  run(args: Json): Json
}

export function required(args: Json, ...names: string[]): void {
  const missing = names.filter((name) => stringOf(args[name]) === '' && typeof args[name] !== 'object')
  if (missing.length > 0) throw invalidArguments(...missing.map((name) => `missing required field: ${name}`))
}
