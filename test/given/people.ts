import type { Membership, Person, Place } from '../../src/domain/approval.ts'
import { type ApproveTerms, type PolicyRule, toGroup } from '../../src/domain/policy.ts'

/** A rule under which Ben and the people on call approve. */
export const rule: PolicyRule = {
  name: 'APPROVERS',
  changes: ['ip.move'],
  projects: undefined,
  channels: undefined,
  request: undefined,
  alerts: false,
  approve: terms(['UBEN', 'SONCALL']),
  breakGlass: false,
  reason: [],
  confirm: false,
  expiresMs: 3_600_000,
  windows: [],
  mention: undefined,
}

export const ops: Place = { channelId: 'C1', teamId: 'T1', standing: 'usual' }

export function person(userId: string, standing: Person['standing'] = 'member', ...teamIds: string[]): Person {
  return { userId, standing, teamIds: teamIds.length > 0 ? teamIds : ['T1'] }
}

export function terms(anyOf: string[], more: Partial<ApproveTerms> = {}): ApproveTerms {
  return { anyOf: toGroup(anyOf), allOf: [], approvals: 1, ...more }
}

export function groups(members: Record<string, string[] | 'unknown'>): Membership {
  return new Map(Object.entries(members).map(([id, users]) => [id, users === 'unknown' ? users : new Set(users)]))
}
