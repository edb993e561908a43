import type { PlanRegion } from '../../domain/account/plan.ts'

/** Names the sites that offer a plan, each with its region: `ASH, DAL (United States); FRA (Germany)`. Undefined if there are none. */
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
  const places = regions.flatMap((region) => {
    const sites = sitesOf(region)
    return sites.length > 0 ? [`${sites.join(', ')} (${region.name ?? 'region unknown'})`] : []
  })
  return places.length > 0 ? places.join('; ') : undefined
}
