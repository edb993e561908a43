import { z } from 'zod'
import type { Origin } from './approval.ts'
import type { NewKeyEnd } from './key-ends.ts'
import type { ChangeKind, Project } from './policy.ts'
import type { Secret } from './signing.ts'
import { type Phrase, phraseText, withoutOwner } from './text.ts'

/** One fact on a card: the label `Owner` and the value `Ada`. A text is a name from outside. */
export interface Fact {
  /** Empty where the value says what it is. */
  label: string
  value: string | Phrase
  isPerson?: true
}

export interface IdFact {
  label: string
  value: string
}

/** A change in words. It is complete, because people approve what it shows. */
export interface Description {
  /** What people call the change wherever it is named: `Move 203.0.113.10: web-1 → web-2`. */
  title: Phrase
  /** The same where the number of addresses stands beside it, or does not matter: `Evacuate web-1 → web-2`. Default: the title. */
  short?: Phrase
  /** What approvers decide by and the title does not say. */
  facts: Fact[]
  /** Ids and other small print, which distinguish things of one name. */
  ids: IdFact[]
  /** The status word while the change takes effect: `moving`. */
  underway: string
}

/** Leaves out that something is for the requester, because every message names the requester anyway. */
export function withoutRequester({ title, facts, ...rest }: Description, requesterId: string): Description {
  return {
    ...rest,
    title: withoutOwner(title, requesterId),
    facts: facts.filter(({ isPerson, value }) => !(isPerson && value === requesterId)),
  }
}

/** A result of a check or a read, stored as facts and put into words where it is shown. A code that this version does not know is kept. */
export const Finding = z.looseObject({ code: z.string() })
export type Finding = z.infer<typeof Finding>

export interface Words {
  /** One or two sentences: what happened, and why. */
  why: string
  /** A sentence that says what to do, or nothing. Present only if requesting the same change again is of no use. */
  next?: string
  /** Set for a warning of which approvers have nothing to confirm. It is small print. */
  isNote?: true
  /** The same as `why`, with names and people marked. Absent where they are not. */
  phrase?: Phrase
}

export function wordsFrom(phrase: Phrase): Words {
  return { why: phraseText(phrase), phrase }
}

export function explainer<Known extends Finding>(known: z.ZodType<Known>, words: (finding: Known) => Words): Explain {
  return (finding) => {
    const parsed = known.safeParse(finding)
    return parsed.success ? words(parsed.data) : undefined
  }
}
type Explain = (finding: Finding) => Words | undefined

export function peopleIn(findings: Finding[]): string[] {
  const named = ({ by, creator, causes }: Finding): unknown[] => [by, creator, ...(Array.isArray(causes) ? peopleIn(causes) : [])]
  return [...new Set(findings.flatMap(named).filter((id) => typeof id === 'string'))]
}

/** Receives the outcome of a write. `operation` is Lockkeeper's own name for it; `status` is the HTTP status, `problem` why there is none. */
export type OnAnswer = (answer: { operation: string; status?: number; problem?: string }) => void

export const RetractedBecause = z.enum(['not-shown', 'too-slow'])
export type RetractedBecause = z.infer<typeof RetractedBecause>

export const retractedBecause: Record<RetractedBecause, string> = {
  'not-shown': "Slack didn't confirm the message with its token",
  'too-slow': 'It took too long to show its token',
}

/** A change that issues a secret: after the approval, on a click of the requester. `observe` makes a secret worthless that nobody saw. */
export interface Handover<Input, Facts> {
  label: string
  /** What it makes can end, and people may mean that by a start. */
  takesEnd?: true
  /** The sentence that the requester must confirm after the click. Undefined: no confirmation. */
  warning?(input: Input): string | undefined
  issue(input: Input, facts: Facts, options: { onAnswer: OnAnswer; request: IssuedFor }): Promise<Issued>
  retract(issued: Issued): Promise<void>
  /** Returns the finding with which the request fails after `retract`. */
  retracted(issued: Issued, because: RetractedBecause, facts: Facts): Finding
}

/** The approved request: its id, and where its message is. */
export interface IssuedFor {
  id: string
  origin: { userId: string; channelId: string }
  cardTs?: string | undefined
}

export interface Issued {
  id: string
  secret: Secret
  /** Plain text above the secret: `Your new API key ci-deploy`. */
  heading: string
  /** In small print below the secret. */
  note: Phrase
  /** When the key ends by itself, in ms since 1970. */
  endsAt?: number | undefined
}

