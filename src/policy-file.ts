import type { z } from 'zod'
import { nearest } from './configuration/nearest.ts'
import { quote } from './configuration/notation.ts'
import { conflictsAmong } from './configuration/policy-conflicts.ts'
import { keysAt, PolicyFile, toRule } from './configuration/policy-schema.ts'
import { type Fault, readYaml } from './configuration/yaml.ts'
import type { Policy } from './domain/policy.ts'

const longest = 1_000_000

/**
 * A policy from the YAML text of a file (see docs/policy.example.yml), or a line for every error in it, in the order of its lines.
 * `file` is its name for these. `expiresMs` is for rules that do not say when their requests expire. Pure; never throws.
 */
export function readPolicy(text: string, file: string, defaults: { expiresMs: number }): { policy: Policy } | { lines: string[] } {
  if (text.length > longest) return { lines: [`POLICY_FILE ${file} is larger than 1 MB: is it the right file? Make it smaller`] }
  const { content, faults, lineOf } = readYaml(text)
  if (!content) return { lines: linesOf(file, faults) }

  const parsed = PolicyFile.safeParse(content.value)
  const issues = withoutConsequences((parsed.error?.issues ?? []).flatMap(misfits))
  const misfitting = [...issues, ...conflictsIn(content.value)].map(({ path, sentence }) => ({ line: lineOf(path), sentence }))
  const all = [...faults, ...misfitting]
  if (!parsed.success || all.length > 0) return { lines: linesOf(file, all) }
  return { policy: { rules: parsed.data.rules.map((rule) => toRule(rule, defaults)) } }
}

interface Misfit {
  path: PropertyKey[]
  sentence: string
  /** The place of the key that an unknown key was probably meant to be. */
  meant?: string
}

/** Aliases can show one error at one line several times. */
function linesOf(file: string, faults: Fault[]): string[] {
  const inOrder = faults.toSorted((a, b) => a.line - b.line)
  return [...new Set(inOrder.map(({ line, sentence }) => `POLICY_FILE ${file}, line ${line}: ${sentence}`))]
}

function misfits(issue: z.core.$ZodIssue): Misfit[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, sentence: `${nameOf(issue.path)} ${issue.message}` }]
  const known = keysAt(issue.path)
  return issue.keys.map((key) => {
    const meant = nearest(known, key)
    const instead = meant ? `did you mean ${meant}?` : `take it out. Known here: ${known.join(', ')}`
    const misfit = { path: [...issue.path, key], sentence: `${quote(key)} is not known here: ${instead}` }
    return meant ? { ...misfit, meant: [...issue.path, meant].join('.') } : misfit
  })
}

/** A mistyped key is one error, not also the lack of what it should have been. */
function withoutConsequences(all: Misfit[]): Misfit[] {
  const meant = new Set(all.map((misfit) => misfit.meant).filter((place) => place !== undefined))
  return all.filter(({ path, sentence }) => !(meant.has(path.join('.')) && sentence.includes(' is missing: ')))
}

function conflictsIn(content: unknown): Misfit[] {
  if (typeof content !== 'object' || content === null || !('rules' in content) || !Array.isArray(content.rules)) return []
  return conflictsAmong(content.rules).map(({ path, message }) => ({ path, sentence: `${nameOf(path)} ${message}` }))
}

/** The name of a place, for people: its line tells which rule. */
function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the file'
  if (path.length === 1) return String(path[0])
  return (
    path
      .slice(2)
      .filter((segment) => typeof segment === 'string')
      .join('.') || 'this rule'
  )
}
