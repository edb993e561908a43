import { z } from 'zod'
import type { Plan, PlanRegion } from '../domain/account.ts'
import { loose, text, toNumber, toText } from './fields.ts'
import type { CallOptions, Http } from './http.ts'
import { readList, resourceKind } from './resource.ts'

const texts = z.array(z.string()).nullish()

const RegionResponse = z.object({
  name: text,
  locations: z.object({ available: texts, in_stock: texts }).nullish(),
  /** An older shape has this list here instead of in `locations.available`. */
  available: texts,
  /** Prices by currency code, read by `toPrices`. With a `z.record` here, parsing 500 plans takes twice as long. */
  pricing: loose,
})

const SpecsResponse = z.object({
  memory: loose,
  gpu: text,
  vram_per_gpu: loose,
  vcpus: loose,
  vcpu: z.object({ count: loose }).nullish(),
  disk: z.object({ type: text, size: z.object({ amount: loose, unit: text }).nullish() }).nullish(),
})

export const PlanResponse = z.object({
  id: z.string(),
  attributes: z.object({
    name: text,
    specs: SpecsResponse.nullish(),
    regions: z.array(RegionResponse).nullish(),
    stock_level: text,
    available_operating_systems: texts,
  }),
})

const plan = resourceKind(
  PlanResponse,
  ({ id, attributes: wire }): Plan => ({
    id,
    name: wire.name ?? id,
    specs: toSpecs(wire.specs),
    regions: wire.regions?.map(toRegion) ?? [],
    stockLevel: wire.stock_level ?? undefined,
    operatingSystems: wire.available_operating_systems ?? [],
  }),
)

function toSpecs(wire: z.infer<typeof SpecsResponse> | null | undefined): Plan['specs'] {
  return {
    vcpuCount: toNumber(wire?.vcpus) ?? toNumber(wire?.vcpu?.count),
    memory: toNumber(wire?.memory),
    gpu: wire?.gpu ?? undefined,
    vramPerGpu: toNumber(wire?.vram_per_gpu),
    disk: wire?.disk
      ? { type: wire.disk.type ?? undefined, amount: toNumber(wire.disk.size?.amount), unit: toText(wire.disk.size?.unit) }
      : undefined,
  }
}

function toRegion(wire: z.infer<typeof RegionResponse>): PlanRegion {
  return {
    name: wire.name ?? undefined,
    availableSites: wire.locations?.available ?? wire.available ?? [],
    inStockSites: wire.locations?.in_stock ?? [],
    prices: toPrices(wire.pricing),
  }
}

/** Leaves out a member of `pricing` that is not a price, so that the plan is still listed. Null stands for a currency without a price. */
function toPrices(pricing: unknown): PlanRegion['prices'] {
  const prices: PlanRegion['prices'] = []
  for (const [currency, price] of isRecord(pricing) ? Object.entries(pricing) : []) {
    if (price === null) prices.push({ currency, hour: undefined, month: undefined })
    else if (isRecord(price)) prices.push({ currency, hour: toNumber(price.hour), month: toNumber(price.month) })
  }
  return prices
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function plansResource(http: Http) {
  return {
    /**
     * Lists all virtual machine plans (interface specification 2023-06-01, "GET /plans/virtual_machines"). Prices are amounts in the
     * currency, per hour and per month. The specification does not show the units of `memory` and `vramPerGpu`; `disk` carries its own.
     */
    async list({ signal }: CallOptions = {}): Promise<Plan[]> {
      return readList(http, plan, { operation: 'plans.list', path: '/plans/virtual_machines', signal })
    },
  }
}
