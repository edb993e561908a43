import type { Plan, PlanPrice, PlanRegion } from '../../domain/account/plan.ts'
import { inNaturalOrder } from '../../domain/text/natural-order.ts'
import { containsWords, searchText } from '../../slack/text/contains-words.ts'

/** The price that plans are compared by: of the plan, per vCPU, or per GiB of memory. */
export type Measure = 'plan' | 'vcpu' | 'gb'

export interface PlanQuery {
  words: string[]
  /** The sites among the words, by their codes: `DAL`. Stock is shown for these only. */
  sites: string[]
  measure: Measure
  inStockOnly: boolean
  /** The currency that was typed, or `USD`. */
  currency: string
  /** The currencies that plans have prices in. */
  currencies: string[]
  /** A currency that was typed and that no plan has a price in. */
  unknownCurrency: string | undefined
}

/** A plan with the regions that fit, and the lowest price among them: among those with stock if only plans in stock were asked for. */
export interface PlanOffer {
  plan: Plan
  regions: PlanRegion[]
  price: PlanPrice | undefined
  /** The price per hour and `Measure`. Undefined if the price or the amount is not known. */
  figure: number | undefined
}

/** Reads the query from the words. A word is a currency only if some plan has a price in it: `EUR` is one, `FRA` is a site. */
export function readQuery(plans: Plan[], words: string[]): PlanQuery {
  const known = new Set(
    plans.flatMap((plan) => plan.regions.flatMap((region) => region.prices.map((price) => price.currency.toUpperCase()))),
  )
  const currency = words.find((word) => known.has(word.toUpperCase()))
  const sites = new Set(plans.flatMap((plan) => plan.regions.flatMap(sitesIn)).map((site) => site.toUpperCase()))
  const filters = words.filter((word) => word !== currency && !isInStock(word) && !(word.toLowerCase() in measures))
  const measure = words.map((word) => measures[word.toLowerCase()]).find((known) => known !== undefined) ?? 'plan'
  return {
    currencies: [...known].toSorted(),
    unknownCurrency: words.find((word) => !known.has(word.toUpperCase()) && currencyCodes.has(word.toUpperCase())),
    words: filters,
    sites: filters.map((word) => word.toUpperCase()).filter((word) => sites.has(word)),
    measure,
    inStockOnly: words.some(isInStock),
    currency: currency?.toUpperCase() ?? (known.has('USD') ? 'USD' : ([...known].toSorted()[0] ?? 'USD')),
  }
}

function isInStock(word: string): boolean {
  return word.toLowerCase() === 'in-stock'
}

/** The codes of ISO 4217. */
const currencyCodes = new Set(Intl.supportedValuesOf('currency'))

const measures: Record<string, Measure> = { cheapest: 'vcpu', 'cheapest-vcpu': 'vcpu', 'cheapest-gb': 'gb', 'cheapest-memory': 'gb' }

/** Finds the plans that fit, cheapest first. Plans without a price in the currency come last. */
export function findOffers(plans: Plan[], query: PlanQuery): PlanOffer[] {
  return plans
    .map((plan) => offerOf(plan, query))
    .filter((offer) => offer !== undefined)
    .toSorted((a, b) => order(a) - order(b) || inNaturalOrder(a.plan.name, b.plan.name))
}

/**
 * Matches every word with the plan or its regions. Words that match a region narrow the regions that are shown, and the codes of sites narrow
 * the sites in them. A price is that of a region, so it holds for each of its sites. `in-stock` chooses plans and the price, and the sites
 * without stock are still shown as such.
 */
function offerOf(plan: Plan, { words, sites, inStockOnly, currency, measure }: PlanQuery): PlanOffer | undefined {
  const ownText = searchText([plan.name, plan.specs.gpu, ...plan.operatingSystems])
  const placeWords = words.filter((word) => sites.includes(word.toUpperCase()) || !ownText.includes(word.toLowerCase()))
  const regions = plan.regions
    .filter((region) => containsWords([region.name, ...sitesIn(region)], placeWords))
    .map((region) => atSites(region, sites))
  const stocked = regions.filter((region) => region.inStockSites.length > 0)
  if (inStockOnly ? stocked.length === 0 : regions.length === 0 && placeWords.length > 0) return undefined
  const price = cheapest(inStockOnly ? stocked : regions, currency)
  return { plan, regions, price, figure: figureOf(plan, price, measure) }
}

/** Leaves out the other sites of a region. Without the codes of sites, all stay. */
function atSites(region: PlanRegion, sites: string[]): PlanRegion {
  const named = (codes: string[]) => codes.filter((site) => sites.length === 0 || sites.includes(site.toUpperCase()))
  return { ...region, availableSites: named(region.availableSites), inStockSites: named(region.inStockSites) }
}

/** Lists the codes of a region's sites. */
export function sitesIn({ availableSites, inStockSites }: PlanRegion): string[] {
  return [...availableSites, ...inStockSites]
}

function cheapest(regions: PlanRegion[], currency: string): PlanPrice | undefined {
  const prices = regions.flatMap((region) => region.prices.filter((price) => price.currency.toUpperCase() === currency))
  return prices.toSorted((a, b) => comparable(a) - comparable(b))[0]
}

function figureOf({ specs }: Plan, price: PlanPrice | undefined, measure: Measure): number | undefined {
  if (!price || !Number.isFinite(comparable(price))) return undefined
  const amount = measure === 'plan' ? 1 : measure === 'vcpu' ? specs.vcpuCount : specs.memory
  return amount ? comparable(price) / amount : undefined
}

function order({ figure }: PlanOffer): number {
  // The difference of two infinities is NaN, which would leave the list unsorted.
  return figure ?? Number.MAX_VALUE
}

/** Returns the price per hour. A price per month is divided by 730 hours. */
function comparable(price: PlanPrice): number {
  return price.hour ?? (price.month === undefined ? Number.POSITIVE_INFINITY : price.month / 730)
}
