import { describe, expect, test } from 'vitest'
import type { Plan, PlanRegion } from '../../src/account/objects.ts'
import {
  findOffers,
  planListing as listingOf,
  type PlanOffer,
  type PlanQuery,
  planColumns,
  planDetails,
  readQuery,
} from '../../src/features/plans.ts'
import { listingMessage } from '../../src/slack/listing.ts'

function region(name: string, available: string[], inStock: string[], hour: number): PlanRegion {
  return {
    name,
    availableSites: available,
    inStockSites: inStock,
    prices: [
      { currency: 'USD', hour, month: hour * 730 },
      { currency: 'EUR', hour: hour * 0.9, month: undefined },
    ],
  }
}

function plan(name: string, more: Partial<Plan['specs']>, regions: PlanRegion[]): Plan {
  return {
    id: name,
    name,
    specs: {
      vcpuCount: 2,
      memory: 4,
      gpu: undefined,
      vramPerGpu: undefined,
      disk: { type: 'nvme', amount: 80, unit: 'gib' },
      ...more,
    },
    regions,
    stockLevel: 'low',
    operatingSystems: ['ubuntu_24_04_x64_lts'],
  }
}

const small = plan('vm.small', {}, [region('United States', ['ASH', 'DAL'], ['ASH'], 0.05), region('Germany', ['FRA'], [], 0.06)])
const large = plan('vm.large', { vcpuCount: 16, memory: 64 }, [region('United States', ['ASH'], ['ASH'], 0.4)])
const gpu = plan('vm.gpu', { gpu: 'NVIDIA L40S', vramPerGpu: 48 }, [region('Germany', ['FRA'], ['FRA'], 1.2)])
const unpriced = { ...plan('vm.old', {}, []), stockLevel: undefined }
const all = [gpu, unpriced, large, small]

function planListing(plans: Plan[], words: string[]) {
  return listingOf(plans, { words, name: '/infra' })
}

function names(words: string[]): string[] {
  return findOffers(all, readQuery(all, words)).map((offer) => offer.plan.name)
}

test('the column of disks sorts by their sizes, also in another unit', () => {
  const disk = planColumns({ currency: 'USD', measure: 'plan' } as PlanQuery).find(({ header }) => header === 'Disk')
  const cellFor = (amount: number, unit: string) =>
    disk?.cell({ plan: { ...plan('vm.disk', {}, []), specs: { disk: { type: 'nvme', amount, unit } } } } as unknown as PlanOffer)

  expect(cellFor(80, 'gib')).toEqual({ value: 80, words: '80 GiB nvme' })
  expect(cellFor(2, 'TiB')).toEqual({ value: 2_048, words: '2 TiB nvme' })
  expect(cellFor(2, 'discs')).toBe('2 discs nvme')
})

test('the price that sorts the list comes right after the name, because a phone cuts off later columns', () => {
  const headers = (...words: string[]) => planListing([small], words).table?.headers.slice(0, 4)

  expect(headers()).toEqual(['Plan', 'Per hour', 'vCPU', 'Memory (GiB)'])
  expect(headers('cheapest')).toEqual(['Plan', 'Per vCPU', 'Per hour', 'vCPU'])
})

