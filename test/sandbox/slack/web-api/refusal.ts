import type { Json } from '../json.ts'

/** The Web API's `{ ok: false, error }`, with the other members of the answer. */
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

export function invalidBlocks(errors: string[]): Refusal {
  return new Refusal('invalid_blocks', { errors, ...messagesOf(errors) })
}
