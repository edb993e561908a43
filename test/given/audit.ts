import type { Audit } from '../../src/audit/audit.ts'
import type { AuditNote } from '../../src/audit/chain.ts'
import { createKeyring } from '../../src/domain/signing.ts'
import { secretsOf } from './signatures.ts'

/** An audit for tests of other parts. Its notes have the text that `textOf` returns, and are neither signed nor chained. */
export function auditWriting(textOf: (note: AuditNote) => string): Pick<Audit, 'noteWith'> {
  return { noteWith: (note, command) => command(textOf(note)) }
}

/** Of records that a test trusts. */
export const trusting = { verifyRecord: () => 'genuine' as const }

/** What an audit needs to sign as a process with these keys does. */
export function auditSigning({ keys = 'a-key-for-tests-of-32-characters', prefix = 'lockkeeper' }: Signing = {}) {
  return { keyring: createKeyring(secretsOf(keys), { purpose: 'audit', prefix }) }
}

interface Signing {
  /** Separated by commas. */
  keys?: string
  prefix?: string
}
