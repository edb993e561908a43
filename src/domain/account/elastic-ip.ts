import type { ProjectRef, Site } from './place.ts'

/** The status of an Elastic IP for which the account API shows none. */
export const statusNotShown = 'unknown'

/** The server that an Elastic IP is assigned to, as the Elastic IP shows it. */
interface AssignedServer {
  id: string
  hostname: string | undefined
}

/**
 * An Elastic IP (interface specification, "Elastic IP"), with the members that Lockkeeper uses. `status` is one of an open set. Known are
 * `active`, `moving`, `configuring`, `pending`, `releasing` and `error`.
 */
export interface ElasticIp {
  id: string
  /** The id if the account API shows no address (yet). */
  address: string
  /** `statusNotShown` if the account API shows none. */
  status: string
  /** One of an open set. Known are `routed` and `bgp`. Absent if the account API shows none. */
  mode?: string | undefined
  /** Undefined while the Elastic IP is unassigned, or while its server is not active. */
  server: AssignedServer | undefined
  project: ProjectRef | undefined
  /**
   * The site that the address is routed in (`region.location`). Its id and name differ from those that a server shows for the same site.
   */
  site: Site | undefined
  /** The name of the region, which is the country, if it is shown. Only searched. */
  regionNames?: string[]
}

/** Whether servers announce the address through BGP sessions of their own. Such an address is never moved, and its `server` means nothing. */
export function isBgp({ id, mode }: Pick<ElasticIp, 'id' | 'mode'>): boolean {
  return id.startsWith('ueip_') || mode?.toLowerCase() === 'bgp'
}
