import {
  baselines,
  type Documented,
  elasticIps,
  issuedApiKeys,
  apiKeys as keys,
  plans,
  servers,
  virtualMachines,
} from '../contract/documented.ts'

export { token } from '../contract/documented.ts'

interface Resource {
  id: string
  attributes: Record<string, unknown>
}

/** One documented answer of each kind. `contract/reading.test.ts` covers all documented answers. */
function sampleOf(documented: Documented[], name: string): Resource {
  return documented.find((one) => one.name === name)?.wire as Resource
}

export const elasticIp = sampleOf(elasticIps, 'the answer to a move: moving, and the target as its server')
export const server = sampleOf(servers, 'locked, and of another role')
export const virtualMachine = sampleOf(virtualMachines, 'with every member')
export const plan = sampleOf(plans, 'with a graphics card')
export const baseline = sampleOf(baselines, 'for some platforms')
export const apiKey = sampleOf(keys, 'read-only, and usable from some addresses')
export const issuedApiKey = sampleOf(issuedApiKeys, 'with its token')
