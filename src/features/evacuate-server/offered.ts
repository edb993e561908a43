import type { Finding } from '../../domain/change/finding.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import type { Phrase } from '../../domain/text/phrase.ts'
import type { LinkedRequest } from '../../requests/messages/related.ts'

/** The addresses of a server, as the form offers them. */
export interface OfferedAddresses {
  serverId: string
  serverName: string
  offered: { elasticIpId: string; address: string; seenAgoMs?: number | undefined; isTicked: boolean }[]
  /** Addresses that cannot be moved, and why. */
  cannotMove: { elasticIpId: string; address: string; finding: Finding }[]
  /** How long it takes until all of them are sent at the account's limit, in ms, and that limit. Absent if one minute is enough. */
  sending?: { takesMs: number; perMinute: number } | undefined
  /** The BGP addresses that the server may announce. */
  bgp: string[]
  /** Set if they are from an earlier list. */
  old?: Missing['old']
  /** The last change of a server that has no address to move, or of the addresses that are no longer there, if Lockkeeper made one. */
  lastMove?: LastMove | undefined
}

/** An ended request, with the address of its message. */
export interface LastMove extends LinkedRequest {
  title: Phrase
  /** In ms since 1970. */
  endedAt: number
}
