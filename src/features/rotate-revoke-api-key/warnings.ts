import type { ApiKey } from '../../domain/account/api-key.ts'
import { labelOf, requesterOfKey } from '../../domain/account/api-key-name.ts'
import type { KeyFinding } from './findings.ts'

/**
 * Lists what approvers should know about a key: how many others have its name, that its token stops working, whether it is in use, its age, its requester, and what its
 * new token could do. `namesakes`: the number of those others. `now`: ms since 1970.
 */
export function warningsAbout(
  key: ApiKey,
  verb: 'rotate' | 'revoke',
  { namesakes, now }: { namesakes: number; now: number },
): KeyFinding[] {
  const isOpen = key.readOnly === false && key.allowedIps?.length === 0
  return [
    ...(namesakes > 0 && key.name !== undefined
      ? [{ code: 'same-name' as const, name: labelOf(key.name), lastSlice: key.tokenLastSlice, count: namesakes }]
      : []),
    tokenStops(verb),
    historyOf(key, now),
    ...(verb === 'rotate' && isOpen ? [{ code: 'full-access-from-everywhere' as const }] : []),
  ]
}

/** Warns approvers that the token stops working, even if the key could not be read. */
export function tokenStops(verb: 'rotate' | 'revoke'): KeyFinding {
  return { code: 'token-stops', verb }
}

function historyOf(key: ApiKey, now: number): KeyFinding {
  const [usedAgoMs, ageMs, changedAgoMs] = [key.lastUsedAt, key.createdAt, key.updatedAt].map((at) => agoMs(at, now))
  const creator = requesterOfKey(key)
  return {
    code: 'key-history',
    ...(usedAgoMs === undefined ? {} : { usedAgoMs }),
    ...(ageMs === undefined ? {} : { ageMs }),
    // After a rotation the account may show no use of a key that was in use until then.
    ...(usedAgoMs === undefined && changedAgoMs !== undefined && changedAgoMs !== ageMs ? { changedAgoMs } : {}),
    ...(creator === undefined ? {} : { creator }),
  }
}

function agoMs(at: string | undefined, now: number): number | undefined {
  const ms = now - Date.parse(at ?? '')
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
