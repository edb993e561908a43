import type { Plan, PlanPrice, PlanRegion } from '../account/objects.ts'
import type { List } from '../domain/list.ts'
import { inNaturalOrder } from '../domain/text.ts'
import { listFeature } from '../kit/list.ts'
import { cutNotes, filteredTitle, type Listing, mostRows, noneFits, oldNotes, sitesInList, unlisted } from '../slack/listing.ts'
import { type Cell, type Column, type Columns, type Details, detailsOf, itemRows } from '../slack/table.ts'
import { code, containsWords, mrkdwn, searchText } from '../slack/text.ts'

interface PlanQuery {
  words: string[]
  /** The sites among the words, by their codes: `DAL`. Stock is shown for these only. */
  sites: string[]
  inStockOnly: boolean
  currency: string
}

/** A plan with the regions that fit, and the lowest price among them: among those with stock if only plans in stock were asked for. */
interface PlanOffer {
  plan: Plan
  /** The sites that offer it, by their codes: `ASH, DAL`. Empty if there are none. */
  inStock: string
  notInStock: string
  price: PlanPrice | undefined
}

/** Reads the query from the words. A word is a currency only if some plan has a price in it: `EUR` is one, `FRA` is a site. */
function readQuery(plans: Plan[], words: string[]): PlanQuery {
  const regions = plans.flatMap((plan) => plan.regions)
  const currencies = new Set(regions.flatMap(({ prices }) => prices.map(({ currency }) => currency.toUpperCase())))
  const sites = new Set(regions.flatMap(sitesIn).map((site) => site.toUpperCase()))
  const usual = currencies.has('USD') ? 'USD' : ([...currencies].toSorted()[0] ?? 'USD')
  const isInStock = (word: string) => word.toLowerCase() === 'in-stock'
  const filters = words.filter((word) => !currencies.has(word.toUpperCase()) && !isInStock(word))
  return {
    words: filters,
    sites: filters.map((word) => word.toUpperCase()).filter((word) => sites.has(word)),
    inStockOnly: words.some(isInStock),
    currency: words.map((word) => word.toUpperCase()).find((word) => currencies.has(word)) ?? usual,
  }
}

/** Every word matches the plan or its regions. A price is that of a region. `in-stock` chooses plans and the price, and sites without stock stay. */
function offerOf(plan: Plan, { words, sites, inStockOnly, currency }: PlanQuery): PlanOffer | undefined {
  const ownText = searchText([plan.name, plan.specs.gpu, ...plan.operatingSystems])
  const placeWords = words.filter((word) => sites.includes(word.toUpperCase()) || !ownText.includes(word.toLowerCase()))
  const named = (codes: string[]) => codes.filter((site) => sites.length === 0 || sites.includes(site.toUpperCase()))
  const regions = plan.regions
    .filter((region) => containsWords([region.name, ...sitesIn(region)], placeWords))
    .map((region) => ({ ...region, availableSites: named(region.availableSites), inStockSites: named(region.inStockSites) }))
  const stocked = regions.filter((region) => region.inStockSites.length > 0)
  if (inStockOnly ? stocked.length === 0 : regions.length === 0 && placeWords.length > 0) return undefined
  const prices = (inStockOnly ? stocked : regions).flatMap((region) => region.prices)
  const [price] = prices.filter((each) => each.currency.toUpperCase() === currency).toSorted((a, b) => perHour(a) - perHour(b))
  return { plan, ...stockOf(regions), price }
}

function sitesIn({ availableSites, inStockSites }: PlanRegion): string[] {
  return [...availableSites, ...inStockSites]
}

/** A price per month is divided by 730 hours. Not infinite without a price: the difference of two infinities is NaN, which sorts nothing. */
function perHour({ hour, month }: Partial<PlanPrice> = {}): number {
  return hour ?? (month === undefined ? Number.MAX_VALUE : month / 730)
}

function stockOf(regions: PlanRegion[]): Pick<PlanOffer, 'inStock' | 'notInStock'> {
  const without = regions.flatMap(({ inStockSites, availableSites }) => availableSites.filter((site) => !inStockSites.includes(site)))
  const named = (sites: string[]) => [...new Set(sites)].join(', ')
  return { inStock: named(regions.flatMap(({ inStockSites }) => inStockSites)), notInStock: named(without) }
}

const [name, ...size]: Columns<Pick<PlanOffer, 'plan'>> = [
  { header: 'Plan', cell: ({ plan }) => plan.name },
  { header: 'vCPU', cell: ({ plan }) => numberCell(plan.specs.vcpuCount, String) },
  { header: 'Memory', cell: ({ plan }) => numberCell(plan.specs.memory, (amount) => `${amount} GiB`) },
  { header: 'GPU', cell: ({ plan }) => gpu(plan) },
  { header: 'Disk', cell: ({ plan }) => disk(plan) },
]

