import type { Button, PlainTextOption } from '@slack/web-api'
import { nothingIfAbsent, requireUncut, throwIfOld } from '../account/resource.ts'
import type { App } from '../app.ts'
import { isUnanswered, UnknownName } from '../domain/errors.ts'
import type { List } from '../domain/list.ts'
import { inNaturalOrder, sameName, suggestNames } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import { choiceWords, type TypedChoice, whichOne } from '../messages/submit-words.ts'
import { Refusal } from '../slack/errors.ts'
import type { Choices } from '../slack/interactions.ts'
import { type Candidate, noticeOptions, offer, preset } from '../slack/pickers.ts'
import { alternatives, code, type Mrkdwn, mrkdwn, nameWords, truncate } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

/** An item of which perhaps only the id is known. */
type Known<Item> = Partial<Item> & { id: string }

/** A kind of object of the account that people name: how it is found, picked, and told apart from its namesakes. */
export interface Thing<Item extends { id: string }> {
  /** `Elastic IP`, `an Elastic IP` and `Elastic IPs`. */
  one: string
  a: string
  many: string
  /** The command that lists them: `ip list`. */
  listedBy: string
  /** The list that is shared. Throws as the list of the account API does. */
  list(app: App): Promise<List<Item>>
  /** What people call it. Undefined if the account API shows nothing but its id. */
  nameOf(item: Known<Item>): string | undefined
  /** Whether people may mean it by what they typed. Default: its name, in upper or lower case. */
  isCalled?(item: Item, typed: string): boolean
  candidate(item: Known<Item>): Candidate
  /** Why pickers leave it out: a request for it could only be refused. */
  whyLeftOut?(app: App, item: Item): string | undefined
  /** What stands beside its name, if several have that. Default: its id. */
  mark?(item: Known<Item>): Mrkdwn | undefined
  /** Whether one that is gone was called so. Absent if nothing is known of those. */
  wasThere?(app: App, typed: string): Promise<boolean>
  /** What differs between two of one name. */
  details(item: Known<Item>): (Mrkdwn | string | undefined)[]
  /** Reads one by its id. Absent if the account API has no such read. */
  read?(app: App, id: string, signal: AbortSignal | undefined): Promise<Item>
  /** Whether it looks like an id of the service. Anything else may be a name. */
  isId?(typed: string): boolean
  /** Finds what was typed in another way than in the whole list. */
  find?(app: App, typed: string, signal: AbortSignal | undefined): Promise<Known<Item>[]>
}

// biome-ignore lint/suspicious/noExplicitAny: for code that passes items on and does not read them.
export type AnyThing = Thing<any>

/** By its id, or else by its name, which several can have. Throws UnknownName if there is none, and what a list throws. */
export async function findTyped<Item extends { id: string }>(
  app: App,
  thing: Thing<Item>,
  typed: string,
  signal?: AbortSignal,
): Promise<[Known<Item>, ...Known<Item>[]]> {
  const found = thing.find
    ? await thing.find(app, typed, signal)
    : ((await readById(app, thing, typed, signal)) ?? (await findByName(app, thing, typed)))
  const [first, ...others] = found
  if (!first) throw new UnknownName(thing.one, typed)
  return [first, ...others]
}

async function readById<Item extends { id: string }>(
  app: App,
  thing: Thing<Item>,
  typed: string,
  signal: AbortSignal | undefined,
): Promise<Known<Item>[] | undefined> {
  if (!thing.isId?.(typed)) return undefined
  try {
    const read = await thing.read?.(app, typed, signal).catch(nothingIfAbsent)
    return read && [read]
  } catch (error) {
    if (!isUnanswered(error)) throw error
    // A typed id is used as it is. The preflight check says what could not be read.
    return [{ id: typed } as Known<Item>]
  }
}

async function findByName<Item extends { id: string }>(app: App, thing: Thing<Item>, typed: string): Promise<Item[]> {
  const list = await thing.list(app)
  const all = requireUncut(list)
  const byId = all.filter(({ id }) => id === typed)
  const isCalled = thing.isCalled?.bind(thing) ?? ((item: Item) => sameName(thing.nameOf(item) ?? '', typed))
  const found = byId.length > 0 ? byId : all.filter((item) => isCalled(item, typed))
  if (found.length === 0) throwIfOld(list)
  return found
}

/** How long the requester waits for what approvers only get warnings from. */
const warningsMs = 3_000

export function readBriefly<T>(list: Promise<T>): Promise<T | undefined> {
  const read = list.catch(() => undefined)
  return withinOr(warningsMs, read, undefined)
}

/** What a command offers in place of a name that nothing has: `name` was probably meant. `label`: one of several has its own. */
type WithName = (typed: string, name: string, label: string | undefined) => Button[]

/** The longest wait for suggestions. The answer is right without them. */
const suggestWithinMs = 2_000

