import type { ProjectRef } from './place.ts'

/**
 * A virtual machine (interface specification, "Virtual machine"). Its credentials are never requested and never parsed. `status` and
 * `billing` are each one of an open set. The answer to a rename may contain only the id.
 */
export interface VirtualMachine {
  id: string
  /** The display name, which is also the hostname. */
  name: string | undefined
  status: string | undefined
  createdAt: string | undefined
  primaryIpv4: string | undefined
  /** The site as the account API writes it. */
  site: string | undefined
  billing: string | undefined
  operatingSystem: { name: string | undefined; slug: string | undefined; version: string | undefined } | undefined
  plan: { id: string | undefined; name: string | undefined; slug: string | undefined } | undefined
  /** Sizes as texts of the account API with their units: `16 GB`. */
  specs: {
    vcpuCount: number | undefined
    ram: string | undefined
    storage: string | undefined
    nic: string | undefined
    gpu: string | undefined
  }
  project: ProjectRef | undefined
  pendingRestart: boolean | undefined
}
