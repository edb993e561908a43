import type { z } from 'zod'
import { alertsRequester, machineRequester } from '../domain/approval.ts'
import {
  type AlertRoute,
  approversOf,
  firstApproversOf,
  type Machine,
  type Policy,
  type PolicyRule,
  rulesOfKind,
  settingRules,
  union,
} from '../domain/policy.ts'
import { misleadingPart, withoutInvisible } from '../domain/text.ts'
import { quote, type ReadFile, readText } from './notation.ts'
import { absentWords, type PolicyOptions, policySchema } from './policy-schema.ts'
import type { Variables } from './variables.ts'
import { type Fault, readYaml } from './yaml.ts'

const maxLength = 64 * 1024

type PolicyReading = { policy: Policy } | { lines: string[] }

export function readPolicyFile(path: string, readFile: ReadFile, options: PolicyOptions): PolicyReading {
  const read = readText(path, readFile)
  if ('why' in read) return { lines: [`POLICY_FILE ${quote(path, 200)} ${read.why}`] }
  return readPolicy(read.text, path, options)
}

/** Returns the policy, or a line for each error, in the order of the lines of the file. Never throws. */
export function readPolicy(text: string, file: string, options: PolicyOptions): PolicyReading {
  if (text.length > maxLength) return { lines: [`POLICY_FILE ${file} is larger than 64 kB: is it the right file?`] }
  const { content, faults, lineOf } = readYaml(text)
  if (!content) return { lines: linesOf(file, faults) }

  const parsed = policySchema(options).safeParse(content.value, { error: absentWords })
  const policy = parsed.data && { ...parsed.data, bundles: options.bundles }
  const issues = (parsed.error?.issues ?? []).flatMap(problemsIn)
  // Rules and entries are compared with each other only if all their values are valid.
  const problems = [...misleadingTexts(content.value), ...issues, ...(policy ? conflictsIn(policy) : [])]
  if (policy && problems.length === 0) return { policy: { ...policy, rules: [...policy.rules, ...rulesToConfirm(policy.rules, options)] } }
  const all = problems.map(({ path, message }) => ({ line: lineOf(path), sentence: `${nameOf(path)}: ${message}` }))
  return { lines: linesOf(file, all) }
}

/** What a confirmation rests on is changed only with the confirmation of another approver, whatever the rules of the file say. */
function rulesToConfirm(rules: PolicyRule[], { confirmations = new Map(), expiresMs }: PolicyOptions): PolicyRule[] {
  return [...confirmations].flatMap(([name, changes]): PolicyRule[] => {
    const approvers = rules.flatMap(({ confirmBy, approve }) => (confirmBy === name && approve ? [firstApproversOf(approve)] : []))
    if (approvers.length === 0 || changes.length === 0) return []
    const approve = { anyOf: union(approvers), allOf: [], approvals: 1 }
    return [{ ...forEverybody, name: `${name}s`, changes, channels: undefined, request: undefined, approve, confirmBy: name, expiresMs }]
  })
}

/** What a rule says that nobody wrote. */
const forEverybody = {
  projects: undefined,
  alerts: false,
  breakGlass: false,
  reason: [],
  confirm: false,
  windows: [],
  mention: undefined,
}

interface Problem {
  path: PropertyKey[]
  message: string
}

/** An issue about unknown keys is at the rule, and each key has its own line. */
function problemsIn(issue: z.core.$ZodIssue): Problem[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ path: [...issue.path, key], message: 'unknown key' })) : [issue]
}

/** A rule with an id or name that looks like another may not apply where its reader thinks. `seen`: what an alias has led to before. */
function misleadingTexts(value: unknown, path: PropertyKey[] = [], seen = new Set<unknown>()): Problem[] {
  const problem = (text: string, at: PropertyKey[]) => {
    const part = misleadingPart(text)
    return part ? [{ path: at, message: `${part}, in ${quote(withoutInvisible(text))}: type it again` }] : []
  }
  if (typeof value === 'string') return problem(value, path)
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key]
    // zod drops this key, and an entry without one of its labels would match more alerts.
    if (key === '__proto__') return [{ path: at, message: 'unknown key' }]
    return [...problem(key, at), ...misleadingTexts(member, at, seen)]
  })
}

/** Removes duplicates, because a YAML alias can lead to the same error in the same line several times. */
function linesOf(file: string, faults: Fault[]): string[] {
  const inOrder = faults.toSorted((a, b) => a.line - b.line)
  return [...new Set(inOrder.map(({ line, sentence }) => `POLICY_FILE ${file}, line ${line}: ${sentence}`))]
}

/** Names a path without the number of the rule: the line already identifies the rule. */
function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the file'
  if (path.length === 2 && typeof path[1] === 'number') return path[0] === 'rules' ? 'this rule' : 'this entry'
  const keys = path.filter((segment) => typeof segment === 'string').slice(path.length > 2 ? 1 : 0)
  return keys.map((key) => (/^[\w. ]+$/.test(key) ? quote(key, 60).slice(1, -1) : quote(withoutInvisible(key), 60))).join('.')
}

function conflictsIn(policy: Policy): Problem[] {
  const { rules, alerts = [], freezes = [], machines = [] } = policy
  const at = (place: string, index: number) => (conflict: Problem | undefined) =>
    conflict ? [{ ...conflict, path: [place, index, ...conflict.path] }] : []
  return [
    ...rules.flatMap((rule, index) => {
      const above = rules.slice(0, index)
      const own = [...withoutApproval(rule), unknownMachine(rule, machines), tooManyApprovals(rule)]
      return [...own, nameTaken(rule, above), neverMatches(rule, above)].flatMap(at('rules', index))
    }),
    ...freezes.flatMap((freeze, index) => at('freezes', index)(nameTaken(freeze, freezes.slice(0, index)))),
    ...alerts.flatMap((route, index) => {
      const above = alerts.slice(0, index)
      return [nameTaken(route, above), neverReached(route, above), neverAllowed(route, policy)].flatMap(at('alerts', index))
    }),
    ...machines.flatMap((machine, index) => {
      const above = machines.slice(0, index)
      return [nameTaken(machine, above), tokenTaken(machine, above), neverLet(machine, policy)].flatMap(at('machines', index))
    }),
  ]
}

