import type { Keyring } from '../../../domain/signing/keyring.ts'

/** The same problem is notified once in this time, over all replicas and requests. */
export const quietMs = 3_600_000

/**
 * Creates the marks of problems that the operators were notified of. Before, the token of the process that notifies them is in the place of the
 * mark.
 */
export function createNoticeMarks(keyring: Keyring) {
  function markOf(key: string, at = Date.now()): string {
    return `${at} ${keyring.sign({ signed: 'notice', key, at })}`
  }

  function isMark(key: string, text: string): boolean {
    const [at = '', signature] = text.split(' ')
    // A mark from the future is as old as one from the past: the clock of the process that made it may be wrong.
    return Math.abs(Date.now() - Number(at)) < quietMs && keyring.verify({ signed: 'notice', key, at: Number(at) }, signature) === 'genuine'
  }

  return { markOf, isMark }
}
