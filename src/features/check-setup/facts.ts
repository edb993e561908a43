import type { Membership } from '../../slack/setup-probe.ts'

/** What could not be found out, and why. */
export interface Unanswered {
  unanswered: string
}

/** How everything is set up, as plain data. */
export interface SetupFacts {
  /** `0.1.0, all roles, over HTTP, production, a policy of 2 rules` */
  bot: string
  usesSockets: boolean
  scopes: string[] | undefined | Unanswered
  lastHeardMs: { click: number | undefined; options: number | undefined } | Unanswered
  channels: { id: string; membership: Membership }[]
  redisFaults: string[] | Unanswered
  /** `rejected`: the account API said 401 or 403. */
  key:
    | { name: string | undefined; readOnly: boolean | undefined; known: boolean }
    | { rejected: number }
    | { unreachable: string }
    | Unanswered
  /** How far this machine's clock is ahead, in ms. */
  clock: { ofRedisMs: number | Unanswered; ofSlackMs: number | undefined | Unanswered }
  workers: number | Unanswered
  groups: { id: string; members: number | 'unknown' }[]
  /** What Slack said when the asker's Home tab was shown. */
  home: 'shown' | { refused: string } | Unanswered
}

export function isUnanswered(fact: unknown): fact is Unanswered {
  return typeof fact === 'object' && fact !== null && 'unanswered' in fact
}
