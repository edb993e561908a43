import { StoreUnavailableError } from './errors.ts'

/** A right that the user of Redis lacks. Both are sentences for operators. */
export interface MissingRight {
  why: string
  fix: string
}

/** Whether Redis refused a command because its user lacks a right. */
export function isMissingRight(error: unknown): error is StoreUnavailableError & { code: 'NOPERM' } {
  return error instanceof StoreUnavailableError && error.code === 'NOPERM'
}

/** Finds the right whose lack caused the error. Undefined if it has another cause. `prefix`: REDIS_PREFIX. */
export function missingRightOf(error: unknown, prefix: string): MissingRight | undefined {
  return isMissingRight(error) ? missingRightIn(error.message, prefix) : undefined
}

/** Says which right an answer with NOPERM is about. Only the name of a command is taken from it: the rest may quote what was sent. */
export function missingRightIn(answer: string, prefix: string): MissingRight {
  const command = /run the '([\w|]+)' command/.exec(answer)?.[1]
  if (command !== undefined) {
    return {
      why: `The user in REDIS_URL has no right to run the command ${command} (NOPERM).`,
      fix: `Give it +${command}, or all rights in deploy/redis/users.acl.`,
    }
  }
  // Redis 7.0 does not name the command that a script runs.
  if (/\bthis command\b/.test(answer)) {
    return {
      why: 'The user in REDIS_URL has no right to run a command that Lockkeeper needs (NOPERM).',
      fix: 'Give it all rights in deploy/redis/users.acl.',
    }
  }
  return {
    why: 'The user in REDIS_URL has no right to use the keys of REDIS_PREFIX (NOPERM).',
    fix: `Give it ~{${prefix}}:*, or correct REDIS_PREFIX.`,
  }
}
