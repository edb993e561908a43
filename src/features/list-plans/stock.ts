import type { PlanRegion } from '../../domain/account/plan.ts'

/** Names the sites that offer a plan, by their codes: `ASH, DAL, FRA`. Undefined if there are none. The details of a plan name the regions. */
interface Stock {
  inStock: string | undefined
  notInStock: string | undefined
}

export function stockOf(regions: PlanRegion[]): Stock {
  return {
    inStock: placed(regions, ({ inStockSites }) => inStockSites),
    notInStock: placed(regions, ({ availableSites, inStockSites }) => availableSites.filter((site) => !inStockSites.includes(site))),
  }
}

function placed(regions: PlanRegion[], sitesOf: (region: PlanRegion) => string[]): string | undefined {
  const sites = new Set(regions.flatMap(sitesOf))
  return sites.size > 0 ? [...sites].join(', ') : undefined
}
