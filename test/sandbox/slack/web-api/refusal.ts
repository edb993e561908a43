import type { Json } from '../json.ts'
import { tooManyTables, type Validation } from '../validate-blocks.ts'

/** The Web API's `{ ok: false, error }`, with what else the answer carries. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly answer: Json

  constructor(error: string, more: Json = {}) {
    super(error)
    this.answer = { ok: false, error, ...more }
  }
}

function messagesOf(errors: string[]): Json {
  return { response_metadata: { messages: errors.map((error) => `[ERROR] ${error}`) } }
}

export function invalidArguments(...errors: string[]): Refusal {
  return new Refusal('invalid_arguments', messagesOf(errors))
}

export function refuseInvalidBlocks(validation: Validation, blocks: Json[]): void {
  if (validation.errors.length > 0) throw new Refusal('invalid_blocks', { errors: validation.errors, ...messagesOf(validation.errors) })
  if (tooManyTables(blocks))
    throw new Refusal('invalid_attachments', { errors: ['only_one_table_allowed'], ...messagesOf(['only_one_table_allowed']) })
}

export function refuseInvalidView(validation: Validation): void {
  if (validation.errors.length > 0) throw invalidArguments(...validation.errors)
}
