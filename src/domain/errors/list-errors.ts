import { ApiContractError } from './api-errors.ts'

/** An answer has more bytes than Lockkeeper reads. */
export class AnswerTooLongError extends ApiContractError {
  override name = 'AnswerTooLongError'

  constructor({ operation, status, most }: { operation: string; status: number; most: number }) {
    super({ operation, status, problem: `more than ${most} bytes` })
  }
}

/** The limit that a list exceeded: items or bytes in all or of one page, pages, or time. */
export type ListLimit = 'items' | 'items of a page' | 'pages' | 'bytes' | 'bytes of a page' | 'time'

/**
 * A list was not read to its end, because it exceeds a limit. `items` are those that were read, for code that only shows the list. An item
 * that is missing there may still exist.
 */
export class ListCutError extends ApiContractError {
  override name = 'ListCutError'
  readonly items: unknown[]
  readonly limit: ListLimit

  constructor({ operation, limit, items }: { operation: string; limit: ListLimit; items: unknown[] }) {
    super({ operation, status: 200, problem: `a list that exceeds its limit of ${limit}` })
    this.items = items
    this.limit = limit
  }
}
