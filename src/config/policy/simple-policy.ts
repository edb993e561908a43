import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { type Bundles, type Policy, settingRules } from '../../domain/policy/policy.ts'
import type { Variables } from '../variables.ts'

/**
 * Builds a policy from the variables: one rule for the kinds of change that need no approval, then one for all other kinds. Neither names a
 * bundle, so bundles need what their parts need.
 */
export function simplePolicy(v: Variables, { kinds, bundles }: { kinds: ChangeKind[]; bundles: Bundles }): Policy {
  const noApproval = v.NO_APPROVAL ?? []
  const needApproval = kinds.filter((kind) => !noApproval.includes(kind) && !bundles.has(kind))
  const shared = {
    projects: undefined,
    channels: v.CHANNELS,
    request: v.OPERATORS,
    alerts: false,
    breakGlass: false,
    needsReason: false,
    confirm: false,
    expiresMs: v.APPROVAL_TTL,
    mention: undefined,
  }
  const approve = { anyOf: v.APPROVERS ?? { users: [], userGroups: [] }, allOf: [], approvals: 1 }
  const rules = [
    { name: settingRules.noApproval, changes: noApproval, approve: undefined, ...shared },
    { name: settingRules.approvers, changes: needApproval, approve, ...shared },
  ]
  return { rules: rules.filter((rule) => rule.changes.length > 0), bundles, alerts: [] }
}