describe('the plans that fit', () => {
  test.each([
    [[], ['vm.small', 'vm.large', 'vm.gpu', 'vm.old']],
    [['l40s'], ['vm.gpu']],
    [['FRA'], ['vm.small', 'vm.gpu']],
    [['fra', 'in-stock'], ['vm.gpu']],
    [['dal', 'in-stock'], []],
    [['germany'], ['vm.small', 'vm.gpu']],
    [
      ['ubuntu', 'ash'],
      ['vm.small', 'vm.large'],
    ],
    [['in-stock'], ['vm.small', 'vm.large', 'vm.gpu']],
    [['EUR', 'large'], ['vm.large']],
    [['nothing-like-it'], []],
  ])('%j', (words, expected) => {
    expect(names(words)).toEqual(expected)
  })

  test('a word is a currency only if a plan has a price in it', () => {
    expect(readQuery(all, ['fra', 'eur']).currency).toBe('EUR')
    expect(readQuery(all, ['gbp'])).toMatchObject({ currency: 'USD', words: ['gbp'] })
  })

  test('a place limits the regions, and the price is that of the shown regions', () => {
    const [offer] = findOffers([small], readQuery([small], ['fra']))
    expect(offer?.regions.map(({ name }) => name)).toEqual(['Germany'])
    expect(offer?.price?.hour).toBe(0.06)
  })

  test('the code of a site limits the stock to that site, with the price of its region', () => {
    const rowsFor = (...words: string[]) => planListing(all, words).rows.map((row) => String(row).split('\n').slice(1).join(' | '))

    expect(rowsFor('dal')).toEqual(['$0.05/h  ·  $36.50/mo | Not in stock: DAL'])
    expect(rowsFor('ash', 'small')).toEqual(['$0.05/h  ·  $36.50/mo  ·  stock level: low | In stock: ASH'])
    expect(rowsFor('states', 'small')).toEqual(['$0.05/h  ·  $36.50/mo  ·  stock level: low | In stock: ASH  ·  Not in stock: DAL'])
  })

  test('the stock level is that of the whole plan, so it is left out if the plan is in stock at none of the sites shown', () => {
    const levels = (...words: string[]) => planListing([small, large, unpriced], words).table?.rows.map((row) => row.at(-1))

    expect(levels()).toEqual(['low', 'low', undefined])
    expect(levels('dal')).toEqual([undefined])
    expect(levels('fra')).toEqual([undefined])
    expect(levels('ash')).toEqual(['low', 'low'])
  })

  test('the word in-stock chooses plans and their price, and sites without stock are still shown as such', () => {
    const dear = plan('vm.dear', {}, [region('United States', ['ASH', 'DAL'], [], 0.05), region('Germany', ['FRA'], ['FRA'], 0.06)])
    const { rows, notes = [] } = planListing([small, dear], ['in-stock'])

    expect(rows.map((row) => String(row).split('\n').slice(1).join(' | '))).toEqual([
      '$0.05/h  ·  $36.50/mo  ·  stock level: low | In stock: ASH  ·  Not in stock: DAL, FRA',
      '$0.06/h  ·  $43.80/mo  ·  stock level: low | In stock: FRA  ·  Not in stock: ASH, DAL',
    ])
    expect(String(notes[0])).toContain('Prices in USD, the lowest of the sites in stock.')
  })

  test('the code of a site is one even if an operating system contains it', () => {
    const named = { ...small, operatingSystems: ['fragrant_linux'] }

    expect(findOffers([named], readQuery([named], ['fra']))[0]?.regions.map(({ name }) => name)).toEqual(['Germany'])
  })
})

