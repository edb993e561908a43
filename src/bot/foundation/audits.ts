import type { AuditNote } from '../../audit/entry.ts'
import { createAudit } from '../../audit/intake.ts'
import { createNewestHead } from '../../audit/newest-head.ts'
import { createNoteSigner } from '../../audit/note-signer.ts'
import type { Config } from '../../config/config.ts'
import { createKeyring } from '../../domain/signing/keyring.ts'
import { scrub } from '../../ops/log/safe-value.ts'
import type { Redis } from '../../redis/connect.ts'
import type { RedisConnections } from './redis-connections.ts'
import type { Telemetry } from './telemetry.ts'

interface AuditsParts {
  config: Config
  /** Prints one line of the audit. */
  printAudit: (line: string) => void
  telemetry: Telemetry
  redis: RedisConnections
}

/** Creates the audit over each connection to Redis: for people, who wait for an answer, and for jobs, which can wait longer. */
export function createAudits({ config, printAudit, telemetry: { metrics, errorReports }, redis: { keys, prompt, patient } }: AuditsParts) {
  const keyring = createKeyring(config.signingSecrets, { purpose: 'audit', prefix: config.redis.prefix })
  const signer = createNoteSigner(keyring)
  const newestHead = createNewestHead()

  function auditOver(redis: Redis) {
    return createAudit({
      redis,
      keys,
      print: printAudit,
      clean: scrub,
      signer,
      keyring,
      onError: errorReports.of('audit'),
      newestHead,
      onNotGenuine: () => metrics.notGenuine('audit-note'),
    })
  }

  const people = auditOver(prompt)
  const jobs = auditOver(patient)

  /** Counts and records a refusal. The person is refused even if it cannot be recorded. */
  function noteRefusal(note: AuditNote): Promise<void> {
    metrics.decision(note.kind ?? 'none', 'refused')
    return people.noteRefusal(note).catch(errorReports.of('audit'))
  }

  return { people, jobs, newestHead, noteRefusal }
}
