import { inspect } from 'node:util'

/**
 * Holds a value that must never be printed. Strings, JSON, logs and `inspect` show `[redacted]`. Only `reveal()` returns the value, and a
 * test names the few files that may call it.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return '[redacted]'
  }

  toJSON(): string {
    return '[redacted]'
  }

  [Symbol.toPrimitive](): string {
    return '[redacted]'
  }

  [inspect.custom](): string {
    return '[redacted]'
  }
}