/** The price that sorts the list comes first, because a narrow screen shows the first columns only. */
function planColumns(currency: string): Columns<PlanOffer> {
  const priceCell = (price: number | undefined) => numberCell(price, (amount) => priceWords(amount, currency))
  return [
    name,
    {
      header: 'Per hour',
      cell: ({ price }) => priceCell(price?.hour) ?? (price?.month === undefined ? `no price in ${currency}` : undefined),
    },
    ...size,
    { header: 'Per month', cell: ({ price }) => priceCell(price?.month) },
    { header: 'In stock', cell: ({ inStock, notInStock }) => inStock || (notInStock ? undefined : 'unknown') },
    { header: 'Not in stock', cell: ({ notInStock }) => notInStock },
  ]
}

const amounts = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })

/** `$0.007`, `EUR 5.11`. Other currencies than the US dollar are shown by their code, because several share a symbol. */
function priceWords(amount: number, currency: string): string {
  return `${currency === 'USD' ? '$' : `${currency} `}${amounts.format(amount)}`
}

function numberCell(value: number | undefined, wordsOf: (value: number) => string): Cell {
  return value === undefined ? undefined : { value, words: wordsOf(value) }
}

/** The account API shows the memory of each GPU, and not how many a plan has. */
function gpu({ specs }: Plan): string | undefined {
  return specs.gpu && `${specs.gpu}${specs.vramPerGpu === undefined ? '' : ` (${specs.vramPerGpu} GiB per GPU)`}`
}

function disk({ specs: { disk } }: Plan): string | undefined {
  if (disk?.amount === undefined) return undefined
  const unit = { gib: 'GiB', tib: 'TiB' }[disk.unit?.toLowerCase() ?? ''] ?? disk.unit
  return [disk.amount, unit, disk.type].filter(Boolean).join(' ')
}

export function planListing(list: List<Plan>, typed: string[]): Listing {
  const plans = list.items
  const query = readQuery(plans, typed)
  const { words, inStockOnly, currency } = query
  const offers = plans
    .flatMap((plan) => offerOf(plan, query) ?? [])
    .toSorted((a, b) => perHour(a.price) - perHour(b.price) || inNaturalOrder(a.plan.name, b.plan.name))
  const counted = { one: inStockOnly ? 'plan in stock' : 'plan', many: inStockOnly ? 'plans in stock' : 'plans', words }
  const sites = sitesInList(plans.flatMap(({ regions }) => regions.flatMap(sitesIn)))
  const none = mrkdwn`${noneFits(plans.length, { one: 'plan', many: 'plans', words: typed })} Use other words.${sites}`
  const prices = mrkdwn`Prices in ${currency}, the lowest of the sites ${inStockOnly ? 'in stock' : 'shown'}.`
  return {
    title: mrkdwn`${filteredTitle(offers.length, counted)}, cheapest first`,
    ...itemRows(offers.slice(0, mostRows), {
      columns: planColumns(currency),
      details: { of: 'plan', placeholder: 'Details of a plan', idOf: ({ plan }) => plan.id, nameOf: ({ plan }) => plan.name },
    }),
    empty: plans.length === 0 ? mrkdwn`The account API lists no plans.` : none,
    notes: [...cutNotes(list, typed), ...(offers.length > 0 ? [prices] : []), ...unlisted(offers.length)],
    isOld: list.old !== undefined,
  }
}

export function planDetails(plan: Plan): Details {
  const regions = plan.regions.map((region) => ({ header: region.name ?? 'Region unknown', cell: () => regionWords(region) }))
  const more: Column<Pick<PlanOffer, 'plan'>>[] = [
    { header: 'Stock level', cell: () => plan.stockLevel },
    ...regions,
    { header: 'Operating systems', cell: () => plan.operatingSystems.join(', ') },
    { header: 'Id', cell: () => code(plan.id) },
  ]
  return { ...detailsOf({ plan }, [name, ...size, ...more]), name: plan.name }
}

function regionWords(region: PlanRegion): string {
  const { inStock, notInStock } = stockOf([region])
  const stock = [inStock && `In stock: ${inStock}`, notInStock && `Not in stock: ${notInStock}`].filter(Boolean)
  return `${pricesWords(region.prices)}. ${stock.join('. ') || 'Sites unknown'}`
}

function pricesWords(prices: PlanPrice[]): string {
  const parts = prices.flatMap(({ currency, hour, month }) => [
    ...(hour === undefined ? [] : [`${priceWords(hour, currency)}/h`]),
    ...(month === undefined ? [] : [`${priceWords(month, currency)}/mo`]),
  ])
  return parts.length > 0 ? parts.join(', ') : 'no price'
}

export const listPlans = listFeature({
  words: 'plans',
  usage: '[word…]',
  group: 'View',
  summary: 'Virtual machine plans with size, stock and price',
  details: mrkdwn`Words filter by name, GPU, region, site or operating system. All of them must match. With the code of a site, stock is shown for that site only. ${code('in-stock')} keeps those in stock. A code such as ${code('EUR')} chooses the currency.`,
  examples: ['fra in-stock EUR', 'h100'],
  list: async (app, { args }) => planListing(await app.lists.plans(), args),
  item: {
    of: 'plan',
    read: async (app, id) => {
      const list = await app.lists.plans()
      const plan = list.items.find((one) => one.id === id)
      return plan && { ...planDetails(plan), notes: oldNotes(list) }
    },
  },
})
