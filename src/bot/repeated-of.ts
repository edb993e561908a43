import type { Change } from '../domain/change/change.ts'
import { rulesOfKind } from '../domain/policy/find-rules.ts'
import type { Policy } from '../domain/policy/policy.ts'
import type { Feature } from '../features/feature.ts'
import type { Work } from '../requests/worker/repeated-work.ts'

/** Returns the work of the features that the policy lets people use. A feature that changes nothing needs no rule. */
export function repeatedOf(features: Pick<Feature, 'changes' | 'repeated'>[], policy: Policy): Work[] {
  const channels = ['', ...policy.rules.flatMap((rule) => rule.channels ?? [])]
  const isPermitted = ({ kind, project }: Change) =>
    channels.some((channelId) => rulesOfKind(policy, { kind, channelId, hasProject: project !== undefined }).length > 0)
  return features.flatMap(({ changes = [], repeated = [] }) => (changes.length === 0 || changes.some(isPermitted) ? repeated : []))
}