export const Sighting = z.object({
  status: z.string(),
  /** The name of its server. Null: the account shows none. Absent for resources without a server. */
  server: z.string().nullable().optional(),
})
export type Sighting = z.infer<typeof Sighting>

/** What one list shows of the resources of many changes, by their ids. Each kind of change knows the type of its rows. */
export type Rows = ReadonlyMap<string, unknown>

/** `rows`: a list that began after the answer to the write or its time limit. What it does not show is read alone. */
export interface ObserveOptions {
  signal: AbortSignal
  rows?: Rows | undefined
}

/** What a read of the account means for a request that was sent. */
export type Observation =
  | { is: 'underway'; seen?: Sighting }
  | { is: 'unclear'; seen?: Sighting }
  /** `notes`: the change is done, but something keeps it from being of use, such as a server that is off. */
  | { is: 'done'; notes?: Finding[] }
  /** `corrects`: what the write left on the account was removed again. */
  | { is: 'failed'; cause: Finding; corrects?: boolean }
  | { is: 'not-started'; cause: Finding }
  /** It was accepted, and the account shows what was before it. One such read may be behind, so a second one ends the request. */
  | { is: 'reverted'; cause: Finding; seen?: Sighting }
  | { is: 'superseded'; cause: Finding }

/** The phase of a request when it is observed, and the time since its write was sent. */
export interface Moment {
  /** `sent`: the answer to the write is unknown. `accepted`: the account API accepted it. */
  phase: 'sent' | 'accepted'
  sinceSentMs: number
  /** True shortly after the write: reads may not show it yet. */
  early: boolean
  /** True for some minutes after the write: it may still take effect, so what the account shows now proves nothing. */
  isUnsettled: boolean
}

export type ThingKind = 'elastic-ip' | 'server' | 'virtual-machine'

/** A button that opens the filled form of a change for a thing of this kind. */
export interface Offer {
  of: ThingKind
  kind: ChangeKind
  label: string
  /** The id of the button. Its value is an `OfferedThing`. */
  actionId: string
}

export const OfferedThing = z.object({ version: z.literal(1), id: z.string() })
export type OfferedThing = z.infer<typeof OfferedThing>

/** `words`: what stays as it is, and what to do about it. `count`: how many of the things that people expect to change. */
export interface Left {
  words: Phrase | undefined
  count: number
}

export type NewEnd = { endsAt: NewKeyEnd | undefined } | 'unread'

export interface Preflight<Facts, Input = unknown> {
  facts: Facts
  /** The input with the ids that the account API returned. A typed id can differ in case, or be another name of the same resource. */
  input?: Input
  unchecked: Finding[]
  warnings?: Finding[]
  /** True if a needed read got no answer, so that the account may differ from `facts`. */
  incomplete: boolean
}

export interface PreflightOptions<Facts = unknown> {
  signal?: AbortSignal
  /** Before a write: it names what is gone by now. */
  approved?: Facts | undefined
  /** True when a change is requested. The check then also makes the reads that only the warnings need. */
  forRequest?: boolean
}

export interface UnderwayNow {
  /** Lists each in words: `203.0.113.10 (eip_1), shown on web-1`. */
  list(options: { signal: AbortSignal }): Promise<string[]>
  some: string
  none: string
  unread: string
}

/** How a machine requests a change: by names and ids, as people type them. */
export interface ForMachines<Input> {
  /** The name of the tool: `propose_move`. */
  tool: string
  title: string
  description: string
  members: z.ZodObject
  /** Finds what is named, among what the machine may see. Throws a UserError if there is none of the name, or several. */
  read(members: Record<string, string>, origin: Origin, signal: AbortSignal): Promise<Input>
}

export type Kept = Record<'endsAt' | 'until', number>