describe('the list of plans', () => {
  test('shows size, price, stock and places, each number with its unit', () => {
    const listing = planListing(all, ['eur'])
    expect([listing.title, ...listing.rows].map(String).join('\n---\n')).toMatchInlineSnapshot(`
      "4 plans, cheapest first
      ---
      *vm.small*  ·  2 vCPU  ·  4 GiB memory  ·  80 GiB nvme
      EUR 0.045/h  ·  stock level: low
      In stock: ASH  ·  Not in stock: DAL, FRA
      ---
      *vm.large*  ·  16 vCPU  ·  64 GiB memory  ·  80 GiB nvme
      EUR 0.36/h  ·  stock level: low
      In stock: ASH
      ---
      *vm.gpu*  ·  2 vCPU  ·  4 GiB memory  ·  NVIDIA L40S (48 GiB per GPU)  ·  80 GiB nvme
      EUR 1.08/h  ·  stock level: low
      In stock: FRA
      ---
      *vm.old*  ·  2 vCPU  ·  4 GiB memory  ·  80 GiB nvme
      no price in EUR
      Sites unknown"
    `)
  })

  test('shows prices in dollars by their sign, in other currencies by their code', () => {
    const cheap = plan('vm.tiny', {}, [
      {
        ...region('United States', ['ASH'], ['ASH'], 0),
        prices: [
          { currency: 'USD', hour: 0.007, month: 5.11 },
          { currency: 'EUR', hour: 0.006, month: 4.6 },
          { currency: 'BRL', hour: undefined, month: 1234.5 },
        ],
      },
    ])
    const priceIn = (words: string[]) => String(planListing([cheap], words).rows[0]).split('\n')[1]

    expect(priceIn([])).toBe('$0.007/h  ·  $5.11/mo  ·  stock level: low')
    expect(priceIn(['EUR'])).toBe('EUR 0.006/h  ·  EUR 4.60/mo  ·  stock level: low')
    expect(priceIn(['brl'])).toBe('BRL 1,234.50/mo  ·  stock level: low')
  })

  test('says below what the prices are, how to sort, and what the account API does not say of GPUs', () => {
    const notesOf = (words: string[]) => planListing(all, words).notes?.map(String)

    expect(notesOf(['l40s'])).toMatchInlineSnapshot(`
      [
        "Prices in USD, the lowest of the sites shown. To sort by price per vCPU, type \`/infra plans l40s cheapest\`; per GiB of memory, \`/infra plans l40s cheapest-gb\`.",
        "The account API doesn't say how many GPUs a plan has.",
      ]
    `)
    expect(notesOf(['small'])).toHaveLength(1)
  })

  test('says of a GPU how much memory each has', () => {
    expect(planDetails(gpu).facts.map(({ words }) => String(words))).toContain('NVIDIA L40S (48 GiB per GPU)')
  })

  test('has only the words that filter in its title', () => {
    const titleOf = (words: string[]) => String(planListing(all, words).title)
    expect(titleOf(['cheapest'])).toBe('4 plans, cheapest per vCPU first')
    expect(titleOf(['fra', 'in-stock', 'EUR'])).toBe('1 plan in stock matching `fra`, cheapest first')
  })

  test('says what to do if nothing fits', () => {
    expect(String(planListing(all, ['h100']).empty)).toMatchInlineSnapshot(
      `"None of the 4 plans match \`h100\`. Use another word. Sites in this list: ASH, DAL, FRA."`,
    )
    expect(String(planListing(all, ['h100', 'b200']).empty)).toContain('Use fewer or other words.')
    expect(String(planListing(all.slice(0, 1), ['h100']).empty)).toBe(
      "The only plan doesn't match `h100`. Use another word. Sites in this list: FRA.",
    )
    expect(String(planListing([], []).empty)).toBe('The account API lists no plans.')
  })
})

describe('the list by unit price', () => {
  test('compares by the price for each vCPU, or for each GiB of memory', () => {
    const order = (words: string[]) => names(words)
    expect(order(['cheapest'])).toEqual(['vm.large', 'vm.small', 'vm.gpu', 'vm.old'])
    expect(order(['cheapest-gb'])).toEqual(['vm.large', 'vm.small', 'vm.gpu', 'vm.old'])
    expect(String(planListing(all, ['cheapest', 'eur']).rows[0])).toMatchInlineSnapshot(`
      "*vm.large*  ·  16 vCPU  ·  64 GiB memory  ·  80 GiB nvme
      EUR 0.0225/h per vCPU  ·  EUR 0.36/h  ·  stock level: low
      In stock: ASH"
    `)
    expect(String(planListing(all, ['cheapest-gb']).title)).toMatchInlineSnapshot(`"4 plans, cheapest per GiB of memory first"`)
  })

  test('has pages within the limits of Slack for 500 plans', () => {
    const many = Array.from({ length: 500 }, (_, index) =>
      plan(`vm.${'x'.repeat(40)}.${index}`, { vcpuCount: index + 1 }, [
        region('United States', ['ASH', 'DAL', 'NYC'], ['ASH'], 0.01 * (index + 1)),
      ]),
    )
    const listing = planListing(many, ['cheapest'])
    for (let page = 0; page < 50; page += 1) {
      const shown = listingMessage(listing, { name: '/infra', command: 'plans', args: ['cheapest'], page })
      expect(shown.blocks.length).toBeLessThanOrEqual(50)
      expect(shown.text.length).toBeLessThanOrEqual(4_000)
      expect(shown.text).toContain(`page ${page + 1} of 50`)
    }
  })
})
