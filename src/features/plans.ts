import type { Plan, PlanPrice, PlanRegion } from '../account/objects.ts'
import { asFarAsRead } from '../account/resource.ts'
import type { Missing } from '../domain/errors.ts'
import { inNaturalOrder } from '../domain/text.ts'
import { listFeature } from '../kit/list.ts'
import { cutNotes, filteredTitle, type Listing, mostRows, noneFits, otherWords, sitesInList, unlisted } from '../slack/listing.ts'
import { wholeCommand } from '../slack/router.ts'
import { type Cell, type Column, type Columns, type Details, detailsOf, idFact, itemRows } from '../slack/table.ts'
import { code, containsWords, type Mrkdwn, mrkdwn, searchText } from '../slack/text.ts'

/**
 * Shows a price for an hour or a month: `$0.007/h`, `EUR 5.11/mo`. Currencies other than the US dollar are shown by their code, because
 * several share a symbol.
 */
function priceWords(amount: number, currency: string, per: 'h' | 'mo'): string {
  const number = (amount < 1 ? smallAmount : largeAmount).format(amount)
  return `${currency === 'USD' ? '$' : `${currency} `}${number}/${per}`
}

const smallAmount = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })
const largeAmount = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** The price that plans are compared by: of the plan, per vCPU, or per GiB of memory. */
type Measure = 'plan' | 'vcpu' | 'gb'

export interface PlanQuery {
  words: string[]
  /** The sites among the words, by their codes: `DAL`. Stock is shown for these only. */
  sites: string[]
  measure: Measure
  inStockOnly: boolean
  /** The currency that was typed, or `USD`. */
  currency: string
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
    words: filters,
    sites: filters.map((word) => word.toUpperCase()).filter((word) => sites.has(word)),
    measure,
    inStockOnly: words.some(isInStock),
    currency: currency?.toUpperCase() ?? (known.has('USD') ? 'USD' : ([...known].toSorted()[0] ?? 'USD')),
  }
}

const isInStock = (word: string) => word.toLowerCase() === 'in-stock'

const measures: Record<string, Measure> = { cheapest: 'vcpu', 'cheapest-vcpu': 'vcpu', 'cheapest-gb': 'gb', 'cheapest-memory': 'gb' }

