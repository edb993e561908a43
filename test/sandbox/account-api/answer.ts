export interface Answer {
  status: number
  /** Undefined for an empty body. */
  body: unknown
}

/** A refusal. It is thrown, and becomes the answer. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`refused with ${answer.status}`)
    this.answer = answer
  }
}

/** The short form of errors. */
export function refusal(status: number, code: string, message: string): Refusal {
  return new Refusal({ status, body: { errors: [{ code, message }] } })
}

/** The long form of errors. */
export function invalid(pointer: string, detail: string): Refusal {
  const error = { code: 'VALIDATION_ERROR', status: '422', title: 'Unprocessable entity', detail, source: { pointer }, meta: {} }
  return new Refusal({ status: 422, body: { errors: [error] } })
}

export function notFound(what: string): Refusal {
  const error = { code: 'not_found', status: '404', title: 'Resource not found', detail: `The ${what} does not exist`, meta: {} }
  return new Refusal({ status: 404, body: { errors: [error] } })
}
