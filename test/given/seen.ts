import type { SeenAssignment } from '../../src/domain/account.ts'
import { requestedAt } from './request.ts'

/** An address that Lockkeeper saw on `web-1`. */
export function seenOnWeb1(index: number, agoMs: number): SeenAssignment {
  return {
    elasticIpId: `eip_${index}`,
    address: `203.0.113.${index}`,
    serverId: 'sv_1',
    serverName: 'web-1',
    at: requestedAt - agoMs,
    agoMs,
  }
}
