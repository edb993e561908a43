import type { Plan, PlanPrice, PlanRegion } from '../../domain/plan.ts'

export interface PlanQuery {
  words: string[]
  inStockOnly: boolean
  /** `USD` unless asked for otherwise. */
  currency: string
}

/** A plan as it is shown: only the regions that fit, and the lowest price among them. */
export interface PlanOffer {
  plan: Plan
  regions: PlanRegion[]
  price: PlanPrice | undefined
}

/** A word counts as a currency only where some plan has a price in it: `EUR` is one, `FRA` a site. Pure. */
export function readQuery(plans: Plan[], words: string[]): PlanQuery {
  const known = new Set(
    plans.flatMap((plan) => plan.regions.flatMap((region) => region.prices.map((price) => price.currency.toUpperCase()))),
  )
  const currency = words.find((word) => known.has(word.toUpperCase()))
  const inStockOnly = words.some((word) => word.toLowerCase() === 'in-stock')
  return {
    words: words.filter((word) => word !== currency && word.toLowerCase() !== 'in-stock'),
    inStockOnly,
    currency: currency?.toUpperCase() ?? (known.has('USD') ? 'USD' : ([...known].toSorted()[0] ?? 'USD')),
  }
}

/** The plans that fit, cheapest first; those without a price in this currency come last. Pure. */
export function findOffers(plans: Plan[], query: PlanQuery): PlanOffer[] {
  return plans
    .map((plan) => offerOf(plan, query))
    .filter((offer) => offer !== undefined)
    .toSorted((a, b) => priceOf(a) - priceOf(b) || a.plan.name.localeCompare(b.plan.name, 'en', { numeric: true }))
}

/**
 * Every word has to fit the plan itself or its regions; the words that name regions or sites narrow the regions that are shown.
 */
function offerOf(plan: Plan, { words, inStockOnly, currency }: PlanQuery): PlanOffer | undefined {
  const own = [plan.name, plan.specs.gpu, ...plan.operatingSystems].join(' ').toLowerCase()
  const placeWords = words.map((word) => word.toLowerCase()).filter((word) => !own.includes(word))
  const regions = plan.regions
    .filter((region) => placeWords.every((word) => placeText(region).includes(word)))
    .filter((region) => !inStockOnly || stockedSites(region, placeWords).length > 0)
  if (regions.length === 0 && (placeWords.length > 0 || inStockOnly)) return undefined
  return { plan, regions, price: cheapest(regions, currency) }
}

/** The sites in stock; where a site was asked for by its code, only that one counts. */
function stockedSites(region: PlanRegion, placeWords: string[]): string[] {
  const named = region.inStockSites.filter((site) => placeWords.includes(site.toLowerCase()))
  const asksForSites = region.availableSites.some((site) => placeWords.includes(site.toLowerCase()))
  return asksForSites ? named : region.inStockSites
}

function placeText(region: PlanRegion): string {
  return [region.name, ...region.availableSites, ...region.inStockSites].join(' ').toLowerCase()
}

function cheapest(regions: PlanRegion[], currency: string): PlanPrice | undefined {
  const prices = regions.flatMap((region) => region.prices.filter((price) => price.currency.toUpperCase() === currency))
  return prices.toSorted((a, b) => comparable(a) - comparable(b))[0]
}

function priceOf(offer: PlanOffer): number {
  return offer.price ? comparable(offer.price) : Number.POSITIVE_INFINITY
}

/** A month has 730 hours where only one of the two prices is told. */
function comparable(price: PlanPrice): number {
  return price.hour ?? (price.month === undefined ? Number.POSITIVE_INFINITY : price.month / 730)
}
