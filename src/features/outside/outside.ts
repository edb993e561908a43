import type { App } from '../../app.ts'
import type { Feature } from '../../kit/change-feature.ts'
import { compareAccount, turnMsOf } from './record.ts'

/** For WATCH_CHANGES: reports to the operators what changes on the account outside Lockkeeper. */
export const tellOutside = { create }

function create(app: App): Feature {
  const work = { name: 'outside', everyMs: Math.floor(turnMsOf(app) * 0.9), run: compareAccount }
  return { commands: [], repeated: app.config.watchChanges ? [work] : [] }
}