/** A kind of change. Requests in Redis find it by `kind`, maybe after a deploy, so no member may depend on the command that made the request. */
export interface Change<Input = unknown, Facts = unknown> {
  kind: ChangeKind
  /** A phrase that follows *request* or *approve*: `moving an Elastic IP`. */
  label: string
  /** The label of the button that offers it to the owner of a key that ends soon. */
  offeredAtEnd?: string
  /** The change takes minutes to take effect. It is then listed, counted and timed with the moves. */
  takesTime?: true
  /** The change starts right after its approval, and nothing else can be asked for. */
  takesNoStart?: true
  /** No form requests it, so its request message offers no *Request again*. */
  hasNoForm?: true
  /** It only takes rights away, so no window and no freeze holds it. */
  isUnheld?: true | undefined
  input: z.ZodType<Input>
  facts: z.ZodType<Facts>
  /** For a kind that alerts may request: moves to a target what a server has. What cannot be moved is left out, because nobody can choose. */
  inputOfAlert?(servers: { serverId: string; targetId: string }): Input
  machines?: ForMachines<Input>
  /** What is changed: `elastic_ip:eip_1`. A resource has at most one open request. */
  resource(input: Input): string
  moreResources?(input: Input, facts: Facts): string[]
  /** The project of the resource, for rules that depend on it. Absent for a kind whose resources belong to no project. */
  project?(facts: Facts): Project
  preflight(input: Input, options: PreflightOptions<Facts>): Promise<Preflight<Facts, Input>>
  /** The end that it gives a key, or undefined for never. `unread`: the account did not show it. Undefined as a whole if it gives none. */
  endOf?(input: Input, facts: Facts): NewEnd | undefined
  /** When it is too late for it, in ms since 1970: nobody can approve it after that, or press its button. */
  tooLateAt?(facts: Facts): number | undefined
  /** A key that it keeps past its end once it is approved: when that is, and until when. In ms since 1970. */
  keeps?(facts: Facts): Kept | undefined
  /** Finds what has changed since the approval and matters. */
  differences(approved: Facts, now: Facts): Finding[]
  /** Puts a finding of this kind of change, or of its items, into words. Returns undefined for the findings of other kinds. */
  explain: Explain
  /** Adds to the facts of the write what the account showed at the approval and no longer shows. */
  complete?(approved: Facts, now: Facts): Facts
  /** A sentence for the thread when the write is sent, if the account shows something unexpected that does not prevent it. */
  remark?(facts: Facts): string | undefined
  /** What it leaves as it is although people may expect otherwise. `begun`: its input, unless *Check first* says a part. */
  leaves?(facts: Facts, begun: Input | undefined): Left
  /** What people call the resource: `203.0.113.10`. */
  subject(facts: Facts): string
  /** The server that gets the addresses. *Check first* has the alerts about it. */
  target?(facts: Facts): { id: string; name: string }
  describe(facts: Facts): Description
  /** Sends the one write. `done`: the answer confirms the change; `tracking`: it must be observed. Absent with a `handover` or `items`. */
  send?(input: Input, facts: Facts, options: { onAnswer: OnAnswer }): Promise<'tracking' | 'done'>
  handover?: Handover<Input, Facts>
  items?: Items<Input, Facts>
  /**
   * Reads the outcome of the write: after a lost answer, and repeatedly while the change takes effect. Throws if `signal` is aborted, so that a
   * hanging account API does not delay the other changes. With a `handover` it also writes: it makes a secret worthless that nobody saw. So
   * only one process at a time observes, and only while the request is open.
   */
  observe(input: Input, facts: Facts, moment: Moment, options: ObserveOptions): Promise<Observation>
  /** Reads a list that shows several changes under way, by the ids of their resources. `observe` uses its rows. */
  look?(ids: string[], options: { signal: AbortSignal }): Promise<Rows>
  underwayNow?: UnderwayNow
  /** `endsAt`: when the key that was handed over ends by itself. */
  doneSentence(facts: Facts, endsAt?: number): Phrase
  offer?: Offer
  /** The request that would undo the change: its input, the facts that its form shows, and the label of its button. Undefined if none can. */
  reverse?(input: Input, facts: Facts): { input: Input; facts: Facts; label: string } | undefined
  undoing?(facts: Facts): Facts
}

export interface Items<Input, Facts> {
  /** The change of one item. It has a `send`. */
  change: Change
  of(facts: Facts): Item[]
  /** Returns why approved items must not be sent, by their ids. `now` are the facts that were read just before the writes. */
  leftOut(approved: Facts, now: Facts): Map<string, Finding[]>
  narrow(input: Input, ids: string[]): Input
}

export interface Item {
  id: string
  name: string
  input: unknown
  facts: unknown
}

/** Items in several projects count as an unknown project, so that no rule for one of the projects decides about the others. */
export function projectOf<Input, Facts>({ project, items }: Pick<Change<Input, Facts>, 'project' | 'items'>, facts: Facts): Project {
  const whole = project?.(facts) ?? 'none'
  const ofItems = items?.of(facts).map((item) => items.change.project?.(item.facts) ?? 'none') ?? []
  const idOf = (project: Project) => (typeof project === 'string' ? project : project.id)
  return ofItems.every((each) => idOf(each) === idOf(whole)) ? whole : 'unknown'
}
