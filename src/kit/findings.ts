import { z } from 'zod'
import { distinctLabels, Namesakes, namesakesAre, type ProjectRef, sameProject } from '../domain/account.ts'
import { type Finding, type Words, wordsFrom } from '../domain/change.ts'
import { CheckFailed } from '../domain/errors.ts'
import { type Phrase, phrase } from '../domain/text.ts'

/** What a finding says: a sentence, or a phrase after *Not checked:*. It is stored as its code and data, and worded where it is shown. */
interface Told<Shape extends z.ZodRawShape> extends More<DataOf<Shape>> {
  shape: Shape
  /** Names from outside are marked in a phrase, and not in a text. */
  words: (data: DataOf<Shape>) => Phrase | string
}

interface More<Data> {
  /** A sentence that says what to do. Only if requesting the same change again is of no use. */
  next?: string | ((data: Data) => string | undefined)
  /** The field of the form that shows a refusal with this finding. */
  field?: string
  /** Whether approvers have nothing to confirm. */
  isNote?: (data: Data) => boolean
}

/** An empty shape would be inferred as an object that has no member at all, not even a code. */
type DataOf<Shape extends z.ZodRawShape> = [keyof Shape] extends [never] ? unknown : z.infer<z.ZodObject<Shape>>

// biome-ignore lint/suspicious/noExplicitAny: each finding has data of its own, and `KnownFinding` names them all.
type AnyTold = Told<any>

type NamesIn<Sentence> = Sentence extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never
type ShapeOf<Sentence> = { [Name in NamesIn<Sentence>]: z.ZodString }

/** By a sentence whose data are the names in braces, `{server} is locked.`, or by its data and a function that words them. */
export function finding<const Sentence extends string>(sentence: Sentence, more?: More<DataOf<ShapeOf<Sentence>>>): Told<ShapeOf<Sentence>>
export function finding<Shape extends z.ZodRawShape>(shape: Shape, words: Told<Shape>['words'], more?: More<DataOf<Shape>>): Told<Shape>
export function finding(declared: string | z.ZodRawShape, second?: unknown, third?: Partial<AnyTold>): AnyTold {
  if (typeof declared !== 'string') return { shape: declared, words: second as AnyTold['words'], ...third }
  const parts = declared.split(/\{(\w+)\}/)
  const isName = (index: number) => index % 2 === 1
  return {
    shape: Object.fromEntries(parts.filter((_, index) => isName(index)).map((name) => [name, z.string()])),
    words: (data) => parts.map((part, index) => (isName(index) ? { name: String(data[part]) } : part)).filter((part) => part !== ''),
    ...(second as Partial<AnyTold>),
  }
}

type KnownFinding<All extends Record<string, AnyTold>> = {
  [Code in keyof All & string]: { code: Code } & (All[Code] extends Told<infer Shape> ? DataOf<Shape> : never)
}[keyof All & string]

/** Everything that can prevent a kind of change, stay unchecked before it, or end it, by its code. */
export function findings<All extends Record<string, AnyTold>>(all: All) {
  type Known = KnownFinding<All>
  const [first, ...others] = Object.entries(all).map(([code, { shape }]) => z.object({ code: z.literal(code), ...shape }))
  if (!first) throw new Error('there are no findings')
  const schema = z.discriminatedUnion('code', [first, ...others]) as unknown as z.ZodType<Known>

  function words({ code, ...data }: Known): Words {
    const told = all[code as string] as AnyTold
    const said = told.words(data)
    const next = typeof told.next === 'function' ? told.next(data) : told.next
    return { ...(typeof said === 'string' ? { why: said } : wordsFrom(said)), next, isNote: told.isNote?.(data) || undefined }
  }

  return {
    schema,
    words,
    refuse(finding: Known): never {
      throw new CheckFailed(finding as Finding, words(finding))
    },
    /** Returns undefined for a finding of another kind of change, or of another version of Lockkeeper. */
    explain(finding: Finding): Words | undefined {
      const known = schema.safeParse(finding)
      return known.success ? words(known.data) : undefined
    },
    fieldOf(error: unknown): string | undefined {
      return error instanceof CheckFailed ? all[error.finding.code]?.field : undefined
    },
  }
}

/** Warns of other things that people know by this name: `count` of them, up to three of which are named. */
export function namesakes(what: { one: string; many: string }) {
  return finding({ name: z.string(), ...Namesakes.shape }, (found) => phrase`${namesakesAre(found, what)} also called ${found.name}.`)
}

export const ProjectFacts = z.object({ id: z.string(), name: z.string().optional(), slug: z.string().optional() })

/** What can have changed since the approval of every kind of change whose resource has an id and a project. */
export const changedSince = {
  'id-changed': finding('The account API shows {before} as {now}. Request it again with that id.'),
  'project-changed': finding('It is in project {now} now, not in {before}.'),
  'name-changed': finding('{before} is called {now} now.'),
}

/** If the account API did not answer the request, `before` is the typed id, and another request may hold the lock of the real one. */
export function idDifference(before: string, now: string) {
  return before === now ? [] : [{ code: 'id-changed' as const, before, now }]
}

/** Approvers decide by names: two servers that exchanged theirs before the request would be taken for each other. */
export function nameDifference(before: string | undefined, now: string | undefined) {
  return before === undefined || now === undefined || before === now ? [] : [{ code: 'name-changed' as const, before, now }]
}

export function projectDifference(approved: ProjectRef | undefined, now: ProjectRef | undefined) {
  if (!approved || !now || sameProject(approved, now) !== false) return []
  const [before, today] = distinctLabels(approved, now, ['name', 'slug'])
  return [{ code: 'project-changed' as const, before, now: today }]
}

export type Findings = Pick<ReturnType<typeof findings>, 'fieldOf'>