export function findOffers(plans: Plan[], query: PlanQuery): PlanOffer[] {
  // The difference of two infinities is NaN, which would leave the list unsorted.
  const order = ({ figure }: PlanOffer) => figure ?? Number.MAX_VALUE
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

function sitesIn({ availableSites, inStockSites }: PlanRegion): string[] {
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

/** Returns the price per hour. A price per month is divided by 730 hours. */
function comparable(price: PlanPrice): number {
  return price.hour ?? (price.month === undefined ? Number.POSITIVE_INFINITY : price.month / 730)
}

/** Names the sites that offer a plan, by their codes: `ASH, DAL, FRA`. Undefined if there are none. The details of a plan name the regions. */
function stockOf(regions: PlanRegion[]): { inStock: string | undefined; notInStock: string | undefined } {
  const named = (sites: string[]) => (sites.length > 0 ? [...new Set(sites)].join(', ') : undefined)
  return {
    inStock: named(regions.flatMap(({ inStockSites }) => inStockSites)),
    notInStock: named(regions.flatMap(({ availableSites, inStockSites }) => availableSites.filter((site) => !inStockSites.includes(site)))),
  }
}

const unitNames = { vcpu: 'vCPU', gb: 'GiB of memory' } as const

/** Columns that only depend on the plan have the same words in both lists. */
type OwnColumn = Omit<Column<Plan>, 'absent'>

const name: OwnColumn = { header: 'Plan', cell: ({ name }) => name }

const size: OwnColumn[] = [
  { header: 'vCPU', cell: ({ specs }) => numberCell(specs.vcpuCount), after: ' vCPU' },
  { header: 'Memory (GiB)', cell: ({ specs }) => numberCell(specs.memory), after: ' GiB memory' },
  { header: 'GPU', cell: gpu },
  { header: 'Disk', cell: disk },
]

/**
 * The columns of the list: price, size and stock. A list by unit price has a column for it. The price that sorts the list comes first, because
 * a narrow screen shows the first columns only.
 */
export function planColumns({ currency, measure }: PlanQuery): Columns<PlanOffer> {
  const amount = (value: number | undefined, per: 'h' | 'mo') => priceCell(value, currency, per)
  const compared: Column<PlanOffer>[] =
    measure === 'plan'
      ? []
      : [
          {
            header: `Per ${unitNames[measure]}`,
            cell: ({ figure }) => amount(figure, 'h'),
            after: ` per ${unitNames[measure]}`,
            absent: `no price per ${unitNames[measure]}`,
            line: 2,
          },
        ]
  return [
    ofOffer(name),
    ...compared,
    {
      header: 'Per hour',
      cell: ({ price }) => amount(price?.hour, 'h'),
      absent: ({ price }) => (price?.month === undefined ? `no price in ${currency}` : undefined),
      line: 2,
    },
    ...size.map(ofOffer),
    { header: 'Per month', cell: ({ price }) => amount(price?.month, 'mo'), line: 2 },
    {
      header: 'In stock',
      cell: ({ regions }) => stockOf(regions).inStock,
      before: 'In stock: ',
      absent: ({ regions }) => (stockOf(regions).notInStock === undefined ? 'Sites unknown' : undefined),
      line: 3,
    },
    { header: 'Not in stock', cell: ({ regions }) => stockOf(regions).notInStock, before: 'Not in stock: ', line: 3 },
    { header: 'Stock level', cell: stockLevel, before: 'stock level: ', line: 2 },
  ]
}

/** The level is that of the whole plan. Next to sites that all have none in stock, it would contradict them. */
function stockLevel({ plan, regions }: PlanOffer): string | undefined {
  const { inStock, notInStock } = stockOf(regions)
  return inStock === undefined && notInStock !== undefined ? undefined : plan.stockLevel
}

function ofOffer(column: OwnColumn): Column<PlanOffer> {
  return { ...column, cell: ({ plan }) => column.cell(plan) }
}

/** Lists what a plan costs in each currency: `$0.007/h, $5.11/mo, EUR 0.006/h`. */
function pricesWords(prices: PlanPrice[]): string {
  const parts = prices.flatMap(({ currency, hour, month }) => [
    ...(hour === undefined ? [] : [priceWords(hour, currency, 'h')]),
    ...(month === undefined ? [] : [priceWords(month, currency, 'mo')]),
  ])
  return parts.length > 0 ? parts.join(', ') : 'no price'
}

function numberCell(value: number | undefined): Cell {
  return value === undefined ? undefined : { value, words: String(value) }
}

function priceCell(value: number | undefined, currency: string, per: 'h' | 'mo'): Cell {
  return value === undefined ? undefined : { value, words: priceWords(value, currency, per) }
}

/** The account API shows the memory of each GPU, and not how many a plan has. */
function gpu({ specs }: Plan): string | undefined {
  return specs.gpu && `${specs.gpu}${specs.vramPerGpu === undefined ? '' : ` (${specs.vramPerGpu} GiB per GPU)`}`
}

/** The units of disks in known plans, with their size in GiB. */
const diskUnits: Record<string, { name: string; gib: number }> = { gib: { name: 'GiB', gib: 1 }, tib: { name: 'TiB', gib: 1_024 } }

/** Sorts by size. A disk in a unit that is not known has no value to sort by. */
function disk({ specs }: Plan): Cell {
  if (specs.disk?.amount === undefined) return undefined
  const { amount, unit, type } = specs.disk
  const known = diskUnits[unit?.toLowerCase() ?? '']
  const words = `${amount} ${known?.name ?? unit ?? ''}${type ? ` ${type}` : ''}`
  return known ? { value: amount * known.gib, words } : words
}

const orders: Record<Measure, string> = {
  plan: 'cheapest first',
  vcpu: 'cheapest per vCPU first',
  gb: 'cheapest per GiB of memory first',
}

/** `name`: the slash command's name. */
export function planListing(plans: Plan[], { words, name }: { words: string[]; name: string }, missing: Missing = {}): Listing {
  const query = readQuery(plans, words)
  const offers = findOffers(plans, query)
  return {
    title: mrkdwn`${filteredTitle(offers.length, { ...(query.inStockOnly ? inStock : plansOnly), words: query.words })}, ${orders[query.measure]}`,
    ...itemRows(offers.slice(0, mostRows), {
      columns: planColumns(query),
      details: { of: 'plan', placeholder: 'Details of a plan', idOf: ({ plan }) => plan.id, nameOf: ({ plan }) => plan.name },
    }),
    empty: plans.length === 0 ? mrkdwn`The account API lists no plans.` : noneMatch(plans, words),
    notes: [
      ...cutNotes(missing, plans.length, words),
      ...(offers.length > 0 ? [pricesNote(query, words, name)] : []),
      ...(offers.some(({ plan }) => plan.specs.gpu) ? [mrkdwn`The account API doesn't say how many GPUs a plan has.`] : []),
      ...unlisted(offers.length),
    ],
    isOld: missing.old !== undefined,
  }
}

/** Says which prices are shown and, where the list is sorted by them, how to sort it otherwise. The commands keep what was typed. */
function pricesNote({ currency, inStockOnly, measure }: PlanQuery, words: string[], name: string): Mrkdwn {
  const prices = mrkdwn`Prices in ${currency}, the lowest of the sites ${inStockOnly ? 'in stock' : 'shown'}.`
  if (measure !== 'plan') return prices
  const sorted = (by: string) => wholeCommand(name, { words: 'plans', args: [...words, by] })
  return mrkdwn`${prices} To sort by price per vCPU, type ${sorted('cheapest')}; per GiB of memory, ${sorted('cheapest-gb')}.`
}

const plansOnly = { one: 'plan', many: 'plans' }
const inStock = { one: 'plan in stock', many: 'plans in stock' }

function noneMatch(plans: Plan[], words: string[]): Mrkdwn {
  const sites = plans.flatMap(({ regions }) => regions.flatMap(sitesIn))
  return mrkdwn`${noneFits(plans.length, { ...plansOnly, words })} ${otherWords(words)}${sitesInList(sites)}`
}

export function planDetails(plan: Plan): Details {
  const regions = plan.regions.map((region) => {
    const { inStock, notInStock } = stockOf([region])
    const stock = [inStock && `In stock: ${inStock}`, notInStock && `Not in stock: ${notInStock}`].filter(Boolean)
    return { label: region.name ?? 'Region unknown', words: mrkdwn`${pricesWords(region.prices)}. ${stock.join('. ') || 'Sites unknown'}` }
  })
  const systems = { label: 'Operating systems', words: mrkdwn`${plan.operatingSystems.join(', ') || '–'}` }
  const stock = { label: 'Stock level', words: mrkdwn`${plan.stockLevel ?? '–'}` }
  return { ...detailsOf(plan, [name, ...size], [stock, ...regions, systems, idFact(plan.id)]), name: plan.name }
}

/** `/infra plans`: lists the plans of virtual machines with stock and price. */
export const listPlans = listFeature({
  words: 'plans',
  usage: '[word…]',
  group: 'View',
  summary: 'Virtual machine plans with size, stock and price',
  details: mrkdwn`Words filter by name, GPU, region, site or operating system. All of them must match. With the code of a site, stock is shown for that site only. ${code('in-stock')} keeps those in stock. A code such as ${code('EUR')} chooses the currency. ${code('cheapest')} sorts by the price for each vCPU, ${code('cheapest-gb')} for each GiB of memory.`,
  examples: ['fra in-stock EUR', 'h100 cheapest'],
  list: async (app, { args, slashCommand }) => {
    const { items, ...missing } = await asFarAsRead(app.lists.plans())
    return planListing(items, { words: args, name: slashCommand.origin.command }, missing)
  },
  item: {
    of: 'plan',
    read: async (app, id) => {
      const { items } = await asFarAsRead(app.lists.plans())
      const plan = items.find((one) => one.id === id)
      return plan && planDetails(plan)
    },
  },
})
