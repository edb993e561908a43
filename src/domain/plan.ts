/** What a plan costs in one currency (a code such as `USD`), in whole units of it. */
export interface PlanPrice {
  currency: string
  hour: number | undefined
  month: number | undefined
}

export interface PlanRegion {
  name: string | undefined
  /** Codes of the sites that offer the plan (`ASH`), in stock or not. */
  availableSites: string[]
  inStockSites: string[]
  prices: PlanPrice[]
}

/** A virtual machine plan (interface specification, "Virtual machine plan"). */
export interface Plan {
  id: string
  /** The id where the account API tells no name. */
  name: string
  specs: {
    vcpuCount: number | undefined
    /** The specification shows no unit; plans read as if it were GB. */
    memory: number | undefined
    gpu: string | undefined
    /** The specification shows no unit. */
    vramPerGpu: number | undefined
    /** `unit` is `gib` or `tib` where it occurs. */
    disk: { type: string | undefined; amount: number | undefined; unit: string | undefined } | undefined
  }
  regions: PlanRegion[]
  /** An open set; `low` is one that occurs. */
  stockLevel: string | undefined
  /** Slugs such as `ubuntu_24_04_x64_lts`. */
  operatingSystems: string[]
}
