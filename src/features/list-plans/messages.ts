import type { ListLimit } from '../../domain/list-errors.ts'
import type { Plan, PlanRegion } from '../../domain/plan.ts'
import { cutNotes } from '../../slack/blocks/cut-note.ts'
import { filteredTitle, mostRows, noneFits, unlisted } from '../../slack/blocks/filtered-listing.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { priceWords } from './prices.ts'
import { findOffers, type Measure, type PlanOffer, type PlanQuery, readQuery } from './query.ts'
import { stockOf } from './stock.ts'

const orders: Record<Measure, string> = {
  plan: 'cheapest first',
  vcpu: 'cheapest per vCPU first',
  gb: 'cheapest per GB of memory first',
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
      mrkdwn`Prices are the lowest of the regions shown. ${code('cheapest')} compares by vCPU, ${code('cheapest-gb')} by memory.`,
      ...unlisted(offers.length),
    ],
  }
}

function row({ plan, regions, price, figure }: PlanOffer, { currency, measure }: PlanQuery): Mrkdwn {
  const amounts = price ? [amount(price.hour, currency, 'h'), amount(price.month, currency, 'mo')].filter((part) => part !== undefined) : []
  const cost = amounts.length > 0 ? amounts.join(', ') : `no price in ${currency}`
  const compared = measure === 'plan' ? mrkdwn`` : mrkdwn`${each(figure, currency, measure)}  ·  `
  const stock = plan.stockLevel ? mrkdwn`  ·  stock level: ${plan.stockLevel}` : mrkdwn``
  return mrkdwn`*${plan.name}*  ·  ${size(plan)}\n${compared}${cost}${stock}\n${stockWords(regions)}`
}

function each(figure: number | undefined, currency: string, measure: 'vcpu' | 'gb'): Mrkdwn {
  const what = measure === 'vcpu' ? 'vCPU' : 'GB of memory'
  return figure === undefined ? mrkdwn`no price per ${what}` : mrkdwn`*${priceWords(figure, currency, 'h')} per ${what}*`
}

function amount(value: number | undefined, currency: string, per: 'h' | 'mo'): string | undefined {
  return value === undefined ? undefined : priceWords(value, currency, per)
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
  return mrkdwn`${parts.length > 0 ? parts.join(', ') : 'size unknown'}`
}

function unit(name: string | undefined): string {
  return { gib: 'GiB', tib: 'TiB' }[name?.toLowerCase() ?? ''] ?? name ?? ''
}

/** Says in words where the plan is in stock, and where it is offered without being in stock. */
function stockWords(regions: PlanRegion[]): string {
  const { inStock, notInStock } = stockOf(regions)
  const parts = [...(inStock ? [`In stock: ${inStock}`] : []), ...(notInStock ? [`Not in stock: ${notInStock}`] : [])]
  return parts.length > 0 ? parts.join('  ·  ') : 'Sites unknown'
}
