import type { ProjectRef, Site } from './place.ts'

/** Stands for a status that the account API does not tell. */
export const statusNotTold = 'unknown'

/** The server an Elastic IP is assigned to, as the Elastic IP tells it. */
export interface AssignedServer {
  id: string
  hostname: string | undefined
}

/**
 * An Elastic IP (interface specification, "Elastic IP").
 * As far as it is used. `status` is an open set; `active`, `moving`, `configuring`, `pending`, `releasing` and `error` are the ones known.
 */
export interface ElasticIp {
  id: string
  /** The id where the account API tells no address (yet). */
  address: string
  /** `statusNotTold` where the account API tells none. */
  status: string
  /** Undefined while unassigned, or while the assigned server is not active. */
  server: AssignedServer | undefined
  project: ProjectRef | undefined
  /** `region.location`: the site the address is routed in. Its id and name are not those of a server's site. */
  site: Site | undefined
}
