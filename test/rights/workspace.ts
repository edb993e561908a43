import type { AuditNote } from '../../src/audit/chain.ts'
import type { Person } from '../../src/domain/approval.ts'
import { type Bundles, type PolicyRule, type Project, toGroup } from '../../src/domain/policy.ts'
import { fakeApp } from '../fake-app.ts'
import { judging, type People } from '../given/access.ts'
import { trusting } from '../given/audit.ts'
import { ruleFor } from '../given/request.ts'

export const ada = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
export const ben = { ...ada, userId: 'U0BEN00001' }
export const project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }
export const approveBy = (anyOf: string[], approvals = 1) => ({ anyOf: toGroup(anyOf), allOf: [], approvals })

export interface Workspace {
  rules?: PolicyRule[]
  /** By user id. Everybody else is a full member. */
  standings?: Record<string, Person['standing']>
  /** The workspaces and the organization of a person. Everybody else is of this workspace. */
  teams?: Record<string, string[]>
  groups?: Record<string, string[] | 'unknown'>
  channel?: Awaited<ReturnType<People['channel']>>
  projectNow?: Project
  /** What Slack says of Lockkeeper, and of the person, in the channel. */
  inChannel?: { bot?: boolean | 'unknown'; person?: boolean | 'unknown' }
  bundles?: Bundles
}

/** The checks of rights over a workspace, with what they read from Slack and noted in the audit. */
export function setUp({
  rules = [ruleFor()],
  standings = {},
  teams = {},
  groups = {},
  channel = 'usual',
  projectNow = project,
  inChannel: { bot = true, person: isOpen = true } = {},
  bundles = new Map(),
}: Workspace = {}) {
  const members: Record<string, string[] | 'unknown'> = { S0ONCALL01: ['U0BEN00001', 'U0CHI00001'], ...groups }
  const noted: AuditNote[] = []
  const reads: string[] = []
  const people: People = {
    person: async (userId, { fresh = false } = {}) => {
      reads.push(`${fresh ? 'fresh ' : ''}${userId}`)
      return { userId, standing: standings[userId] ?? 'member', teamIds: teams[userId] ?? ['T0NIMBUS01'] }
    },
    members: async (ids, purpose) => {
      reads.push(...ids.map((id) => `${id} for a ${purpose}`))
      return new Map(
        ids.map((id) => {
          const found = members[id] ?? []
          return [id, found === 'unknown' ? found : new Set(found)]
        }),
      )
    },
    channel: async () => channel,
    hasBot: async () => bot,
    isOpenTo: async () => isOpen,
  }
  const app = fakeApp(
    judging({ rules, bundles }, people, async (note) => void noted.push(note)),
    {
      catalog: { projectOf: () => projectNow, labelOf: (kind) => kind, kinds: () => ['ip.move'], hasProject: () => true },
      signatures: trusting,
      errors: { of: () => () => {} },
      // Nobody has anything to confirm with.
      confirmations: { passkey: { able: async () => new Set() } },
    },
  )
  return { app, noted, reads }
}