/** Waits for a search for these things. If nothing has the typed name, throws a Refusal with names that were probably meant. */
export async function suggesting<T>(app: App, things: AnyThing[], command: string, work: Promise<T>, withName?: WithName): Promise<T> {
  try {
    return await work
  } catch (error) {
    const thing = error instanceof UnknownName && things.find(({ one }) => one === error.what)
    if (!(error instanceof UnknownName) || !thing) throw error
    const gone = await goneWords(app, thing, command, error.typed)
    if (gone) throw new Refusal('unknown-name', gone)
    const list = await withinOr(suggestWithinMs, thing.list(app), undefined).catch(() => undefined)
    const known = list?.items.flatMap((item) => thing.nameOf(item) ?? []) ?? []
    const near = suggestNames(known, error.typed)
    const next =
      near.length > 0 ? mrkdwn`Did you mean ${alternatives(near.map(nameWords))}?` : mrkdwn`See ${code(`${command} ${thing.listedBy}`)}.`
    const words = mrkdwn`No ${thing.one} ${nameWords(truncate(error.typed, 80, 'plain'))}. ${next}`
    const buttons = near.flatMap((name) => withName?.(error.typed, name, near.length > 1 ? `Use ${name}` : undefined) ?? [])
    throw new Refusal('unknown-name', words, { buttons })
  }
}

/** Undefined if none that is gone is known to have been called so. */
export async function goneWords(app: App, thing: AnyThing, command: string, typed: string): Promise<Mrkdwn | undefined> {
  if (!thing.wasThere || !(await readBriefly(thing.wasThere(app, typed)))) return undefined
  return mrkdwn`No ${thing.one} is called ${nameWords(typed)} now. See ${code(`${command} audit ${typed}`)}.`
}

/** Offers the items that contain what was typed, or says why the one that was meant is left out. `fits`: which of them fit what the form says. */
export async function offerThings<Item extends { id: string }>(
  app: App,
  thing: Thing<Item>,
  typed: string,
  fits: (item: Item) => boolean = () => true,
): Promise<Choices> {
  const list = await thing.list(app)
  const whyNot = (item: Item) => thing.whyLeftOut?.(app, item)
  const fitting = candidatesOf(thing, list.items).filter(([item]) => fits(item))
  const offered = fitting.flatMap(([item, candidate]) => (whyNot(item) === undefined ? [candidate] : []))
  const choices = offer(offered, typed, list)
  if (choices.options.length > 0) return choices
  const [meant] = fitting.find(([item, candidate]) => whyNot(item) && offer([candidate], typed).options.length > 0) ?? []
  return meant ? noticeOptions(`${thing.nameOf(meant) ?? meant.id} can't be chosen. ${whyNot(meant)}`) : choices
}

const candidatesMade = new Map<AnyThing, { items: unknown[]; candidates: (readonly [item: unknown, candidate: Candidate])[] }>()

/** In the order of their texts. Keeps those of the latest list: Slack requests options at every keystroke, and a list can hold 20,000 items. */
export function candidatesOf<Item extends { id: string }>(thing: Thing<Item>, items: Item[]): (readonly [Item, Candidate])[] {
  const kept = candidatesMade.get(thing)
  if (kept?.items === items) return kept.candidates as (readonly [Item, Candidate])[]
  const made = items.map((item) => [item, thing.candidate(item)] as const)
  const candidates = made.toSorted(([, a], [, b]) => inNaturalOrder(a.text, b.text))
  candidatesMade.set(thing, { items, candidates })
  return candidates
}

export function optionOf<Item extends { id: string }>(thing: Thing<Item>, item: Known<Item>) {
  return preset(thing.candidate(item))
}

/** The things of one name, of which one is meant. */
export interface Namesakes<Input> {
  thing: AnyThing
  typed: string
  found: [{ id: string }, ...{ id: string }[]]
  inputOf: (id: string) => Input
  /** The end of the question: `Which one should be renamed to web-2?` */
  ask: Mrkdwn
  /** The words of the command with `<id>` in place of the name. */
  byId: string
}

export function askWhichOne(named: Namesakes<unknown>, choice: TypedChoice & { actionId: string }): Message {
  const { thing, typed, found, inputOf, ask, byId } = named
  return whichOne({
    ...choice,
    byId: `${choice.command} ${byId}`,
    question: mrkdwn`${found.length} ${thing.many} are called ${nameWords(typed)}. ${ask}`,
    choices: found.map((item) => ({
      words: choiceWords(thing.nameOf(item) ?? item.id, thing.mark?.(item) ?? code(item.id), thing.details(item)),
      input: inputOf(item.id),
    })),
  })
}

/** Finds what a person typed as the option of a picker. If several have the name, throws a Refusal that says so above the empty picker. */
export async function findOption<Item extends { id: string }>(
  app: App,
  thing: Thing<Item>,
  typed: string,
): Promise<PlainTextOption | undefined> {
  const found = await findTyped(app, thing, typed)
  if (found.length > 1)
    throw new Refusal('several-named', mrkdwn`${found.length} ${thing.many} are called ${nameWords(typed)}. Choose one below.`)
  return optionOf(thing, found[0])
}

/** How long a form waits for the name of a thing that it is filled with. Without it the form shows the id. */
const nameMs = 1_500

export async function optionById<Item extends { id: string }>(app: App, thing: Thing<Item>, id: string) {
  const list = await withinOr(
    nameMs,
    thing.list(app).catch(() => undefined),
    undefined,
  )
  const item = list?.items.find((each) => each.id === id)
  return preset({ text: (item && thing.nameOf(item)) ?? id, value: id })
}
