import type { z } from 'zod'
import { type Bundles, type ChangeKind, type Policy, settingRules } from '../domain/policy.ts'
import { misleadingPart, nearestWord, withoutInvisible } from '../domain/text.ts'
import { quote, type ReadFile, readText } from './notation.ts'
import { alertConflicts, type Conflict, conflictsAmong, idleAlerts } from './policy-conflicts.ts'
import { bareNameWarning, type FileRule, type PolicySchema, policySchema, type RuleKinds, toPolicy } from './policy-schema.ts'
import type { Variables } from './variables.ts'
import { type Fault, readYaml, type Yaml } from './yaml.ts'

const maxLength = 64 * 1024

interface PolicyOptions extends RuleKinds {
  /** What a rule without `expires` gets, in milliseconds. */
  expiresMs: number
}

/** `warnings` has a line for each part of a valid policy that may not mean what its writer thinks. */
type PolicyReading = { policy: Policy; warnings: string[] } | { lines: string[] }

/**
 * Reads a policy from the YAML text of a file (see docs/policy.example.yml). Returns the policy, or one line for each error, in the order
 * of the lines of the file. The lines name the file `file`. Never throws.
 */
export function readPolicy(text: string, file: string, options: PolicyOptions): PolicyReading {
  if (text.length > maxLength) return { lines: [`POLICY_FILE ${file} is larger than 64 kB: is it the right file?`] }
  const { content, faults, lineOf } = readYaml(text)
  if (!content) return { lines: linesOf(file, faults) }

  const schema = policySchema(options)
  const parsed = schema.file.safeParse(content.value)
  const misleading = misleadingTexts(content.value)
  const places = new Set(misleading.map(({ path }) => path.join()))
  const found = (parsed.error?.issues ?? []).flatMap((issue) => violationsIn(issue, schema))
  const issues = [...misleading, ...withoutFollowUps(found).filter(({ path }) => !places.has(path.join()))]
  // Whole rules and entries are compared with each other only if all their values are valid.
  const policy = parsed.data && toPolicy(parsed.data, options)
  const conflicts = policy ? [...idleAlerts(policy), ...alertConflicts(policy)].map(toViolation) : []
  const violations = [...issues, ...conflictsIn(content.value, schema), ...conflicts].map(({ path, sentence }) => ({
    line: lineOf(path),
    sentence,
  }))
  const all = [...faults, ...violations]
  if (!parsed.success || !policy || all.length > 0) return { lines: linesOf(file, all) }
  return { policy, warnings: linesOf(file, warningsAbout(parsed.data.rules, lineOf)) }
}

function warningsAbout(rules: FileRule[], lineOf: Yaml['lineOf']): Fault[] {
  return rules.flatMap(({ projects = [] }, rule) =>
    projects.flatMap((entry, index) => {
      const sentence = bareNameWarning(entry)
      return sentence === undefined ? [] : [{ line: lineOf(['rules', rule, 'projects', index]), sentence }]
    }),
  )
}

/** Reads the policy file at a path, as `readPolicy` does. Returns one line if the file cannot be read. */
export function readPolicyFile(path: string, readFile: ReadFile, options: PolicyOptions): PolicyReading {
  const read = readText(path, readFile)
  if ('why' in read) return { lines: [`POLICY_FILE must be a file that can be read: ${quote(path, 200)} ${read.why}`] }
  return readPolicy(read.text, path, options)
}

interface Violation {
  path: PropertyKey[]
  sentence: string
  /** The path of the known key that an unknown key was probably meant to be. */
  meant?: string
}

/**
 * Finds texts that can look like others: a rule with such an id or name may not apply where its reader thinks, and a laxer one decides then. `seen`: what
 * an alias has led to before.
 */
function misleadingTexts(value: unknown, path: PropertyKey[] = [], seen = new Set<unknown>()): Violation[] {
  const violation = (text: string, at: PropertyKey[], name: string) => {
    const part = misleadingPart(text)
    return part ? [{ path: at, sentence: `${name} ${part}, in ${quote(withoutInvisible(text))}: type it again` }] : []
  }
  const name = nameOf(path)
  if (typeof value === 'string') return violation(value, path, /^[\w. ]+$/.test(name) ? name : quote(name, 60))
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key]
    return [...violation(key, at, 'a key'), ...misleadingTexts(member, at, seen)]
  })
}

/** Removes duplicates, because a YAML alias can lead to the same error in the same line several times. */
function linesOf(file: string, faults: Fault[]): string[] {
  const inOrder = faults.toSorted((a, b) => a.line - b.line)
  return [...new Set(inOrder.map(({ line, sentence }) => `POLICY_FILE ${file}, line ${line}: ${sentence}`))]
}

function violationsIn(issue: z.core.$ZodIssue, { keysAt }: PolicySchema): Violation[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, sentence: `${nameOf(issue.path)} ${issue.message}` }]
  const known = keysAt(issue.path)
  return issue.keys.map((key) => {
    const meant = nearestWord(known, key)
    const instead = meant ? `did you mean ${meant}?` : `remove it. Known keys: ${known.join(', ')}`
    const violation = { path: [...issue.path, key], sentence: `${quote(key)} is not a known key: ${instead}` }
    return meant ? { ...violation, meant: [...issue.path, meant].join('.') } : violation
  })
}

/** Reports a mistyped key once, and not also the missing key that it was meant to be. */
function withoutFollowUps(all: Violation[]): Violation[] {
  const meant = new Set(all.map((violation) => violation.meant).filter((path) => path !== undefined))
  return all.filter(({ path, sentence }) => !(meant.has(path.join('.')) && sentence.includes(' is missing: ')))
}

function conflictsIn(content: unknown, { rule }: PolicySchema): Violation[] {
  if (typeof content !== 'object' || content === null || !('rules' in content) || !Array.isArray(content.rules)) return []
  return conflictsAmong(content.rules, rule).map(toViolation)
}

function toViolation({ path, message }: Conflict): Violation {
  return { path, sentence: `${nameOf(path)} ${message}` }
}

/**
 * Returns the name of a path for error messages, without the number of the rule: the line already identifies the rule. Below a key of an
 * alert's entry are names of labels and sites, which may be anything.
 */
function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the file'
  if (path.length === 1) return String(path[0])
  const isAlert = path[0] === 'alerts'
  const keys = path.slice(2, isAlert ? 3 : undefined).filter((segment) => typeof segment === 'string')
  return keys.join('.') || (isAlert ? 'this entry' : 'this rule')
}

/**
 * Builds a policy from the variables: one rule for the kinds of change that need no approval, then one for all other kinds. Neither names a
 * bundle, so bundles need what their parts need.
 */
export function simplePolicy(v: Variables, { kinds, bundles }: { kinds: ChangeKind[]; bundles: Bundles }): Policy {
  const noApproval = v.NO_APPROVAL ?? []
  const needApproval = kinds.filter((kind) => !noApproval.includes(kind) && !bundles.has(kind))
  const shared = {
    projects: undefined,
    channels: v.CHANNELS,
    request: v.OPERATORS,
    alerts: false,
    breakGlass: false,
    needsReason: false,
    confirm: false,
    expiresMs: v.APPROVAL_TTL,
    mention: undefined,
  }
  const approve = { anyOf: v.APPROVERS ?? { users: [], userGroups: [] }, allOf: [], approvals: 1 }
  const rules = [
    { name: settingRules.noApproval, changes: noApproval, approve: undefined, ...shared },
    { name: settingRules.approvers, changes: needApproval, approve, ...shared },
  ]
  return { rules: rules.filter((rule) => rule.changes.length > 0), bundles, alerts: [] }
}
