import { z } from 'zod'
import { distinctLabels, type ProjectRef, sameProject } from '../domain/account.ts'
import { type Finding, type Words, wordsFrom } from '../domain/change.ts'
import { CheckFailed } from '../domain/errors.ts'
import { type Phrase, phrase } from '../domain/text.ts'

/**
 * What one finding of a kind of change says. It is stored as its code and its data, and put into words where it is shown: a sentence, or a
 * phrase after *Not checked:* for what stays unchecked.
 */
interface Told<Shape extends z.ZodRawShape> extends More<z.infer<z.ZodObject<Shape>>> {
  shape: Shape
  /** Names from outside are marked in a phrase, and not in a text. */
  words: (data: z.infer<z.ZodObject<Shape>>) => Phrase | string
}

interface More<Data> {
  /** A sentence that says what to do. Only if requesting the same change again is of no use. */
  next?: string | ((data: Data) => string | undefined)
  /** The field of the form that shows a refusal with this finding. */
  field?: string
}

/** Declares one finding: its data, and its words. */
export function finding<Shape extends z.ZodRawShape>(
  shape: Shape,
  words: Told<Shape>['words'],
  more: More<z.infer<z.ZodObject<Shape>>> = {},
): Told<Shape> {
  return { shape, words, ...more }
}

// biome-ignore lint/suspicious/noExplicitAny: each finding has data of its own, and `Known` names them all.
type Declared = Record<string, Told<any>>

/** An empty shape would be inferred as an object that has no member at all, not even a code. */
type DataOf<Shape extends z.ZodRawShape> = [keyof Shape] extends [never] ? unknown : z.infer<z.ZodObject<Shape>>

type KnownFinding<All extends Declared> = {
  [Code in keyof All & string]: { code: Code } & (All[Code] extends Told<infer Shape> ? DataOf<Shape> : never)
}[keyof All & string]

/** Everything that can prevent a kind of change, stay unchecked before it, or end it, by its code. */
export function findings<All extends Declared>(all: All) {
  type Known = KnownFinding<All>
  const [first, ...others] = Object.entries(all).map(([code, { shape }]) => z.object({ code: z.literal(code), ...shape }))
  if (!first) throw new Error('there are no findings')
  const schema = z.discriminatedUnion('code', [first, ...others]) as unknown as z.ZodType<Known>

  function words({ code, ...data }: Known): Words {
    const told = all[code as string] as Declared[string]
    const said = told.words(data)
    const next = typeof told.next === 'function' ? told.next(data) : told.next
    return { ...(typeof said === 'string' ? { why: said } : wordsFrom(said)), next }
  }

  return {
    schema,
    words,
    /** Throws CheckFailed with the finding and its words. */
    refuse(finding: Known): never {
      throw new CheckFailed(finding as Finding, words(finding))
    },
    /** Returns undefined for a finding of another kind of change, or of another version of Lockkeeper. */
    explain(finding: Finding): Words | undefined {
      const known = schema.safeParse(finding)
      return known.success ? words(known.data) : undefined
    },
    /** Returns the field of the form that shows this error. Undefined if none is named. */
    fieldOf(error: unknown): string | undefined {
      return error instanceof CheckFailed ? all[error.finding.code]?.field : undefined
    },
  }
}

/** The project of a thing, as the facts of a change hold it. */
export const ProjectFacts = z.object({ id: z.string(), name: z.string().optional(), slug: z.string().optional() })

/** The labels of two things that differ. `distinctLabels` makes them, so that the labels differ, too. */
export const between = { before: z.string(), now: z.string() }

/** What can have changed since the approval of every kind of change whose resource has an id and a project. */
export const changedSince = {
  'id-changed': finding(
    between,
    ({ before, now }) => phrase`This was requested as ${before}, but the account API shows it as ${now}. Request it again with that id.`,
  ),
  'project-changed': finding(
    between,
    ({ before, now }) => phrase`It was in project ${before} when this was requested, and is in ${now} now.`,
  ),
}

/** If the account API did not answer the request, `before` is the typed id, and another request may hold the lock of the real one. */
export function idDifference(before: string, now: string) {
  return before === now ? [] : [{ code: 'id-changed' as const, before, now }]
}

export function projectDifference(approved: ProjectRef | undefined, now: ProjectRef | undefined) {
  if (!approved || !now || sameProject(approved, now) !== false) return []
  const [before, today] = distinctLabels(approved, now, ['name', 'slug'])
  return [{ code: 'project-changed' as const, before, now: today }]
}

/** The findings of a kind of change, as its form needs them. */
export type Findings = Pick<ReturnType<typeof findings>, 'fieldOf'>
