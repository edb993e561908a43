import { z } from 'zod'
import { isPersonOrGroupId, quote } from '../notation.ts'

/** Parses a value with `read`, which returns undefined for a bad one, or reports what the value must be. */
export function value<T>(read: (input: unknown) => T | undefined, expected: string, hint: (input: unknown) => string = () => '') {
  return z.unknown().transform((input, context) => {
    const parsed = read(input)
    if (parsed !== undefined) return parsed
    context.addIssue({ code: 'custom', message: mustBe(expected, input) + hint(input) })
    return z.NEVER
  })
}

export function mustBe(expected: string, input: unknown): string {
  if (input === undefined) return `is missing: it must be ${expected}`
  if (input === null) return `is empty: it must be ${expected}`
  return `must be ${expected}, not ${show(input)}`
}

function show(input: unknown): string {
  if (typeof input === 'string') return quote(input)
  if (typeof input === 'number' || typeof input === 'boolean') return String(input)
  return Array.isArray(input) ? 'a list' : 'keys with values'
}

interface Items<T> {
  /** What the items are, as a plural: `channel ids (C…, G…)`. */
  expected: string
  /** Returns undefined for an item that does not fit. */
  read: (item: unknown) => T | undefined
  /** How errors name an item. Two items of one label are the same. */
  labelOf: (item: T) => string
  /** What to do instead of an empty list. Undefined if the list may be empty. */
  whenEmpty: string | undefined
  hint?: (item: unknown) => string
}

/** Parses a list of unique items and reports an error for each item that does not fit. */
export function listOf<T>({ expected, read, labelOf, whenEmpty, hint = () => '' }: Items<T>) {
  const items = z.array(z.unknown(), { error: ({ input }) => mustBe(`a list of ${expected}`, input) })
  return items.transform((given, context) => {
    const addError = (message: string, path: number[] = []) => context.addIssue({ code: 'custom', message, path })
    if (given.length === 0 && whenEmpty !== undefined) addError(`must have at least one item: ${whenEmpty}`)
    const known = new Map<string, T>()
    for (const [index, item] of given.entries()) {
      const parsed = item === null ? undefined : read(item)
      if (item === null) addError('has an empty item: fill it in, or remove it', [index])
      else if (parsed === undefined) addError(mustBe(expected, item) + hint(item), [index])
      else if (known.has(labelOf(parsed))) addError(`has ${quote(labelOf(parsed))} twice: keep one`, [index])
      else known.set(labelOf(parsed), parsed)
    }
    return [...known.values()]
  })
}

interface TextItems extends Omit<Items<string>, 'read' | 'labelOf'> {
  fits: (item: string) => boolean
}

/** Parses a list of unique texts without the white space around them. */
export function list({ fits, ...items }: TextItems) {
  const read = (item: unknown) => (typeof item === 'string' && fits(item.trim()) ? item.trim() : undefined)
  return listOf({ ...items, read, labelOf: (text) => text })
}

/** Returns a hint for a number or a boolean where text is expected. YAML reads `2024` and `true` as such values. */
export const quotesNeeded = (input: unknown) => (typeof input === 'number' || typeof input === 'boolean' ? ': put quotes around it' : '')

export const isLine = (text: string, longest: number) => [...text].length <= longest && /^[^\p{Cc}\p{Zl}\p{Zp}\ufffd]+$/u.test(text)

/** Ids have no space in them, either. */
export const isAscii = (text: string) => /^[!-~]+$/.test(text)

export const line = (longest: number, expected: string) =>
  value(
    (input) => (typeof input === 'string' && isLine(input.trim(), longest) ? input.trim() : undefined),
    `${expected}, in one line of up to ${longest} characters`,
    quotesNeeded,
  )

export const ids = (whenEmpty: string | undefined) =>
  list({ expected: 'user ids (U…, W…) and user group ids (S…)', fits: isPersonOrGroupId, whenEmpty })

/** Parses a value that may have several forms. Chooses the schema by the form, so that errors are about the form that was meant. */
export function formOf<T>(choose: (input: unknown) => z.ZodType<T> | undefined, expected: string) {
  return z.unknown().transform((input, context): T => {
    const parsed = choose(input)?.safeParse(input)
    if (parsed?.success) return parsed.data
    if (!parsed) context.addIssue({ code: 'custom', message: mustBe(expected, input) })
    for (const issue of parsed?.error.issues ?? []) context.issues.push({ ...issue, input } as z.core.$ZodRawIssue)
    return z.NEVER
  })
}

export const isMap = (input: unknown): input is object => typeof input === 'object' && input !== null && !Array.isArray(input)
