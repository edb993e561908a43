import type { z } from 'zod'
import type { ChangeKind } from './change-kind.ts'
import type { Explain, Finding } from './finding.ts'
import type { Observation } from './observation.ts'
import type { Project } from './policy.ts'
import type { RetractedBecause } from './retraction.ts'
import type { Secret } from './secret.ts'

/** One fact of a card: `From`, `web-1`, and `sv_81` in small. Values come from outside and are plain text. */
export interface Fact {
  label: string
  value: string
  detail?: string
}

/** A change in words, whole: what is approved is what is shown. */
export interface Description {
  /** Three words for headings and lists: `Move Elastic IP`. */
  title: string
  /** One plain sentence without a full stop: `Move 203.0.113.10 from web-1 to web-2`. */
  sentence: string
  facts: Fact[]
  /** What it is called while it takes effect: `moving`. */
  underway: string
}

/** Hears what the account API answered to a write: an operation of ours, and a status or what came instead of one. */
export type OnAnswer = (answer: { operation: string; status: number | string }) => void

/** What the account looked like, and what could not be found out. */
export interface Preflight<Facts, Input = unknown> {
  facts: Facts
  /** The input with the ids as the account API told them: an id can be typed in other letters, or be another name of the same thing. */
  input?: Input
  /** Each is a phrase in words: `whether web-2 is in the same site (the account API does not tell)`. */
  unchecked: Finding[]
  /** True when a needed read got no answer, so that the account may look different from `facts`. */
  incomplete: boolean
  /** What approvers should know and what does not stand against the change. Each is a sentence in words. */
  warnings?: Finding[]
}

export interface PreflightOptions {
  signal?: AbortSignal
  /** True when a request is made of it. Then it also reads what is needed for the warnings. */
  forRequest?: boolean
}

/**
 * A kind of change, as named data. What waits in Redis is found again by `kind` and parsed again by `input` and `facts`,
 * perhaps by another process, perhaps after a deploy: so nothing here closes over a conversation.
 */
export interface Change<Input = unknown, Facts = unknown> {
  kind: ChangeKind
  /** In words, after *ask for* and *may*: `moving an Elastic IP`. */
  label: string
  /** The words by which the account's own events may call its write: `update`, `move`. */
  eventActions: string[]
  /** It takes minutes to take effect, so it is listed, counted and timed with the moves. */
  takesTime?: true
  input: z.ZodType<Input>
  facts: z.ZodType<Facts>
  /** The thing that is changed; there is one open request for each: `elastic_ip:eip_1`. */
  resource(input: Input): string
  /** The project that it is in, for rules that depend on it. Pure. */
  project(facts: Facts): Project
  /** Reads the account. Throws CheckFailed when the change cannot be made. */
  preflight(input: Input, options: PreflightOptions): Promise<Preflight<Facts, Input>>
  /** Finds what is no longer as it was approved; empty when nothing that matters has changed. */
  differences(approved: Facts, now: Facts): Finding[]
  /** Puts what this kind of change has found into words. Undefined for findings that are not its own. */
  explain: Explain
  /** What was read at execution, with what the account showed at the approval and no longer shows. Absent: what was read. Pure. */
  complete?(approved: Facts, now: Facts): Facts
  /** A sentence for the thread when the write is sent, where the account shows something unexpected that does not stand against it. Pure. */
  remark?(facts: Facts): string | undefined
  describe(facts: Facts): Description
  /**
   * Makes the one write, once it is approved. `tracking` when it takes time and must be observed, `done` when the answer says that it
   * is true. Absent where the result is for the requester's eyes alone: then there is a `handover`.
   */
  run?(input: Input, facts: Facts, options: { onAnswer: OnAnswer }): Promise<'tracking' | 'done'>
  handover?: Handover<Input, Facts>
  /**
   * Reads what became of the write. Needed after a lost answer, and again and again while it takes effect. Where `signal` gives the read
   * up it throws: many are observed together, and the account API may hang.
   */
  observe(input: Input, facts: Facts, moment: Moment, options: { signal: AbortSignal }): Promise<Observation>
  /**
   * Reads everything under way at once, for when many are followed. A change whose `sightings` are among what it shows is under way; not
   * being shown means nothing, and the change is then observed by itself.
   */
  survey?(options: { signal?: AbortSignal }): Promise<Set<string>>
  /** How the survey shows this one while it is under way. Pure. */
  sightings?(input: Input, facts: Facts): string[]
  /** What of this kind is under way on the account now, whoever requested it: for the operators, when Redis has lost which requests there were. */
  underwayNow?: UnderwayNow
  /** The sentence for the thread when it is done: `203.0.113.10 now answers from web-2`. Pure. */
  doneSentence(facts: Facts): string
  /** What would undo it, as input for a new request, and what the button for it says. Pure. */
  reverse?(input: Input, facts: Facts): { input: Input; label: string } | undefined
}

/** Everything under way, and how to say it. */
export interface UnderwayNow {
  /** Each in words: `203.0.113.10 (eip_1), shown on web-1`. */
  list(options: { signal: AbortSignal }): Promise<string[]>
  /** What they are, before the list: `Elastic IPs that are moving now`. */
  some: string
  /** A sentence where there are none. */
  none: string
  /** A sentence where the account API did not answer. */
  unread: string
}

/**
 * A change that makes a secret. Approval does not carry it out: the requester does, with a click, so that it is made while they are
 * provably there to see it. `observe` finds, and takes back, what was made and reached nobody.
 */
export interface Handover<Input, Facts> {
  /** What the button says: `Create and show`. */
  label: string
  /** The one write. */
  issue(input: Input, facts: Facts, options: { onAnswer: OnAnswer }): Promise<Issued>
  /** Makes what was issued worthless, because nobody has seen it. Safe to repeat. */
  retract(issued: Issued): Promise<void>
  /** The words by which the account's own events may call that. */
  retractActions: string[]
  /** What the request failed of then, and why it was retracted. */
  retracted(issued: Issued, because: RetractedBecause): Finding
}

export interface Issued {
  id: string
  secret: Secret
  /** Plain words above the secret: `Your new API key ci-deploy`. */
  heading: string
  /** Plain small print below it. */
  note: string
}

/** When something is observed: in which phase, and how long after the write was sent. */
export interface Moment {
  /** `sent`: the write went out and its answer is not known. `accepted`: it was acknowledged. `ended`: it was reported as not started or failed, and is still tracked. */
  phase: 'sent' | 'accepted' | 'ended'
  sinceSentMs: number
  /** So soon after the write that it may still be on its way, or reads may trail it: what is not there yet means nothing. */
  early: boolean
}
