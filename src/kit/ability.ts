import type { App, SendText } from '../app.ts'
import type { FeatureHandlers } from '../buttons/handlers.ts'
import type { Origin } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
import type { ChangeKind } from '../domain/policy.ts'
import type { Work } from '../life/worker.ts'
import type { HomeSection } from '../messages/home-view.ts'
import type { Confirmation } from '../rights/confirmation.ts'
import type { Page } from '../slack/http-receiver.ts'

/** All that a file or folder of features/ adds. No other file imports it but the list. */
export interface Ability {
  /** The kinds of its changes. These names are public, because `NO_APPROVAL` and policies use them. */
  kinds?: ChangeKind[]
  /** Those of its kinds that are many changes of another kind under one approval, each with that kind. */
  bundles?: Record<ChangeKind, ChangeKind>
  /** Set if its kinds need an approval even if a setting lists kinds that need none. */
  neverExempt?: true | undefined
  /** Messages of the outbox that are about no request, by their name there. */
  senders?: Record<string, SendText>
  /** Its part of a person's Home tab, below the requests. */
  home?: (app: App, viewer: Origin) => Promise<HomeSection | undefined>
  /** What one worker at a time repeats, over the connection that waits until Redis is back, while the policy permits one of its kinds. */
  repeated?: (app: App, setup: Setup) => Work[]
  /** Its ports, which are open while people or workers get answers, if the configuration has them. By their name in the log, such as `alertsPort`. */
  ports?: Record<string, (app: App) => Port | undefined>
  /** Pages on the port of Slack, each under a path of its own. */
  pages?: (app: App) => Page[]
  /** What an approval needs besides a click where a rule asks for it by this name. `kinds`: what it rests on is itself changed by requests of these kinds, which always need it. */
  confirms?: Record<string, { of: (app: App) => Confirmation; kinds: ChangeKind[] }>
  /** Of what a list of the account shows as new, changed or gone: the ids of what it changes itself, without a request of its own. */
  ownChanges?: (app: App, found: ListedChange[]) => Promise<Set<string>>
  /** Which of its records a key of STATE_KEY signed that is not the first one. */
  outdated?: (app: App) => Promise<{ what: string; count: number }>
  create(app: App, setup: Setup): Feature
}

/** One that needs no other. */
export type OwnAbility = Ability & { create(app: App): Feature }

/** What it answers in Slack, and its kinds of change. */
export interface Feature extends FeatureHandlers {
  changes?: Change[]
  /** What the start asks Slack about the configuration. `wrong` ends it. */
  checkStart?: () => Promise<{ wrong: string[]; warnings: string[] }>
}

/** What few abilities need besides App: the Home tab, and what the other abilities say. */
export interface Setup {
  showHome: (viewer: Origin) => Promise<'shown' | { refused: string } | { is: 'unreadable'; why: string }>
  ownChanges: NonNullable<Ability['ownChanges']>
}

export interface Port {
  start: () => Promise<number>
  stop: () => Promise<void>
}

/** Times are in ms since 1970. */
export interface ListedChange {
  list: 'elasticIps' | 'apiKeys'
  id: string
  at: number
}
