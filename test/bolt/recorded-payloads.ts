import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Origin } from '../../src/domain/approval.ts'

/** What Slack sends, member by member as its own SDKs record it. */
export const recordedPayloads: {
  name: string
  source: string
  /** Its name in the log and in the audit. */
  at: string
  where: Partial<Origin>
  body: Record<string, unknown>
}[] = parse(readFileSync(new URL('./recorded-payloads.yml', import.meta.url), 'utf8'))
