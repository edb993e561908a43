import type { AuditNote } from '../../src/audit/chain.ts'
import type { Policy } from '../../src/domain/policy.ts'
import type { Catalog } from '../../src/record/catalog.ts'
import { type Access, createAccess } from '../../src/rights/access.ts'
import type { Directory } from '../../src/slack/people.ts'
import { fakeApp } from '../fake-app.ts'
import { trusting } from './audit.ts'

export type People = Pick<Directory, 'person' | 'members' | 'channel' | 'hasBot' | 'isOpenTo'>

interface Judging {
  people?: Partial<People>
  policy: Policy
  catalog: Pick<Catalog, 'projectOf' | 'labelOf' | 'kinds' | 'hasProject'>
  noteRefusal: (note: AuditNote) => Promise<void>
}

/** A workspace of full members, with Lockkeeper in every channel, and without user groups. */
const everybody: People = {
  person: async (userId) => ({ userId, standing: 'member', teamIds: ['T0NIMBUS01'] }),
  members: async () => new Map(),
  channel: async () => 'usual',
  hasBot: async () => true,
  isOpenTo: async () => true,
}

/** The checks of rights, with only what they read. */
export function accessWith({ people = {}, policy, catalog, noteRefusal }: Judging): Access {
  const identity = { current: () => ({ teamId: 'T0NIMBUS01' }) as never }
  const app = fakeApp({
    directory: { ...everybody, ...people },
    config: { policy: { bundles: undefined, alerts: undefined, ...policy } },
    slack: { identity },
    catalog,
    signatures: trusting,
    audit: { noteOnce: noteRefusal },
    metrics: { decision: () => {} },
    errors: { of: () => () => {} },
  })
  return createAccess(app)
}
