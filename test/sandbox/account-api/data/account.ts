import { apiKeys } from './api-keys.ts'
import { baselines } from './baselines.ts'
import { elasticIps } from './elastic-ips.ts'
import type { Data } from './model.ts'
import { projects, sites } from './places.ts'
import { plans } from './plans.ts'
import { servers } from './servers.ts'
import { virtualMachines } from './virtual-machines.ts'

/** Returns a typical account. The data are fresh copies, because the stand-in changes them. */
export function accountData(botToken: string): Data {
  const data = { projects, sites, servers, elasticIps, virtualMachines, plans, baselines, apiKeys: apiKeys(botToken) }
  return structuredClone(data)
}
