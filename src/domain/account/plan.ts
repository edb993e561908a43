/** The price of a plan in one currency (a code such as `USD`). Amounts are in whole units of the currency, such as dollars. */
export interface PlanPrice {
  currency: string
  hour: number | undefined
  month: number | undefined
}

export interface PlanRegion {
  name: string | undefined
  /** Codes of the sites that offer the plan (`ASH`), whether or not it is in stock there. */
  availableSites: string[]
  inStockSites: string[]
  prices: PlanPrice[]
}

/** A virtual machine plan (interface specification, "Virtual machine plan"). */
export interface Plan {
  id: string
  /** The id if the account API shows no name. */
  name: string
  specs: {
    vcpuCount: number | undefined
    /** The specification shows no unit. Shown in GiB, as disks are, because memory comes in binary sizes. */
    memory: number | undefined
    gpu: string | undefined
    /** The specification shows no unit. */
    vramPerGpu: number | undefined
    /** `unit` is `gib` or `tib` in known plans. */
    disk: { type: string | undefined; amount: number | undefined; unit: string | undefined } | undefined
  }
  regions: PlanRegion[]
  /** One of an open set, such as `low`. */
  stockLevel: string | undefined
  /** Slugs such as `ubuntu_24_04_x64_lts`. */
  operatingSystems: string[]
}
