import { isObject, type Json } from './json.ts'

/** Reports a problem at a JSON pointer, in Slack's own words. */
export type Report = (problem: string, at: string) => void

export type Check = (value: unknown, at: string, report: Report) => void

/**
 * Thrown for everything that the bot sends and the stand-in does not describe. Slack may accept it. Describe it here with its limits before
 * the bot sends it, so that the tests check it.
 */
export class NotDescribed extends Error {
  override name = 'NotDescribed'

  constructor(what: string) {
    super(`The stand-in Slack does not describe ${what}. If Slack takes it, add it to test/sandbox/slack.`)
  }
}

export function refuseOthers(given: object, described: readonly string[], where: string): void {
  const other = Object.keys(given).find((name) => !described.includes(name))
  if (other !== undefined) throw new NotDescribed(`"${other}" ${where}`)
}

export const anything: Check = () => {}

export function string(limits: { max?: number; min?: number; oneOf?: readonly string[] } = {}): Check {
  return (value, at, report) => {
    if (typeof value !== 'string') return report('must be a string', at)
    if (limits.max !== undefined && value.length > limits.max) report(`must be less than ${limits.max + 1} characters`, at)
    if (limits.min !== undefined && value.length < limits.min) report(`must be more than ${limits.min - 1} characters`, at)
    if (limits.oneOf !== undefined && !limits.oneOf.includes(value)) report('must be a valid enum value', at)
  }
}

export function wholeNumber(limits: { min: number; max?: number }): Check {
  return (value, at, report) => {
    if (!Number.isInteger(value)) return report('must be an integer', at)
    if (limits.max !== undefined && Number(value) > limits.max) report(`must be less than ${limits.max + 1}`, at)
    if (Number(value) < limits.min) report(`must be more than ${limits.min - 1}`, at)
  }
}

export const boolean: Check = (value, at, report) => {
  if (typeof value !== 'boolean') report('must be a boolean', at)
}

export function array(item: Check, limits: { min?: number; max: number }): Check {
  return (value, at, report) => {
    if (!Array.isArray(value)) return report('must be an array', at)
    if (value.length > limits.max) report(`no more than ${limits.max} items allowed`, at)
    if (limits.min !== undefined && value.length < limits.min) report(`no fewer than ${limits.min} items allowed`, at)
    value.forEach((one, index) => {
      item(one, `${at}/${index}`, report)
    })
  }
}

export interface Shape {
  required?: Record<string, Check>
  optional?: Record<string, Check>
  also?: (value: Json, at: string, report: Report) => void
}

export function object(shape: Shape): Check {
  const described = { ...shape.required, ...shape.optional }
  return (value, at, report) => {
    if (!isObject(value)) return report('must be an object', at)
    for (const name of Object.keys(shape.required ?? {})) {
      if (value[name] === undefined || value[name] === null) report(`missing required field: ${name}`, at)
    }
    for (const [name, member] of Object.entries(value)) {
      const check = described[name]
      if (check === undefined) throw new NotDescribed(`the member "${name}" at ${at}`)
      if (member !== null && member !== undefined) check(member, `${at}/${name}`, report)
    }
    shape.also?.(value, at, report)
  }
}

export function byType(kinds: Record<string, Check>): Check {
  return (value, at, report) => {
    if (!isObject(value)) return report('must be an object', at)
    const check = kinds[String(value.type)]
    if (check === undefined) throw new NotDescribed(`the type "${String(value.type)}" at ${at}`)
    check(value, at, report)
  }
}

/** Checks a text object of one of these kinds. Slack first reports that no schema matched. */
export function text(max: number, ...kinds: ('plain_text' | 'mrkdwn')[]): Check {
  const words = string({ max, min: 1 })
  const checks = {
    plain_text: object({ required: { type: anything, text: words }, optional: { emoji: boolean } }),
    mrkdwn: object({ required: { type: anything, text: words }, optional: { verbatim: boolean } }),
  }
  return (value, at, report) => {
    const problems: [string, string][] = []
    const kind = kinds.find((one) => isObject(value) && value.type === one)
    if (kind === undefined) problems.push([`unsupported type: ${String(isObject(value) ? value.type : value)}`, `${at}/type`])
    else checks[kind](value, at, (problem, where) => problems.push([problem, where]))
    if (problems.length > 0) report('failed to match all allowed schemas', at)
    for (const [problem, where] of problems) report(problem, where)
  }
}

export const plain = (max: number): Check => text(max, 'plain_text')
export const anyText = (max: number): Check => text(max, 'plain_text', 'mrkdwn')
