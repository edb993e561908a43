import type { ListLimit } from '../../domain/list-errors.ts'
import type { Plan, PlanRegion } from '../../domain/plan.ts'
import { cutNotes } from '../../slack/blocks/cut-note.ts'
import { filteredTitle, mostRows, noneFits, unlisted } from '../../slack/blocks/filtered-listing.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { findOffers, type Measure, type PlanOffer, type PlanQuery, readQuery } from './query.ts'

const orders: Record<Measure, string> = {
  plan: 'cheapest first',
  vcpu: 'cheapest for each vCPU first',
  gb: 'cheapest for each GB of memory first',
}

export function planListing(plans: Plan[], words: string[], cut?: ListLimit): Listing {
  const query = readQuery(plans, words)
  const offers = findOffers(plans, query)
  return {
    title: mrkdwn`${filteredTitle(offers.length, { one: 'plan', many: 'plans', words })}, ${orders[query.measure]}`,
    rows: offers.slice(0, mostRows).map((offer) => row(offer, query)),
    empty:
      plans.length === 0
        ? mrkdwn`The account API lists no plans.`
        : mrkdwn`${noneFits(plans.length, 'plans')} Use fewer words, or leave out ${code('in-stock')}.`,
    notes: [
      ...cutNotes(cut, plans.length),
      mrkdwn`:large_green_circle: in stock, :white_circle: not in stock. Prices in ${query.currency}, the lowest of the regions shown. ${code('cheapest')} compares by vCPU, ${code('cheapest-gb')} by memory.`,
      ...unlisted(offers.length),
    ],
  }
}

function row({ plan, regions, price, figure }: PlanOffer, { currency, measure }: PlanQuery): Mrkdwn {
  const amounts = price
    ? [amount(price.hour, currency, 'an hour'), amount(price.month, currency, 'a month')].filter((part) => part !== undefined)
    : []
  const cost = amounts.length > 0 ? joinMrkdwn(amounts, ', ') : mrkdwn`no price in ${currency}`
  const compared = measure === 'plan' ? mrkdwn`` : mrkdwn`${each(figure, currency, measure)}  ·  `
  const stock = plan.stockLevel ? mrkdwn`  ·  stock ${plan.stockLevel}` : mrkdwn``
  return mrkdwn`*${plan.name}*  ·  ${size(plan)}\n${compared}${cost}${stock}\n${sites(regions)}`
}

function each(figure: number | undefined, currency: string, measure: 'vcpu' | 'gb'): Mrkdwn {
  const what = measure === 'vcpu' ? 'vCPU' : 'GB of memory'
  return figure === undefined ? mrkdwn`no price for each ${what}` : mrkdwn`*${number(figure)} ${currency} an hour for each ${what}*`
}

function size({ specs }: Plan): Mrkdwn {
  const gpu = specs.gpu ? `${specs.gpu}${specs.vramPerGpu === undefined ? '' : ` with ${specs.vramPerGpu} GB`}` : undefined
  const disk =
    specs.disk?.amount === undefined
      ? undefined
      : `${specs.disk.amount} ${unit(specs.disk.unit)}${specs.disk.type ? ` ${specs.disk.type}` : ''}`
  const parts = [
    specs.vcpuCount === undefined ? undefined : `${specs.vcpuCount} vCPU`,
    specs.memory === undefined ? undefined : `${specs.memory} GB memory`,
    gpu,
    disk,
  ].filter((part) => part !== undefined)
  return mrkdwn`${parts.length > 0 ? parts.join(', ') : 'size not told'}`
}

function unit(name: string | undefined): string {
  return { gib: 'GiB', tib: 'TiB' }[name?.toLowerCase() ?? ''] ?? name ?? ''
}

/** Lists the sites in stock, then the others, each with its region. */
function sites(regions: PlanRegion[]): Mrkdwn {
  const inStock = regions.map((region) => placed(region, region.inStockSites))
  const others = regions.map((region) =>
    placed(
      region,
      region.availableSites.filter((site) => !region.inStockSites.includes(site)),
    ),
  )
  const lines = [marked(':large_green_circle:', inStock), marked(':white_circle:', others)].filter((line) => line !== undefined)
  return lines.length > 0 ? joinMrkdwn(lines, '   ') : mrkdwn`no sites told`
}

function placed(region: PlanRegion, codes: string[]): string | undefined {
  return codes.length > 0 ? `${codes.join(', ')} (${region.name ?? 'region not told'})` : undefined
}

function marked(mark: string, places: (string | undefined)[]): Mrkdwn | undefined {
  const known = places.filter((place) => place !== undefined)
  return known.length > 0 ? mrkdwn`${mark} ${known.join('; ')}` : undefined
}

function amount(value: number | undefined, currency: string, per: string): Mrkdwn | undefined {
  return value === undefined ? undefined : mrkdwn`${number(value)} ${currency} ${per}`
}

function number(value: number): string {
  return (value < 1 ? smallAmount : largeAmount).format(value)
}

const smallAmount = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })
const largeAmount = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
