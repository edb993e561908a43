import { policy, tokens } from '../features/machines/machines-world.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops } from '../journeys/world.ts'

/** The variables of a bot that machines can use, with a rule for each of them in #ops. */
export function takingMachines(): Record<string, string> {
  const inOps = policy.replace('projects: [{name: Storefront}]', `channels: [${ops}]`)
  return { POLICY_FILE: policyInFile(inOps), MACHINES_PORT: '0', ...tokens }
}
