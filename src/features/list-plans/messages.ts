import type { Plan, PlanRegion } from '../../domain/plan.ts'
import type { Listing } from '../../slack/listing.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text.ts'
import { findOffers, type PlanOffer, readQuery } from './query.ts'

/** Pure. */
export function planListing(plans: Plan[], words: string[]): Listing {
  const query = readQuery(plans, words)
  const offers = findOffers(plans, query)
  const filter = words.length > 0 ? mrkdwn` with ${code(words.join(' '))}` : mrkdwn``
  return {
    title: mrkdwn`${offers.length === 1 ? '1 plan' : `${offers.length} plans`}${filter}, cheapest first`,
    rows: offers.map((offer) => row(offer, query.currency)),
    empty:
      plans.length === 0
        ? mrkdwn`The account API lists no plans.`
        : mrkdwn`None of the ${plans.length} plans fits. Use fewer words, or leave out ${code('in-stock')}.`,
    notes: [mrkdwn`Sites in *bold* have stock. The lowest price of the regions shown, in ${query.currency}.`],
  }
}

function row({ plan, regions, price }: PlanOffer, currency: string): Mrkdwn {
  const cost = price
    ? joinMrkdwn(
        [amount(price.hour, currency, 'an hour'), amount(price.month, currency, 'a month')].filter((part) => part !== undefined),
        ', ',
      )
    : mrkdwn`no price in ${currency}`
  const stock = plan.stockLevel ? mrkdwn`  ·  stock ${plan.stockLevel}` : mrkdwn``
  const places = regions.length > 0 ? joinMrkdwn(regions.map(place), '; ') : mrkdwn`no regions told`
  return mrkdwn`*${plan.name}*  ·  ${size(plan)}\n${cost}${stock}\n${places}`
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

function unit(told: string | undefined): string {
  return { gib: 'GiB', tib: 'TiB' }[told?.toLowerCase() ?? ''] ?? told ?? ''
}

function place(region: PlanRegion): Mrkdwn {
  const sites = [...new Set([...region.availableSites, ...region.inStockSites])]
  const marked = sites.map((site) => (region.inStockSites.includes(site) ? mrkdwn`*${site}*` : mrkdwn`${site}`))
  return mrkdwn`${region.name ?? 'Region not told'}: ${sites.length > 0 ? joinMrkdwn(marked, ', ') : mrkdwn`no sites told`}`
}

function amount(value: number | undefined, currency: string, per: string): Mrkdwn | undefined {
  if (value === undefined) return undefined
  const digits = value < 1 ? 4 : 2
  return mrkdwn`${new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: digits }).format(value)} ${currency} ${per}`
}
