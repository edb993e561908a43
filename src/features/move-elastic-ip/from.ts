import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import { readMetadata, writeMetadata } from '../../slack/receive/metadata.ts'
import { truncate } from '../../slack/text/cut-text.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { isElsewhere } from './messages.ts'

/** Whether a typed word is the id or the hostname of this server. */
export function isServer({ id, hostname }: NonNullable<ElasticIp['server']>, typed: string): boolean {
  return [id, hostname].some((one) => one?.toLowerCase() === typed.toLowerCase())
}

/**
 * Says where the Elastic IP is, if the account shows another server than the one after `from`. Undefined also if the account shows no
 * hostname, or the Elastic IP is moving.
 */
export function elsewhereProblem({ address, server, status }: ElasticIp, from: string | undefined): Mrkdwn | undefined {
  if (from === undefined || !server?.hostname || status === 'moving' || isServer(server, from)) return undefined
  return isElsewhere({ address, from, on: server.hostname })
}

/** The longest hostname (RFC 1035). A form's metadata has room for it. */
const longestName = 253

/** Adds the server after `from` to the metadata of a form. */
export function withFrom(metadata: string, from: string | undefined): string {
  const known = readMetadata(metadata)
  return known && from !== undefined ? writeMetadata({ ...known, from: truncate(from, longestName, 'plain') }) : metadata
}

/** Returns the server after `from`, which the form was opened with. */
export function fromOf(metadata: string): string | undefined {
  return readMetadata(metadata)?.from
}

/** Says which Elastic IPs a form offers that was opened with `from`. */
export function offeredWords(from: string): Mrkdwn {
  return mrkdwn`Only addresses on ${code(truncate(from, 80, 'plain'))}, and those with no server shown.`
}
