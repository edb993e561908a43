import type { ChannelMembership, GroupReading, SlackReading } from '../../slack/web-api/setup-probe.ts'

/** What could not be found out, and why. */
export interface Unanswered {
  unanswered: string
}

/** How everything is set up, as plain data. Nothing secret is in it. */
export interface SetupFacts {
  /** Version, role, transport, environment, policy: `0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from the variables`. */
  bot: string
  usesSockets: boolean
  slack: SlackReading | Unanswered
  /** What Slack said when the asker's Home tab was shown. */
  home: 'shown' | { refused: string } | Unanswered
  lastHeardMs: { click: number | undefined; options: number | undefined } | Unanswered
  channels: { id: string; membership: ChannelMembership | Unanswered }[]
  /** `decides`: somebody may ask or approve by being in it; otherwise cards only mention it. */
  groups: { id: string; decides: boolean; reading: GroupReading | Unanswered }[]
  redis: { faults: string[] } | { silent: string } | Unanswered
  accountApi: AccountApiReading | Unanswered
  /** How far this machine's clock is ahead, in ms. */
  clock: { ofSlackMs: number | undefined | Unanswered; ofRedisMs: number | Unanswered }
  workers: { seen: number; lastTickMs: number; overdue: boolean } | Unanswered
}

export type AccountApiReading =
  /** `known`: the bot's own key is in the list of keys, and so is what it may do. */
  | { is: 'answers'; known: boolean; name: string | undefined; readOnly: boolean | undefined }
  /** 401 or 403. */
  | { is: 'rejects'; status: number }
  /** It takes the key, and the team lacks the feature that was asked for. */
  | { is: 'lacks-feature' }
  | { is: 'fails'; status: number }
  /** A transport error's code, or what ended the wait. */
  | { is: 'unreachable'; problem: string }

export function isUnanswered<T>(fact: T | Unanswered): fact is Unanswered {
  return typeof fact === 'object' && fact !== null && 'unanswered' in fact
}
