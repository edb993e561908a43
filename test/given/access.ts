import type { AuditNote } from '../../src/audit/chain.ts'
import type { Policy } from '../../src/domain/policy.ts'
import type { Directory } from '../../src/slack/people.ts'

export type People = Pick<Directory, 'person' | 'members' | 'channel' | 'hasBot' | 'isOpenTo'>

/** A workspace of full members, with Lockkeeper in every channel. Ben alone is in every user group. */
const everybody: People = {
  person: async (userId) => ({ userId, standing: 'member', teamIds: ['T0NIMBUS01'] }),
  members: async (groupIds) => new Map(groupIds.map((id) => [id, new Set(['U0BEN00001'])])),
  channel: async () => 'usual',
  hasBot: async () => true,
  isOpenTo: async () => true,
}

/** What the checks of rights read and note, besides the catalog. Everybody has the rights that the policy gives them, unless `people` say otherwise. */
export function judging(
  policy: Partial<Policy>,
  people: Partial<People> = {},
  noteRefusal: (note: AuditNote) => Promise<void> = async () => {},
) {
  return {
    directory: { ...everybody, ...people },
    config: { policy: { bundles: undefined, alerts: undefined, ...policy } },
    slack: { identity: { current: () => ({ teamId: 'T0NIMBUS01' }) as never } },
    audit: { noteOnce: noteRefusal },
    metrics: { decision: () => {} },
  }
}
