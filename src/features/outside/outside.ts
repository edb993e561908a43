import type { Ability } from '../../kit/ability.ts'
import { sendOwedMessage } from '../../kit/owed-message.ts'
import { compareAccount, readOutside, turnMsOf } from './record.ts'

/** For WATCH_CHANGES: reports to the operators what changes on the account outside Lockkeeper. */
export const tellOutside: Ability = {
  senders: { outside: sendOwedMessage },
  repeated(app, { ownChanges }) {
    const comparing = { tried: new Map(), ownChanges }
    const work = { name: 'outside', everyMs: Math.floor(turnMsOf(app) * 0.9), run: (jobs: typeof app) => compareAccount(jobs, comparing) }
    return app.config.watchChanges ? [work] : []
  },
  outdated: async (app) => ({ what: 'other records', count: Number((await readOutside(app)).isOutdated ?? false) }),
  create: () => ({ commands: [] }),
}
