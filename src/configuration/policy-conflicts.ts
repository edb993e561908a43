import type { z } from 'zod'
import { approversOf } from '../domain/policy.ts'
import { quote } from './notation.ts'
import { FileRule } from './policy-schema.ts'

export interface Conflict {
  path: (string | number)[]
  message: string
}

/** What a rule says, as far as it can be read: what is wrong with one part must not hide what is wrong with another. */
type Sketch = { [K in keyof FileRule]?: { is: FileRule[K] } }

/** What is wrong with rules although each of their values is right by itself. `rules` as in the file. Pure. */
export function conflictsAmong(rules: unknown[]): Conflict[] {
  const sketches = rules.map(sketch)
  return sketches.flatMap((rule, index) =>
    [
      nameTaken(rule, sketches.slice(0, index)),
      glassWithoutApproval(rule),
      tooManyApprovals(rule),
      neverReached(rule, sketches.slice(0, index)),
    ]
      .filter((conflict) => conflict !== undefined)
      .map(({ path, message }) => ({ path: ['rules', index, ...path], message })),
  )
}

function sketch(rule: unknown): Sketch {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return {}
  const given = rule as Record<string, unknown>
  // A mistyped key may be the one that would narrow the rule, so it is not taken for one that covers everything.
  const { changes, ...rest } = FileRule.shape
  const legible = Object.keys(given).every((key) => Object.hasOwn(FileRule.shape, key)) ? { changes, ...rest } : rest
  const read = Object.entries(legible).flatMap(([key, schema]: [string, z.ZodType]) => {
    const parsed = schema.safeParse(given[key])
    return parsed.success ? [[key, { is: parsed.data }]] : []
  })
  return Object.fromEntries(read)
}

function nameTaken(rule: Sketch, above: Sketch[]): Conflict | undefined {
  const name = rule.name?.is
  if (name === undefined || !above.some((other) => other.name?.is === name)) return undefined
  return { path: ['name'], message: `must be the rule's own, and a rule above is called ${quote(name, 60)}: choose another` }
}

function glassWithoutApproval(rule: Sketch): Conflict | undefined {
  if (rule.self_approval?.is !== 'break-glass' || !rule.approve || rule.approve.is) return undefined
  return { path: ['self_approval'], message: 'must not be break-glass where approve is none: take it out, or name who approves' }
}

function tooManyApprovals(rule: Sketch): Conflict | undefined {
  const terms = rule.approve?.is
  if (!terms) return undefined
  const { users, userGroups } = approversOf(terms)
  if (userGroups.length > 0 || terms.approvals <= users.length) return undefined
  const message = `must be at most ${users.length}, because any_of and all_of name no more people: name more, or ask for fewer approvals`
  return { path: ['approve', 'approvals'], message }
}

/** Every kind, channel and project of a rule has to be left for it by those above it; where none is, nobody ever meets it. */
function neverReached({ changes, channels, projects }: Sketch, above: Sketch[]): Conflict | undefined {
  if (!changes || !channels || !projects) return undefined
  const covering = new Set<string>()
  for (const kind of changes.is) {
    for (const channel of channels.is ?? [undefined]) {
      for (const project of projects.is ?? [undefined]) {
        const index = above.findIndex(
          (other) => other.changes?.is.includes(kind) && holds(other.channels, channel) && holds(other.projects, project),
        )
        if (index === -1) return undefined
        covering.add(nameOf(above[index], index))
      }
    }
  }
  const by = [...covering].join(' and ')
  return {
    path: [],
    message: `can never match: ${by} above ${covering.size === 1 ? 'covers' : 'cover'} all that it is for. Move it up, or take it out`,
  }
}

function nameOf(rule: Sketch | undefined, index: number): string {
  return rule?.name ? quote(rule.name.is, 60) : `rule ${index + 1}`
}

/** `one` undefined: any, which only a rule without a list holds for. */
function holds(listed: { is: string[] | undefined } | undefined, one: string | undefined): boolean {
  if (!listed) return false
  return listed.is === undefined || (one !== undefined && listed.is.includes(one))
}
