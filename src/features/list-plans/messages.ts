import type { Plan } from '../../domain/account/plan.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import { cutNotes } from '../../slack/blocks/cut-note.ts'
import { filteredTitle, mostRows, noneFits, otherWords, sitesInList, unlisted } from '../../slack/blocks/filtered-listing.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { wholeCommand } from '../../slack/commands/help/whole-command.ts'
import { itemRows } from '../../slack/lists/columns.ts'
import { type Details, detailsOf, idFact } from '../../slack/lists/details.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { planColumns, pricesWords, sizeColumns } from './columns.ts'
import { findOffers, type Measure, type PlanQuery, readQuery, sitesIn } from './query.ts'
import { stockOf } from './stock.ts'

const orders: Record<Measure, string> = {
  plan: 'cheapest first',
  vcpu: 'cheapest per vCPU first',
  gb: 'cheapest per GiB of memory first',
}

interface Asked {
  words: string[]
  /** The slash command's name. */
  name: string
}

export function planListing(plans: Plan[], { words, name }: Asked, missing: Missing = {}): Listing {
  const query = readQuery(plans, words)
  const offers = findOffers(plans, query)
  return {
    title: mrkdwn`${filteredTitle(offers.length, { ...(query.inStockOnly ? inStock : plansOnly), words: query.words })}, ${orders[query.measure]}`,
    ...itemRows(offers.slice(0, mostRows), {
      columns: planColumns(query),
      details: { of: 'plan', placeholder: 'Details of a plan', idOf: ({ plan }) => plan.id, nameOf: ({ plan }) => plan.name },
    }),
    empty: plans.length === 0 ? mrkdwn`The account API lists no plans.` : noneMatch(plans, query),
    notes: [
      ...cutNotes(missing, plans.length, words),
      ...(offers.length > 0 ? [pricesNote(query, { words, name })] : []),
      ...(offers.some(({ plan }) => plan.specs.gpu) ? [mrkdwn`The account API doesn't say how many GPUs a plan has.`] : []),
      ...unlisted(offers.length),
    ],
    isOld: missing.old !== undefined,
  }
}

/** Says which prices are shown and, where the list is sorted by them, how to sort it otherwise. The commands keep what was typed. */
function pricesNote({ currency, inStockOnly, measure }: PlanQuery, { words, name }: Asked): Mrkdwn {
  const prices = mrkdwn`Prices in ${currency}, the lowest of the sites ${inStockOnly ? 'in stock' : 'shown'}.`
  if (measure !== 'plan') return prices
  const sorted = (by: string) => wholeCommand(name, { words: 'plans', args: [...words, by] })
  return mrkdwn`${prices} To sort by price per vCPU, type ${sorted('cheapest')}; per GiB of memory, ${sorted('cheapest-gb')}.`
}

const plansOnly = { one: 'plan', many: 'plans' }
const inStock = { one: 'plan in stock', many: 'plans in stock' }

/** Says what to change. Only what was typed is named. */
function noneMatch(plans: Plan[], { words, unknownCurrency, currencies, inStockOnly }: PlanQuery): Mrkdwn {
  if (unknownCurrency !== undefined) return mrkdwn`No plan has a price in ${code(unknownCurrency)}. Prices are in ${currencies.join(', ')}.`
  if (!inStockOnly) {
    const sites = plans.flatMap(({ regions }) => regions.flatMap(sitesIn))
    return mrkdwn`${noneFits(plans.length, { ...plansOnly, words })} ${otherWords(words)}${sitesInList(sites)}`
  }
  return words.length > 0
    ? mrkdwn`No plan in stock matches ${code(words.join(' '))}. Use other words, or leave out ${code('in-stock')}.`
    : mrkdwn`No plan is in stock. Leave out ${code('in-stock')} to see them all.`
}

/** Shows a plan with its stock and its prices in each region. */
export function planDetails(plan: Plan): Details {
  const regions = plan.regions.map((region) => ({
    label: region.name ?? 'Region unknown',
    words: mrkdwn`${pricesWords(region.prices)}. ${stockSentence(stockOf([region]))}`,
  }))
  const systems = { label: 'Operating systems', words: mrkdwn`${plan.operatingSystems.join(', ') || '–'}` }
  const stock = { label: 'Stock level', words: mrkdwn`${plan.stockLevel ?? '–'}` }
  return { ...detailsOf(plan, sizeColumns, [stock, ...regions, systems, idFact(plan.id)]), name: plan.name }
}

function stockSentence({ inStock, notInStock }: ReturnType<typeof stockOf>): string {
  const parts = [...(inStock ? [`In stock: ${inStock}`] : []), ...(notInStock ? [`Not in stock: ${notInStock}`] : [])]
  return parts.length > 0 ? parts.join('. ') : 'Sites unknown'
}
