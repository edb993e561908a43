import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import { describeError } from './safe-value.ts'

/** Errors of a connection, by the code of Node or the words of ioredis and BullMQ. */
const ofConnection =
  /\b(ECONN(REFUSED|RESET|ABORTED)|E(TIMEDOUT|PIPE|AI_AGAIN|NOTFOUND|HOSTUNREACH|NETUNREACH))\b|Connection is closed|Connection closed|Command aborted|isn't writeable|timed out|Socket timeout|max retries per request|enableOfflineQueue|\b(LOADING|READONLY|MASTERDOWN|UNBLOCKED|CLUSTERDOWN|NOREPLICAS)\b/i

/**
 * Returns a name that like errors share. An outage of Redis shows in many words, which all are like each other. Of all other errors, two are
 * alike if they differ at most in numbers and ids.
 */
export function likenessOf(error: unknown): string {
  const { name, message = '', code = '', operation = '', status = '', codes = [] } = describeError(error)
  const isAway = (error instanceof StoreUnavailableError && code === '') || ofConnection.test(`${code} ${message}`)
  if (isAway && operation === '') return 'no connection'
  return [name, code, operation, status, ...codes, withoutNumbers(message)].join(' ')
}

/** Replaces numbers and ids, so that texts that differ only in them are the same. */
export function withoutNumbers(text: string): string {
  return text.replace(/[0-9a-f-]{8,}|\d+/gi, '#')
}
