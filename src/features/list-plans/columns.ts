import type { Plan, PlanPrice } from '../../domain/account/plan.ts'
import type { Cell } from '../../slack/lists/cells.ts'
import type { Column, Columns } from '../../slack/lists/columns.ts'
import { priceWords } from './prices.ts'
import type { PlanOffer, PlanQuery } from './query.ts'
import { stockOf } from './stock.ts'

/** Names the amount that a unit price is for. */
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

/** The name and the size of a plan. */
export const sizeColumns: Columns<Plan> = [name, ...size]

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
export function pricesWords(prices: PlanPrice[]): string {
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
