import { isObject, type Json, objectsOf, textOf } from './json.ts'

/** Takes note of something wrong at a JSON pointer. The sentences are Slack's own. */
export type Report = (problem: string, at: string) => void

export type Check = (value: unknown, at: string, report: Report) => void

export const anything: Check = () => {}

export function string(limits: { max?: number; min?: number; oneOf?: readonly string[]; matches?: RegExp } = {}): Check {
  return (value, at, report) => {
    if (typeof value !== 'string') return report('must be a string', at)
    if (limits.max !== undefined && value.length > limits.max) report(`must be less than ${limits.max + 1} characters`, at)
    if (limits.min !== undefined && value.length < limits.min) report(`must be more than ${limits.min - 1} characters`, at)
    if (limits.oneOf !== undefined && !limits.oneOf.includes(value)) report('must be a valid enum value', at)
    if (limits.matches !== undefined && !limits.matches.test(value)) report('must be a valid format', at)
  }
}

export function number(limits: { min?: number; max?: number; whole?: boolean } = {}): Check {
  return (value, at, report) => {
    if (typeof value !== 'number') return report('must be a number', at)
    if (limits.whole && !Number.isInteger(value)) report('must be an integer', at)
    if (limits.max !== undefined && value > limits.max) report(`must be less than ${limits.max + 1}`, at)
    if (limits.min !== undefined && value < limits.min) report(`must be more than ${limits.min - 1}`, at)
  }
}

export const boolean: Check = (value, at, report) => {
  if (typeof value !== 'boolean') report('must be a boolean', at)
}

export function array(item: Check, limits: { min?: number; max?: number } = {}): Check {
  return (value, at, report) => {
    if (!Array.isArray(value)) return report('must be an array', at)
    if (limits.max !== undefined && value.length > limits.max) report(`no more than ${limits.max} items allowed`, at)
    if (limits.min !== undefined && value.length < limits.min) report(`no fewer than ${limits.min} items allowed`, at)
    value.forEach((one, index) => {
      item(one, `${at}/${index}`, report)
    })
  }
}

export interface Shape {
  required?: Record<string, Check>
  optional?: Record<string, Check>
  /** Other members are let through; otherwise each is an error, as with Slack. */
  open?: boolean
  also?: (value: Json, at: string, report: Report) => void
}

export function object(shape: Shape): Check {
  const known = { ...shape.required, ...shape.optional }
  return (value, at, report) => {
    if (!isObject(value)) return report('must be an object', at)
    for (const name of Object.keys(shape.required ?? {})) {
      if (value[name] === undefined || value[name] === null) report(`missing required field: ${name}`, at)
    }
    for (const [name, member] of Object.entries(value)) {
      const check = known[name]
      if (check === undefined) {
        if (!shape.open) report(`invalid additional property: ${name}`, at)
      } else if (member !== null && member !== undefined) check(member, `${at}/${name}`, report)
    }
    shape.also?.(value, at, report)
  }
}

/** Chooses by `type`. Slack says of a wrong member of such a union first that no schema matched. */
export function byType(kinds: Record<string, Check>): Check {
  return (value, at, report) => {
    if (!isObject(value)) return report('must be an object', at)
    const check = typeof value.type === 'string' ? kinds[value.type] : undefined
    if (check === undefined) return report(`unsupported type: ${String(value.type)}`, `${at}/type`)
    check(value, at, report)
  }
}

export function text(limits: { max: number; kinds?: readonly ('plain_text' | 'mrkdwn')[] }): Check {
  const words = string({ max: limits.max, min: 1 })
  const kinds = limits.kinds ?? ['plain_text', 'mrkdwn']
  const checks: Record<string, Check> = {
    plain_text: object({ required: { type: anything, text: words }, optional: { emoji: boolean } }),
    mrkdwn: object({ required: { type: anything, text: words }, optional: { verbatim: boolean } }),
  }
  const allowed = byType(Object.fromEntries(kinds.map((kind) => [kind, checks[kind] ?? anything])))
  return (value, at, report) => {
    const problems: [string, string][] = []
    allowed(value, at, (problem, where) => problems.push([problem, where]))
    if (problems.length === 0) return
    report('failed to match all allowed schemas', at)
    for (const [problem, where] of problems) report(problem, where)
  }
}

export const plain = (max: number): Check => text({ max, kinds: ['plain_text'] })

/** The options offered by a select, groups opened. */
export function offeredOptions(element: Json): Json[] {
  return [...objectsOf(element.options), ...objectsOf(element.option_groups).flatMap((group) => objectsOf(group.options))]
}

export function sameOption(one: Json, other: Json): boolean {
  return one.value === other.value && textOf(one.text) === textOf(other.text)
}
