import type { AccountBudget, BudgetFigure } from '../account/budget.ts'
import type { KeyVariable, ReadKeyProblem } from '../domain/account.ts'
import {
  ApiContractError,
  ApiError,
  type MissingRight,
  StoreUnavailableError,
  type WriteRefusal,
  writeRefusalOf,
} from '../domain/errors.ts'
import { withinOr } from '../domain/within.ts'
import type { ChannelMembership, GroupReading, SlackReading } from '../slack/web-api.ts'

/** A fact that could not be read, and why. */
export interface Unavailable {
  unavailable: string
}

/** The set-up as plain data, without secrets. */
export interface SetupFacts {
  /** Version, role, transport, environment, policy: `0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from the variables`. */
  bot: string
  usesSockets: boolean
  /** The slash command that the person used, and the one that SLACK_COMMAND names. */
  command: { used: string; configured: string }
  slack: SlackReading | Unavailable
  /** Slack's answer when the Home tab of the person who ran the command was published. */
  home: 'shown' | { refused: string } | Unavailable
  lastReceivedMs: { click: number | undefined; options: number | undefined } | Unavailable
  channels: { id: string; membership: ChannelMembership | Unavailable }[]
  /** The channel that gets the notices to the operators. Undefined if none is set. */
  opsChannel: { id: string; membership: ChannelMembership | Unavailable } | undefined
  /** `decides`: its members may request or approve. Otherwise request messages only mention it. */
  groups: { id: string; decides: boolean; reading: GroupReading | Unavailable }[]
  /** Whether this process takes alerts, and the entries of the policy for them. */
  alerts: { isOn: boolean; routes: { name: string; channelId: string }[] }
  /** `refusal`: why Redis refuses writes although it answers. `lacksRight`: what its user may not do. */
  redis: { faults: string[]; refusal?: WriteRefusal } | { lacksRight: MissingRight } | { silent: string } | Unavailable
  accountApi: AccountApiReading | Unavailable
  /** What the account allows one key in a minute, and what was used in the last one. */
  limits: { perMinute: AccountBudget['perMinute']; hasReadKey: boolean; used: BudgetFigure[] | Unavailable }
  /** The ids of projects and the servers in the policy that nothing on the account shows. */
  idsUnseen: string[] | Unavailable
  elasticIps: { all: number; bgp: number } | Unavailable
  /** How far this machine's clock is ahead, in milliseconds. */
  clock: { ofSlackMs: number | undefined | Unavailable; ofRedisMs: number | Unavailable }
  workers: { seen: number; lastTickMs: number; overdue: boolean } | Unavailable
}

export type AccountApiReading =
  /** `own`: Lockkeeper's own key as the list of keys has it. `readKey`: the read-only key, if there is one. */
  | { is: 'answers'; own: OwnKeyReading; readKey?: { problem: ReadKeyProblem | undefined; name: string | undefined } }
  /** 401 or 403. */
  | { is: 'rejects'; status: number; key: KeyVariable }
  /** The account allows no more reads for now. */
  | { is: 'limited'; why: string; waitMs: number }
  /** The key is accepted, but the team lacks the feature that listing keys needs. */
  | { is: 'lacks-feature' }
  | { is: 'fails'; status: number }
  /** `problem`: the code of a transport error, or what ended the wait. */
  | { is: 'unreachable'; problem: string }

/** `not-set`: this process only reads, with the read-only key. */
type OwnKeyReading = { is: 'not-set' | 'not-listed' } | { is: 'listed'; name: string | undefined; readOnly: boolean | undefined }

export function isUnavailable<T>(fact: T | Unavailable): fact is Unavailable {
  return typeof fact === 'object' && fact !== null && 'unavailable' in fact
}

/** The time limit of each read. One read that hangs neither hides the others nor delays the report. */
export const factTimeoutMs = 1_500

/** Returns the fact, or why it is unavailable. Never throws. */
export async function readFact<T>(work: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await withinOr(factTimeoutMs, work(), { unavailable: `no answer within ${factTimeoutMs / 1_000} s` })
  } catch (error) {
    return { unavailable: whyNot(error) }
  }
}

/** Uses Lockkeeper's own words, because the messages of errors may name hosts or quote what was sent. */
function whyNot(error: unknown): string {
  if (error instanceof StoreUnavailableError) {
    if (error.code === undefined) return "Redis isn't responding"
    return writeRefusalOf(error.code) ? `Redis refuses writes (${error.code})` : `Redis refused the command (${error.code})`
  }
  if (error instanceof ApiError) return `the account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return 'the account API returned an unreadable answer'
  return 'no answer'
}
