import { issuedApiKeys, apiKeys as keys } from '../contract/documented/api-keys.ts'
import { baselines } from '../contract/documented/baselines.ts'
import type { Documented } from '../contract/documented/documented.ts'
import { elasticIps } from '../contract/documented/elastic-ips.ts'
import { events } from '../contract/documented/events.ts'
import { plans } from '../contract/documented/plans.ts'
import { servers } from '../contract/documented/servers.ts'
import { virtualMachines } from '../contract/documented/virtual-machines.ts'

export { token } from '../contract/documented/api-keys.ts'

interface Resource {
  id: string
  attributes: Record<string, unknown>
}

/** One documented answer of each kind. `contract/reading.test.ts` covers all documented answers. */
function sampleOf(documented: Documented<unknown>[], name: string): Resource {
  return documented.find((one) => one.name === name)?.wire as Resource
}

export const elasticIp = sampleOf(elasticIps, 'the answer to a move: moving, and the target as its server')
export const server = sampleOf(servers, 'locked, and of another role')
export const virtualMachine = sampleOf(virtualMachines, 'with every member')
export const plan = sampleOf(plans, 'with a graphics card')
export const baseline = sampleOf(baselines, 'for some platforms')
export const apiKey = sampleOf(keys, 'read-only, and usable from some addresses')
export const issuedApiKey = sampleOf(issuedApiKeys, 'with its token')
export const event = sampleOf(events, 'with a project, a team and empty properties')
