import { z } from 'zod'
import { alertsRequester } from '../domain/approval.ts'
import {
  type AlertRoute,
  type ApproveTerms,
  type Bundles,
  type ChangeKind,
  type Group,
  type Policy,
  type PolicyRule,
  type Projects,
  toGroup,
} from '../domain/policy.ts'
import { nearestWord } from '../domain/text.ts'
import { durationWords, isChannelId, isPersonOrGroupId, quote, readDuration } from './notation.ts'

/** Parses a value with `read`, which returns undefined for a bad one, or reports what the value must be. */
function value<T>(read: (input: unknown) => T | undefined, expected: string, hint: (input: unknown) => string = () => '') {
  return z.unknown().transform((input, context) => {
    const parsed = read(input)
    if (parsed !== undefined) return parsed
    context.addIssue({ code: 'custom', message: mustBe(expected, input) + hint(input) })
    return z.NEVER
  })
}

function mustBe(expected: string, input: unknown): string {
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
function listOf<T>({ expected, read, labelOf, whenEmpty, hint = () => '' }: Items<T>) {
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
function list({ fits, ...items }: TextItems) {
  const read = (item: unknown) => (typeof item === 'string' && fits(item.trim()) ? item.trim() : undefined)
  return listOf({ ...items, read, labelOf: (text) => text })
}

/** Returns a hint for a number or a boolean where text is expected. YAML reads `2024` and `true` as such values. */
const quotesNeeded = (input: unknown) => (typeof input === 'number' || typeof input === 'boolean' ? ': put quotes around it' : '')

const isLine = (text: string, longest: number) => [...text].length <= longest && /^[^\p{Cc}\p{Zl}\p{Zp}\ufffd]+$/u.test(text)

/** Ids have no space in them, either. */
const isAscii = (text: string) => /^[!-~]+$/.test(text)

const line = (longest: number, expected: string) =>
  value(
    (input) => (typeof input === 'string' && isLine(input.trim(), longest) ? input.trim() : undefined),
    `${expected}, in one line of up to ${longest} characters`,
    quotesNeeded,
  )

const ids = (whenEmpty: string | undefined) =>
  list({ expected: 'user ids (U…, W…) and user group ids (S…)', fits: isPersonOrGroupId, whenEmpty })

/** Parses a value that may have several forms. Chooses the schema by the form, so that errors are about the form that was meant. */
function formOf<T>(choose: (input: unknown) => z.ZodType<T> | undefined, expected: string) {
  return z.unknown().transform((input, context): T => {
    const parsed = choose(input)?.safeParse(input)
    if (parsed?.success) return parsed.data
    if (!parsed) context.addIssue({ code: 'custom', message: mustBe(expected, input) })
    for (const issue of parsed?.error.issues ?? []) context.issues.push({ ...issue, input } as z.core.$ZodRawIssue)
    return z.NEVER
  })
}

const isMap = (input: unknown): input is object => typeof input === 'object' && input !== null && !Array.isArray(input)

/** Parses a map of texts. The texts and their names stay exactly as they are, because they are compared with labels. */
const textsByName = (expected: string, longest: number) =>
  z.unknown().transform((input, context): Map<string, string> => {
    const entries = isMap(input) ? Object.entries(input) : []
    if (entries.length === 0) {
      context.addIssue({ code: 'custom', message: isMap(input) ? `is empty: it must be ${expected}` : mustBe(expected, input) })
    }
    for (const [name, text] of entries) {
      if (isText(name, longest) && isText(text, longest)) continue
      const message = `must be ${expected}, each in one line of up to ${longest} characters. Check ${quote(name)}${quotesNeeded(text)}`
      context.addIssue({ code: 'custom', path: [name], message })
    }
    return new Map(entries)
  })

const isText = (text: unknown, longest: number) => typeof text === 'string' && isLine(text, longest)

const target = line(253, 'a hostname or id')

/** The sites keep the words of the file. Slugs are compared without regard to case. */
const targetsBySite = textsByName('a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}', 253).transform(
  (bySite, context) => {
    const read = new Map([...bySite].map(([slug, server]) => [slug.trim().toLowerCase(), String(server).trim()]))
    if (read.size < bySite.size) context.addIssue({ code: 'custom', message: 'has a site twice, which differs in case only: keep one' })
    return read
  },
)

/** An entry of `alerts` as written in the policy file. */
const routeSchema = z.strictObject(
  {
    name: line(60, 'a name that people will read'),
    match: textsByName('labels with their values, such as {alertname: NodeDown}', 1_000),
    server: line(200, 'the name of the label that names the server'),
    to: formOf<AlertRoute['to']>(
      (input) => (isMap(input) ? targetsBySite : typeof input === 'string' ? target : undefined),
      'a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}',
    ).refine((to) => (typeof to === 'string' ? [to] : [...to.values()]).every((server) => !server.startsWith('sv_') || isAscii(server)), {
      error: 'has an id with other characters than ASCII: copy the id of the server again',
    }),
    channel: value((input) => (typeof input === 'string' && isChannelId(input) ? input : undefined), 'a channel id (C…, G…)'),
  },
  {
    error: ({ code, input }) => (code === 'invalid_type' ? mustBe('keys with values (name, match and so on)', input) : undefined),
  },
)

function toRoute({ name, match, server, to, channel }: z.infer<typeof routeSchema>): AlertRoute {
  return { name, match, server, to, channelId: channel }
}

/** A project in a rule. `bare` is a name that was written like an id, without `{name: …}`. */
export type ProjectEntry = { id: string } | { name: string; bare: boolean }

/** The account API's ids of projects. A word of this form never counts as a name. */
const isProjectId = (text: string) => text.startsWith('proj_')

const projectList = listOf<ProjectEntry>({
  expected: 'project ids (proj_…) and names such as {name: Storefront}, each in one line of up to 100 characters',
  read: readEntry,
  labelOf: projectKey,
  whenEmpty: 'name a project, or remove it for every project',
  hint: (item) =>
    typeof item === 'string' && isProjectId(item.trim()) ? ': an id has only ASCII characters. Copy it again' : quotesNeeded(item),
})

function readEntry(item: unknown): ProjectEntry | undefined {
  const word = readWord(item)
  if (word !== undefined && isProjectId(word)) return isAscii(word) ? { id: word } : undefined
  if (word !== undefined) return { name: word, bare: true }
  if (typeof item !== 'object' || item === null || Object.keys(item).join() !== 'name') return undefined
  const name = readWord((item as { name: unknown }).name)
  return name === undefined ? undefined : { name, bare: false }
}

function readWord(item: unknown): string | undefined {
  return typeof item === 'string' && isLine(item.trim(), 100) ? item.trim() : undefined
}

/** Returns the entry as it is best written. An id and a name never have the same key. */
export function projectKey(entry: ProjectEntry): string {
  return 'id' in entry ? entry.id : `{name: ${entry.name}}`
}

function toProjects(entries: ProjectEntry[]): Projects {
  return {
    ids: entries.flatMap((entry) => ('id' in entry ? [entry.id] : [])),
    names: entries.flatMap((entry) => ('name' in entry ? [entry.name] : [])),
  }
}

/** Returns a sentence for an entry that is a name but may have been meant as an id. */
export function bareNameWarning(entry: ProjectEntry): string | undefined {
  if (!('bare' in entry) || !entry.bare) return undefined
  const name = quote(entry.name, 100)
  return `${name} in projects is read as a name. Write a name as {name: ${name}}, or use the id (proj_…), which nobody can change`
}

/** Who may request under a rule. */
interface Requesters {
  /** Undefined: every full member. */
  people: Group | undefined
  alerts: boolean
}

const everyone = 'everyone'
const words = [alertsRequester, everyone]

const Everyone = z.literal(everyone).transform((): Requesters => ({ people: undefined, alerts: false }))

const These = list({
  expected: 'user ids (U…, W…), user group ids (S…) and alerts',
  fits: (text) => isPersonOrGroupId(text) || words.includes(text),
  whenEmpty: 'name who may request, or write everyone',
}).transform((items, context): Requesters => {
  const ids = items.filter((item) => !words.includes(item))
  const alerts = items.includes(alertsRequester)
  if (!items.includes(everyone)) return { people: toGroup(ids), alerts }
  if (ids.length > 0) context.addIssue({ code: 'custom', message: `has everyone, so ${ids.join(', ')} may request anyway: remove these` })
  return { people: undefined, alerts }
})

/** Parses `everyone`, or a list. In a list, `everyone` stands beside `alerts`, which are no people. */
const RequestersOfRule = formOf<Requesters>(
  (input) => (Array.isArray(input) ? These : input === everyone ? Everyone : undefined),
  'everyone, or a list of user ids (U…, W…), user group ids (S…) and alerts',
)

const termFields = {
  any_of: ids('name someone, or remove any_of').optional(),
  all_of: ids('name someone, or remove all_of').optional(),
  approvals: value(
    (input) => (Number.isInteger(input) && Number(input) >= 1 && Number(input) <= 10 ? Number(input) : undefined),
    'a whole number from 1 to 10',
  ).prefault(1),
}

const Terms = z.strictObject(termFields).transform(({ any_of, all_of, approvals }): ApproveTerms | undefined => ({
  anyOf: toGroup(any_of ?? []),
  allOf: all_of ?? [],
  approvals,
}))

/** Reports terms that name no approver, along with their other errors. */
const TermsWithoutApprovers = z
  .strictObject({
    ...termFields,
    any_of: z.unknown().refine(() => false, 'is missing: name who may approve, here or in all_of or in both'),
  })
  .transform(() => undefined)

const AnyOfThese = ids('name who may approve, or write none').transform((named): ApproveTerms | undefined => ({
  anyOf: toGroup(named),
  allOf: [],
  approvals: 1,
}))

const Nobody = z.literal('none').transform((): ApproveTerms | undefined => undefined)

/** The kinds of change that rules can be for. */
export interface RuleKinds {
  kinds: ChangeKind[]
  bundles: Bundles
}

/** Parses a list of kinds; without one it is every kind that is no bundle of others. Accepts a single kind without brackets. */
function kindsAmong({ kinds, bundles }: RuleKinds) {
  const items = list({
    expected: `of ${kinds.join(', ')}`,
    fits: (text) => kinds.includes(text),
    whenEmpty: 'name a kind of change, or remove it for every kind',
    hint: (item) => {
      const meant = typeof item === 'string' ? nearestWord(kinds, item) : undefined
      return meant ? `: did you mean ${meant}?` : ''
    },
  })
  return z.preprocess((input) => (typeof input === 'string' ? [input] : input), items).prefault(kinds.filter((kind) => !bundles.has(kind)))
}

const termsFor = (input: object) => ('any_of' in input || 'all_of' in input ? Terms : TermsWithoutApprovers)

/** A rule as written in the policy file. The path of each issue leads to its line in the file. */
function ruleSchema(kinds: RuleKinds) {
  return z.strictObject(
    {
      name: line(60, 'a name that people will read'),
      changes: kindsAmong(kinds),
      projects: projectList.optional(),
      channels: list({
        expected: 'channel ids (C…, G…)',
        fits: isChannelId,
        whenEmpty: 'name a channel, or remove it for every channel',
      }).optional(),
      request: RequestersOfRule.optional(),
      approve: formOf<ApproveTerms | undefined>(
        (input) => (Array.isArray(input) ? AnyOfThese : isMap(input) ? termsFor(input) : input === 'none' ? Nobody : undefined),
        'none, a list such as [U0BEN00001, S0ONCALL01], or any_of and all_of with such lists',
      ),
      self_approval: value((input) => (input === 'never' || input === 'break-glass' ? input : undefined), 'never or break-glass').prefault(
        'never',
      ),
      reason: value((input) => (input === 'required' || input === 'optional' ? input : undefined), 'required or optional').prefault(
        'optional',
      ),
      confirm: value((input) => (typeof input === 'boolean' ? input : undefined), 'true or false').prefault(false),
      expires: value((input) => (typeof input === 'string' ? readDuration(input) : undefined), durationWords).optional(),
      mention: ids(undefined).transform(toGroup).optional(),
    },
    {
      error: ({ code, input }) => (code === 'invalid_type' ? mustBe('keys with values (name, approve and so on)', input) : undefined),
    },
  )
}
export type RuleSchema = ReturnType<typeof ruleSchema>
export type FileRule = z.infer<RuleSchema>

/** Creates the schemas of the whole file and of one rule for these kinds of change. */
export function policySchema(kinds: RuleKinds) {
  const rule = ruleSchema(kinds)
  const file = z.strictObject(
    {
      rules: z
        .array(rule, { error: ({ input }) => mustBe('a list of rules, each beginning with "- name:"', input) })
        .min(1, { error: 'must have at least one rule: without one, nothing can be requested' }),
      alerts: z
        .array(routeSchema, { error: ({ input }) => mustBe('a list of entries, each beginning with "- name:"', input) })
        .min(1, { error: 'must have at least one entry: add one, or remove it' })
        .optional(),
    },
    { error: ({ code, input }) => (code === 'invalid_type' ? mustBe('"rules:" with a list of rules below it', input) : undefined) },
  )

  /** Returns the known keys at a path of the file. */
  function keysAt(path: readonly PropertyKey[]): string[] {
    if (path.length === 0) return Object.keys(file.shape)
    if (path[0] === 'alerts') return Object.keys(routeSchema.shape)
    return Object.keys(path.length === 2 ? rule.shape : termFields)
  }

  return { file, rule, keysAt }
}
export type PolicySchema = ReturnType<typeof policySchema>

type PolicyFile = z.infer<PolicySchema['file']>

interface Surroundings {
  bundles: Bundles
  /** What a rule without `expires` gets, in milliseconds. */
  expiresMs: number
}

export function toPolicy({ rules, alerts = [] }: PolicyFile, { bundles, expiresMs }: Surroundings): Policy {
  return { rules: rules.map((rule) => toRule(rule, { expiresMs })), bundles, alerts: alerts.map(toRoute) }
}

function toRule(rule: FileRule, { expiresMs }: { expiresMs: number }): PolicyRule {
  return {
    name: rule.name,
    changes: rule.changes,
    projects: rule.projects && toProjects(rule.projects),
    channels: rule.channels,
    request: rule.request?.people,
    alerts: rule.request?.alerts ?? false,
    approve: rule.approve,
    breakGlass: rule.self_approval === 'break-glass',
    needsReason: rule.reason === 'required',
    confirm: rule.confirm,
    expiresMs: rule.expires ?? expiresMs,
    mention: rule.mention,
  }
}
