import type { Plan, PlanPrice, PlanRegion } from '../../domain/plan.ts'
import { containsWords } from '../../slack/text/contains-words.ts'

/** By what plans are compared: the price as it is, for each vCPU, or for each GB of memory. */
export type Measure = 'plan' | 'vcpu' | 'gb'

export interface PlanQuery {
  words: string[]
  measure: Measure
  inStockOnly: boolean
  /** `USD` unless asked for otherwise. */
  currency: string
}

/** A plan as it is shown: only the regions that fit, and the lowest price among them. */
export interface PlanOffer {
  plan: Plan
  regions: PlanRegion[]
  price: PlanPrice | undefined
  /** The price an hour for one of what is compared by; undefined where it cannot be told. */
  figure: number | undefined
}

/** A word counts as a currency only where some plan has a price in it: `EUR` is one, `FRA` a site. Pure. */
export function readQuery(plans: Plan[], words: string[]): PlanQuery {
  const known = new Set(
    plans.flatMap((plan) => plan.regions.flatMap((region) => region.prices.map((price) => price.currency.toUpperCase()))),
  )
  const currency = words.find((word) => known.has(word.toUpperCase()))
  const inStockOnly = words.some((word) => word.toLowerCase() === 'in-stock')
  const measure = words.map((word) => measures[word.toLowerCase()]).find((known) => known !== undefined) ?? 'plan'
  return {
    words: words.filter((word) => word !== currency && word.toLowerCase() !== 'in-stock' && !(word.toLowerCase() in measures)),
    measure,
    inStockOnly,
    currency: currency?.toUpperCase() ?? (known.has('USD') ? 'USD' : ([...known].toSorted()[0] ?? 'USD')),
  }
}

const measures: Record<string, Measure> = { cheapest: 'vcpu', 'cheapest-vcpu': 'vcpu', 'cheapest-gb': 'gb', 'cheapest-memory': 'gb' }

/** The plans that fit, cheapest first; those without a price in this currency come last. Pure. */
export function findOffers(plans: Plan[], query: PlanQuery): PlanOffer[] {
  return plans
    .map((plan) => offerOf(plan, query))
    .filter((offer) => offer !== undefined)
    .toSorted((a, b) => order(a) - order(b) || a.plan.name.localeCompare(b.plan.name, 'en', { numeric: true }))
}

/**
 * Every word has to fit the plan itself or its regions; the words that name regions or sites narrow the regions that are shown.
 */
function offerOf(plan: Plan, { words, inStockOnly, currency, measure }: PlanQuery): PlanOffer | undefined {
  const ownTexts = [plan.name, plan.specs.gpu, ...plan.operatingSystems]
  const placeWords = words.map((word) => word.toLowerCase()).filter((word) => !containsWords(ownTexts, [word]))
  const regions = plan.regions
    .filter((region) => containsWords(placeTexts(region), placeWords))
    .filter((region) => !inStockOnly || stockedSites(region, placeWords).length > 0)
  if (regions.length === 0 && (placeWords.length > 0 || inStockOnly)) return undefined
  const price = cheapest(regions, currency)
  return { plan, regions, price, figure: figureOf(plan, price, measure) }
}

/** The sites in stock; where a site was asked for by its code, only that one counts. */
function stockedSites(region: PlanRegion, placeWords: string[]): string[] {
  const named = region.inStockSites.filter((site) => placeWords.includes(site.toLowerCase()))
  const asksForSites = region.availableSites.some((site) => placeWords.includes(site.toLowerCase()))
  return asksForSites ? named : region.inStockSites
}

function placeTexts(region: PlanRegion): unknown[] {
  return [region.name, ...region.availableSites, ...region.inStockSites]
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
  // Not infinity: two of them would differ by NaN, and leave the rest unsorted.
  return figure ?? Number.MAX_VALUE
}

/** A month has 730 hours where only one of the two prices is told. */
function comparable(price: PlanPrice): number {
  return price.hour ?? (price.month === undefined ? Number.POSITIVE_INFINITY : price.month / 730)
}
