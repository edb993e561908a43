import type { App } from '../src/app.ts'
import { createRepeatedLines } from '../src/ops/log.ts'

export type Fake<T> = T extends (...args: never[]) => unknown ? T : T extends object ? { [Name in keyof T]?: Fake<T[Name]> } : T

/** Returns an App of the members that a test gives, in several parts. Every other member throws when it is read, so that a test notices what it forgot. */
export function fakeApp(...given: Fake<App>[]): App {
  return onlyGiven(given.reduce(merged), 'app') as App
}

function merged<Part extends object>(before: Part, after: Part): Part {
  const both = { ...before, ...after } as Record<string, unknown>
  for (const [name, value] of Object.entries(before)) {
    const later = both[name]
    if (later !== value && isPlain(value) && isPlain(later)) both[name] = merged(value, later)
  }
  return both as Part
}

function onlyGiven(given: object, name: string): unknown {
  return new Proxy(given, {
    get(target, member) {
      if (typeof member === 'symbol' || member === 'then' || Object.hasOwn(target, member) || member in target) {
        const value: unknown = Reflect.get(target, member)
        return isPlain(value) ? onlyGiven(value, `${name}.${String(member)}`) : value
      }
      throw new Error(`the test has no ${name}.${String(member)}`)
    },
  })
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** A policy that holds nothing. */
export const noPolicy = { rules: [], freezes: [] }

/** The member with which nothing is frozen. */
export const notFrozen = {
  freezes: {
    read: async () => ({ text: '', record: undefined, isUnreadable: false, freezes: [] }),
    lastRead: () => undefined,
    lastBy: () => undefined,
  },
}

/** The members with which notices to the operators are only logged: each adds its code. */
export function noticing(codes: string[]) {
  const write = ({ code }: { code?: unknown }) => void codes.push(String(code))
  const log = { info: write, warn: write, error: write }
  return {
    config: { policy: noPolicy, opsChannel: undefined, slack: { command: '/infra' } },
    log,
    lines: createRepeatedLines(log),
    metrics: { notGenuine: () => {}, requestsLost: () => {}, tick: () => {}, error: () => {} },
  }
}
