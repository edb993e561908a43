import type { ProjectRef } from './place.ts'

/**
 * A virtual machine (interface specification, "Virtual machine"). Its credentials are never asked for and never parsed.
 * `status` and `billing` are open sets; the answer to a rename can leave out everything but the id.
 */
export interface VirtualMachine {
  id: string
  /** Display name, also its hostname. */
  name: string | undefined
  status: string | undefined
  createdAt: string | undefined
  primaryIpv4: string | undefined
  /** The site it runs in, as the account API writes it. */
  site: string | undefined
  billing: string | undefined
  operatingSystem: { name: string | undefined; slug: string | undefined; version: string | undefined } | undefined
  plan: { id: string | undefined; name: string | undefined; slug: string | undefined } | undefined
  /** Sizes in the account API's own words (`16 GB`); their units are part of the text. */
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