function withoutApproval({ approve, breakGlass, emergency, alerts, machines = [], confirm, confirmBy }: PolicyRule): Problem[] {
  if (approve) return []
  const byMachine = alerts ? alertsRequester : machines[0]
  const words = {
    self_approval: breakGlass && 'break-glass',
    emergency: emergency && 'approvers',
    request: byMachine,
    confirm: confirmBy ?? (confirm && 'true'),
  }
  const wrong = Object.entries(words).filter(([, word]) => word)
  return wrong.map(([key, word]) => ({ path: [key], message: `must not be ${word} where approve is none: nobody approves` }))
}

function unknownMachine({ machines = [] }: PolicyRule, known: Machine[]): Problem | undefined {
  const unknown = machines.find((each) => !known.some(({ name }) => machineRequester(name) === each))
  return unknown === undefined ? undefined : { path: ['request'], message: `has ${quote(unknown, 60)}, which is no name under machines` }
}

function tooManyApprovals({ approve }: PolicyRule): Problem | undefined {
  if (!approve) return undefined
  const { users, userGroups } = approversOf(approve)
  if (userGroups.length > 0 || approve.approvals <= users.length) return undefined
  return { path: ['approve', 'approvals'], message: `must be at most ${users.length}: the rule names no more approvers` }
}

function nameTaken({ name }: { name: string }, above: { name: string }[]): Problem | undefined {
  if (!above.some((other) => other.name === name)) return undefined
  return { path: ['name'], message: `must be unique, and ${quote(name, 60)} stands above` }
}

/** The rules above cover every combination of its kinds, channels and projects. */
function neverMatches(rule: PolicyRule, above: PolicyRule[]): Problem | undefined {
  const covering = new Set<string>()
  for (const kind of rule.changes) {
    for (const channel of rule.channels ?? [undefined]) {
      for (const project of projectsOf(rule) ?? [undefined]) {
        const by = above.find(
          (other) => other.changes.includes(kind) && covers(other.channels, channel) && covers(projectsOf(other), project),
        )
        if (!by) return undefined
        covering.add(quote(by.name, 60))
      }
    }
  }
  return { path: [], message: `can never match, because of ${[...covering].join(' and ')} above: move it up, or remove it` }
}

/** An id and a name are never the same. */
function projectsOf({ projects }: PolicyRule): string[] | undefined {
  return projects && [...projects.ids, ...projects.names.map((name) => `name: ${name}`)]
}

/** An undefined item stands for every item; only a rule without a list covers that. */
function covers(listed: string[] | undefined, one: string | undefined): boolean {
  return listed === undefined || (one !== undefined && listed.includes(one))
}

/** Finds an entry whose alerts all have the labels of an entry above, which decides then. */
function neverReached({ match }: AlertRoute, above: AlertRoute[]): Problem | undefined {
  const by = above.find((other) => [...other.match].every(([label, text]) => match.get(label) === text))
  return by && { path: [], message: `can never match, because of ${quote(by.name, 60)} above: move it up, or remove it` }
}

function neverAllowed({ channelId }: AlertRoute, policy: Policy): Problem | undefined {
  const kinds = [...(policy.bundles?.keys() ?? [])]
  if (kinds.some((kind) => rulesOfKind(policy, { kind, channelId, hasProject: true }).some(({ alerts }) => alerts))) return undefined
  return { path: ['channel'], message: `must be one where a rule lets alerts request ${kinds.join(' or ')}: add alerts to its request` }
}

/** Otherwise one machine could pass for the other. The tokens themselves are compared, too. */
function tokenTaken({ token }: Machine, above: Machine[]): Problem | undefined {
  if (!above.some((other) => other.token === token)) return undefined
  return { path: ['token'], message: `must be another variable than ${token}, which a machine above has` }
}

function neverLet({ name, channelId }: Machine, { rules }: Policy): Problem | undefined {
  const requester = machineRequester(name)
  const isLet = ({ machines, channels }: PolicyRule) =>
    machines?.includes(requester) && (channels === undefined || channels.includes(channelId))
  return rules.some(isLet)
    ? undefined
    : { path: ['channel'], message: `must be one where a rule lets it request something: add ${requester} to its request` }
}

/** A rule for kinds without approval, and one for the others. Neither names a bundle: bundles need what their parts need. */
export function simplePolicy(v: Variables, { kinds, bundles }: Omit<PolicyOptions, 'expiresMs'>): Policy {
  const noApproval = v.NO_APPROVAL ?? []
  const needApproval = kinds.filter((kind) => !noApproval.includes(kind) && !bundles.has(kind))
  const shared = { ...forEverybody, channels: v.CHANNELS, request: v.OPERATORS, expiresMs: v.APPROVAL_TTL }
  const approve = { anyOf: v.APPROVERS ?? { users: [], userGroups: [] }, allOf: [], approvals: 1 }
  const rules = [
    { name: settingRules.noApproval, changes: noApproval, approve: undefined, ...shared },
    { name: settingRules.approvers, changes: needApproval, approve, ...shared },
  ]
  return { rules: rules.filter((rule) => rule.changes.length > 0), bundles, alerts: [] }
}
