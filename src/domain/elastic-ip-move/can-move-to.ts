import type { ElasticIp } from '../account/elastic-ip.ts'
import { sameProject, sameSite } from '../account/place.ts'
import type { Server } from '../account/server.ts'

/**
 * Whether the server is another one in the same project and site, as far as they are known. `assigned` is the server that the Elastic IP is
 * on.
 */
export function canMoveTo(elasticIp: ElasticIp, target: Server, assigned: Server | undefined): boolean {
  const sites = { location: elasticIp.site, assigned: assigned?.site, target: target.site }
  if (target.id === elasticIp.server?.id) return false
  return sameProject(elasticIp.project, target.project) !== false && sameSite(sites) !== false
}
