import type { ProjectRef, Site } from './place.ts'

/** A server that an Elastic IP can be moved to. `status` is one of an open set, such as `on`, `off` or `deploying`. */
export interface Server {
  id: string
  hostname: string | undefined
  label: string | undefined
  primaryIpv4: string | undefined
  status: string | undefined
  locked: boolean
  /** When the account deletes it, in ms since 1970. Absent if no deletion is scheduled, or if the time cannot be read. */
  deletedAt?: number
  project: ProjectRef | undefined
  /** `region.site`. */
  site: Site | undefined
  /** The city and the country, as far as they are shown. Only searched. */
  regionNames?: string[]
}
