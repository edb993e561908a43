import { expect, test } from 'vitest'
import type { Plan, PlanRegion } from '../../src/account/objects.ts'
import { planDetails, planListing } from '../../src/features/plans.ts'
import { expectDocument } from '../messages/documents.ts'
import { wholeList } from '../whole-list.ts'
import { detailsShown, shown } from './listing-of.ts'

function region(name: string, availableSites: string[], inStockSites: string[], hour: number): PlanRegion {
  const prices = [
    { currency: 'USD', hour, month: hour * 730 },
    { currency: 'EUR', hour: hour * 0.9, month: undefined },
  ]
  return { name, availableSites, inStockSites, prices }
}

function plan(name: string, more: Partial<Plan['specs']>, regions: PlanRegion[]): Plan {
  const disk = { type: 'nvme', amount: 80, unit: 'gib' }
  const specs = { vcpuCount: 2, memory: 4, gpu: undefined, vramPerGpu: undefined, disk, ...more }
  return { id: name, name, specs, regions, stockLevel: 'low', operatingSystems: ['ubuntu_24_04_x64_lts', 'fragrant_linux'] }
}

const small = plan('vm.small', {}, [region('United States', ['ASH', 'DAL'], ['ASH'], 0.05), region('Germany', ['FRA'], [], 0.06)])
const large = plan('vm.large', { vcpuCount: 16, memory: 64 }, [region('United States', ['ASH'], ['ASH'], 0.4)])
const gpu = plan('vm.gpu', { gpu: 'NVIDIA L40S', vramPerGpu: 48 }, [region('Germany', ['FRA'], ['FRA'], 1.2)])
const unpriced = { ...plan('vm.old', {}, []), stockLevel: undefined }
const all = [gpu, unpriced, large, small]
const cheap = plan('vm.tiny', {}, [
  {
    ...region('United States', ['ASH'], ['ASH'], 0),
    prices: [
      { currency: 'USD', hour: 0.007, month: 5.11 },
      { currency: 'BRL', hour: undefined, month: 1234.5 },
    ],
  },
])

test('lists and details of plans as people see them', async () => {
  const typed = [
    '',
    'eur',
    'germany',
    'ubuntu ash',
    'gbp',
    'dal in-stock',
    'l40s',
    'fra in-stock EUR',
    'in-stock',
    'dal',
    'ash small',
    'h100',
    'h100 b200',
  ]
  await expectDocument('plans.md', 'Plans, and the details of one', [
    ...typed.map((words): [string, string] => [
      `plans ${words}`.trim(),
      shown(planListing(wholeList(all), words.split(' ').filter(Boolean))),
    ]),
    [
      'Small and large prices, each in its currency',
      [[], ['brl']].map((words) => shown(planListing(wholeList([cheap]), words))).join('\n'),
    ],
    ['None', shown(planListing(wholeList([]), []))],
    ['A plan', detailsShown(planDetails(small))],
    ['A plan with GPUs', detailsShown(planDetails(gpu))],
  ])
})

test('the price that sorts the list comes right after the name, because a phone cuts off later columns', () => {
  expect(planListing(wholeList([small]), []).table?.headers.slice(0, 4)).toEqual(['Plan', 'Per hour', 'vCPU', 'Memory'])
})
