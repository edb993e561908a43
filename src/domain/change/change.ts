import type { z } from 'zod'
import type { ChangeKind } from '../policy/change-kind.ts'
import type { Project } from '../policy/policy.ts'
import type { Phrase } from '../text/phrase.ts'
import type { Description } from './description.ts'
import type { Explain, Finding } from './finding.ts'
import type { Handover } from './handover.ts'
import type { Moment, Observation, ObserveOptions, Rows } from './observation.ts'
import type { Offer } from './offer.ts'
import type { OnAnswer } from './on-answer.ts'
import type { Preflight, PreflightOptions } from './preflight.ts'
import type { UnderwayNow } from './underway-now.ts'

/**
 * A kind of change, as named data. A request in Redis is matched to its change by `kind`, and parsed again by `input` and `facts`. That may
 * happen in another process or after a deploy, so no member may depend on the command that created the request.
 */
export interface Change<Input = unknown, Facts = unknown> {
  kind: ChangeKind
  /** A phrase that follows *request* or *approve*: `moving an Elastic IP`. */
  label: string
  /** True if the change takes minutes to take effect. It is then listed, counted and timed with the moves. */
  takesTime?: true
  input: z.ZodType<Input>
  facts: z.ZodType<Facts>
  /**
   * Returns the input of the change that moves to a target what a server has, for a kind that alerts may request. What cannot be moved is left
   * out then, because nobody is there to choose.
   */
  inputOfAlert?(servers: { serverId: string; targetId: string }): Input
  /** Returns the resource that is changed: `elastic_ip:eip_1`. A resource has at most one open request. */
  resource(input: Input): string
  /** Returns what it locks besides the resource. Such a resource has at most one open request, too. */
  moreResources?(input: Input, facts: Facts): string[]
  /** Returns the project of the resource, for rules that depend on it. Absent for a kind whose resources belong to no project. */
  project?(facts: Facts): Project
  /** Reads the account. Throws CheckFailed if the change cannot be made. */
  preflight(input: Input, options: PreflightOptions<Facts>): Promise<Preflight<Facts, Input>>
  /** Finds what has changed since the approval. Returns an empty list if nothing that matters has changed. */
  differences(approved: Facts, now: Facts): Finding[]
  /** Puts a finding of this kind of change, or of its items, into words. Returns undefined for the findings of other kinds. */
  explain: Explain
  /** Adds to the facts of the execution what the account showed at the approval and no longer shows. Absent: the facts stay as they are. */
  complete?(approved: Facts, now: Facts): Facts
  /** Returns a sentence for the thread when the write is sent, if the account shows something unexpected that does not prevent it. */
  remark?(facts: Facts): string | undefined
  /** Says what it leaves as it is although people may expect otherwise, and what to do about it. */
  leaves?(facts: Facts): Phrase | undefined
  /** Returns what people call the resource: `203.0.113.10`. */
  subject(facts: Facts): string
  describe(facts: Facts): Description
  /**
   * Sends the one write after the approval. Returns `done` if the answer confirms the change, and `tracking` if it must be observed. Absent
   * for a change whose result only the requester may see; such a change has a `handover`.
   */
  run?(input: Input, facts: Facts, options: { onAnswer: OnAnswer }): Promise<'tracking' | 'done'>
  handover?: Handover<Input, Facts>
  /** For a change of several resources that is approved as one. Such a change has no `run`. */
  items?: Items<Input, Facts>
  /**
   * Reads the outcome of the write: after a lost answer, and repeatedly while the change takes effect. Throws if `signal` is aborted, so
   * that a hanging account API does not delay the other changes that are observed at the same time.
   *
   * A change with a `handover` also writes here: it makes a secret worthless that nobody saw. So it is observed only by one process at a
   * time, and only while the request is open or tracked after its end.
   */
  observe(input: Input, facts: Facts, moment: Moment, options: ObserveOptions): Promise<Observation>
  /** Reads a list that shows several changes under way, by the ids of their resources. `observe` uses its rows. */
  look?(ids: string[], options: { signal: AbortSignal }): Promise<Rows>
  /** Lists the changes of this kind that are under way on the account, for the operators after Redis has lost its requests. */
  underwayNow?: UnderwayNow
  /** Returns the sentence for the thread when the change is done: `203.0.113.10 is assigned to web-2.` */
  doneSentence(facts: Facts): Phrase
  /** The button that opens the filled form for a thing that was looked up. */
  offer?: Offer
  /**
   * Returns the input of the request that would undo the change, the facts that its form shows, and the label of its button. Undefined if it
   * cannot be undone.
   */
  reverse?(input: Input, facts: Facts): { input: Input; facts: Facts; label: string } | undefined
  /** Marks the facts of a request that undoes another one, for a kind whose title says so. */
  undoing?(facts: Facts): Facts
}

/** The items of a change. Each is sent, tracked and ended like a request with a single change. */
export interface Items<Input, Facts> {
  /** The change of one item. It has a `run`. */
  change: Change
  /** Returns the items in the order in which the request message lists them. */
  of(facts: Facts): Item[]
  /** Returns why approved items must not be sent, by their ids. `now` are the facts that were read just before the writes. */
  leftOut(approved: Facts, now: Facts): Map<string, Finding[]>
  /** Returns the input of the same change for some of its items. */
  narrow(input: Input, ids: string[]): Input
}

/** One item, in the terms of the change of an item. */
export interface Item {
  /** The id of its resource: `eip_1`. */
  id: string
  /** What people call it: `203.0.113.10`. */
  name: string
  input: unknown
  facts: unknown
  /** Set if the account does not show where it is: where Lockkeeper saw it last, and how long before the request. */
  lastSeen?: { server: string; agoMs: number }
}
