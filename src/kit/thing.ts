import type { PlainTextOption } from '@slack/web-api'
import { asFarAsRead, findInList, leftOutOf, nothingIfAbsent, throwIfOld } from '../account/resource.ts'
import type { App } from '../app.ts'
import { isUnanswered, ListCutError, UnknownName, UserError } from '../domain/errors.ts'
import { withinOr } from '../domain/within.ts'
import { choiceWords, type TypedChoice, whichOne } from '../messages/forms.ts'
import { Refusal } from '../slack/errors.ts'
import type { Choices } from '../slack/interactions.ts'
import { type Candidate, candidatesOf, offer, preset } from '../slack/pickers.ts'
import { withSuggestions } from '../slack/router.ts'
import { code, type Mrkdwn, mrkdwn } from '../slack/text.ts'
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
  list(app: App): Promise<Item[]>
  /** What people call it. Undefined if the account API shows nothing but its id. */
  nameOf(item: Known<Item>): string | undefined
  /** Whether people may mean it by what they typed. Default: its name, in upper or lower case. */
  isCalled?(item: Item, typed: string): boolean
  candidate(item: Known<Item>): Candidate
  isOffered?(app: App, item: Item): boolean
  /** What differs between two of one name. */
  details(item: Known<Item>): (string | undefined)[]
  /** Reads one by its id. Absent if the account API has no such read. */
  read?(app: App, id: string, signal: AbortSignal | undefined): Promise<Item>
  /** Whether it looks like an id of the service. Anything else may be a name. */
  isId?(typed: string): boolean
  /** Finds what was typed in another way than in the whole list. */
  find?(app: App, typed: string, signal: AbortSignal | undefined): Promise<Known<Item>[]>
}

// biome-ignore lint/suspicious/noExplicitAny: for code that passes items on and does not read them.
export type AnyThing = Thing<any>

/**
 * Finds what a person typed: by its id, or else by its name, which several can have. Throws UnknownName if there is none, and what a list
 * throws.
 */
export async function findTyped<Item extends { id: string }>(
  app: App,
  thing: Thing<Item>,
  typed: string,
  signal?: AbortSignal,
): Promise<[Known<Item>, ...Known<Item>[]]> {
  if (thing.find) return known(thing, typed, await thing.find(app, typed, signal))
  const read = thing.isId?.(typed) ? await readById(app, thing, typed, signal) : undefined
  if (read) return [read]
  try {
    const all = await thing.list(app)
    const found = namedIn(thing, all, typed)
    if (found.length === 0) throwIfOld(leftOutOf(all))
    return known(thing, typed, found)
  } catch (error) {
    // Beyond the end of a list that was cut, a read of its own finds an id.
    const found = error instanceof ListCutError ? await readById(app, thing, typed, signal) : undefined
    if (!found) throw error
    return [found]
  }
}

function known<Item extends { id: string }>(thing: Thing<Item>, typed: string, found: Known<Item>[]): [Known<Item>, ...Known<Item>[]] {
  const [first, ...others] = found
  if (!first) throw new UnknownName(thing.one, typed)
  return [first, ...others]
}

async function readById<Item extends { id: string }>(
  app: App,
  thing: Thing<Item>,
  typed: string,
  signal: AbortSignal | undefined,
): Promise<Known<Item> | undefined> {
  try {
    return await thing.read?.(app, typed, signal).catch(nothingIfAbsent)
  } catch (error) {
    // The text cannot be an id, but it can still be a name.
    if (error instanceof UserError) return undefined
    // A typed id is used as it is. The preflight check says what could not be read.
    if (isUnanswered(error) && thing.isId?.(typed)) return { id: typed } as Known<Item>
    throw error
  }
}

function namedIn<Item extends { id: string }>(thing: Thing<Item>, all: Item[], typed: string): Item[] {
  const byId = all.filter(({ id }) => id === typed)
  const wanted = typed.trim().toLowerCase()
  const isCalled = thing.isCalled?.bind(thing) ?? ((item: Item) => thing.nameOf(item)?.toLowerCase() === wanted)
  return byId.length > 0 ? byId : all.filter((item) => isCalled(item, typed))
}

/** How long the requester waits for what approvers only get warnings from. */
const warningsMs = 3_000

/** Waits for a list in which namesakes are searched. Without it a change is requested all the same, and they stay unchecked. */
export function readBriefly<T>(list: Promise<T>): Promise<T | undefined> {
  return withinOr(
    warningsMs,
    list.catch(() => undefined),
    undefined,
  )
}

/** Waits for a search for these things. If nothing has the typed name, throws a Refusal with names that were probably meant. */
export function suggesting<T>(app: App, things: AnyThing[], command: string, work: Promise<T>): Promise<T> {
  const sources = things.map((thing) => {
    const names = async () => (await asFarAsRead(thing.list(app))).items.map((item) => thing.nameOf(item))
    return [thing.one, { names, list: `${command} ${thing.listedBy}` }]
  })
  return withSuggestions(work, Object.fromEntries(sources))
}

/** Offers the items that contain what was typed. `fits`: which of them fit what the form says. */
export async function offerThings<Item extends { id: string }>(
  app: App,
  thing: Thing<Item>,
  typed: string,
  fits: (item: Item) => boolean = () => true,
): Promise<Choices> {
  const { items, ...missing } = await asFarAsRead(thing.list(app))
  const offered = [...candidatesOf(items, thing.candidate)].filter(([item]) => fits(item) && thing.isOffered?.(app, item) !== false)
  const candidates = offered.map(([, candidate]) => candidate)
  return offer(candidates, typed, missing)
}

/** Returns the option of a picker for an item that is chosen already. Undefined if its id is too long for Slack. */
export function optionOf<Item extends { id: string }>(thing: Thing<Item>, item: Known<Item>) {
  return preset(thing.candidate(item))
}

interface Namesakes<Item> extends TypedChoice {
  typed: string
  found: Known<Item>[]
  /** The end of the question: `Which one should be renamed to web-2?` */
  ask: Mrkdwn
  /** The input of the change if the item with this id is meant. */
  input: (id: string) => unknown
  actionId: string
  /** The whole command with an id in place of the name. */
  byId: string
}

export function askWhichOne<Item extends { id: string }>(thing: Thing<Item>, asked: Namesakes<Item>): Message {
  const { typed, found, ask, input, ...rest } = asked
  return whichOne({
    ...rest,
    question: mrkdwn`${found.length} ${thing.many} are called ${code(typed)}. ${ask}`,
    choices: found.map((item) => ({
      words: choiceWords({ name: thing.nameOf(item) ?? item.id, id: item.id }, thing.details(item)),
      input: input(item.id),
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
  if (found.length > 1) throw new Refusal(mrkdwn`${found.length} ${thing.many} are called ${code(typed)}. Choose one below.`)
  return optionOf(thing, found[0])
}

/** How long a form waits for the name of a thing that it is filled with. Without it the form shows the id. */
const nameMs = 1_500

export async function optionById<Item extends { id: string }>(app: App, thing: Thing<Item>, id: string) {
  const listed = findInList(thing.list(app), (item) => item.id === id).catch(() => undefined)
  const item = await withinOr(nameMs, listed, undefined)
  return preset({ text: (item && thing.nameOf(item)) ?? id, value: id })
}
