import { z } from 'zod'
import { alertsRequester, isMachine, machineNameOf, machineRequester } from '../domain/approval.ts'
import { longestEndMs, shortestEndMs } from '../domain/key-ends.ts'
import {
  type AlertRoute,
  type ApproveTerms,
  type Bundles,
  type ChangeKind,
  type Confirmations,
  type EndsTerms,
  type Freeze,
  freezing,
  type Group,
  type Machine,
  type PolicyRule,
  type Projects,
  type ReasonTerms,
  toGroup,
  type Window,
} from '../domain/policy.ts'
import { isLinkTemplate, patternProblem } from '../domain/reason.ts'
import { parseDuration } from '../domain/text.ts'
import { dayNames, isZone, readLocalTime } from '../domain/times.ts'
import { durationWords, isChannelId, isPersonOrGroupId, quote, readDuration } from './notation.ts'

const line = (longest: number) =>
  z
    .string()
    .trim()
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}\ufffd]+$/u, { error: 'must be a text in one line' })
    .refine((text) => [...text].length <= longest, { error: `must have at most ${longest} characters` })

/** Ids have only ASCII characters. Others look alike. */
const isAscii = (text: string) => /^[!-~]+$/.test(text)

const channel = z.string().trim().refine(isChannelId, { error: 'must be a channel id (C…, G…)' })
const personOrGroup = z
  .string()
  .trim()
  .refine(isPersonOrGroupId, {
    error: ({ input }) =>
      isMachine({ userId: String(input) })
        ? 'must be people or user groups: a machine only requests, and never approves'
        : 'must be a user id (U…, W…) or a user group id (S…)',
  })

/** Parses a list in which nothing stands twice: two approvals of one person would be needed. */
function listOf<Item extends z.ZodType>(item: Item, textOf: (item: z.output<Item>) => string = String) {
  return z
    .array(item)
    .min(1, { error: 'must have at least one item' })
    .superRefine((items, context) => {
      const texts = items.map(textOf)
      const twice = texts.findIndex((text, index) => texts.indexOf(text) < index)
      if (twice >= 0) context.addIssue({ code: 'custom', message: `has ${quote(texts[twice] ?? '')} twice`, path: [twice] })
    })
}

export function absentWords({ input }: { input: unknown }): string | undefined {
  if (input === undefined) return 'is missing'
  return input === null ? 'is empty' : undefined
}

/** Parses a value that may have several forms. Chooses the schema by the form, so that errors are about the form that was meant. */
function formOf<T>(choose: (input: unknown) => z.ZodType<T> | undefined, expected: string) {
  return z.unknown().transform((input, context): T => {
    const parsed = choose(input)?.safeParse(input, { error: absentWords })
    if (parsed?.success) return parsed.data
    if (!parsed) context.addIssue({ code: 'custom', message: `must be ${expected}` })
    for (const issue of parsed?.error.issues ?? []) context.issues.push({ ...issue, input } as z.core.$ZodRawIssue)
    return z.NEVER
  })
}

/** A single item needs no list. */
function singleOrList<List extends z.ZodType>(list: List) {
  return z.preprocess((input) => (typeof input === 'string' || isMap(input) ? [input] : input), list)
}

const isMap = (input: unknown): input is object => typeof input === 'object' && input !== null && !Array.isArray(input)

const textsByName = (text: z.ZodString | ReturnType<typeof line>) =>
  z.record(z.string(), text).refine((texts) => Object.keys(texts).length > 0, { error: 'must have at least one entry' })

/** Slugs of sites are compared without regard to case. */
const targetsBySite = textsByName(line(253)).transform(
  (bySite) => new Map(Object.entries(bySite).map(([slug, server]) => [slug.trim().toLowerCase(), server])),
)

const Route = z
  .strictObject({
    name: line(60).describe('Shown with the request.'),
    /** Stays exactly as it is, because it is compared with labels. */
    match: textsByName(z.string().min(1).max(1_000)).describe('Labels that an alert must have, with exactly these values.'),
    server: line(200).describe('The label that names the server to evacuate.'),
    to: formOf<AlertRoute['to']>(
      (input) => (isMap(input) ? targetsBySite : typeof input === 'string' ? line(253) : undefined),
      'a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}',
    )
      .refine((to) => (typeof to === 'string' ? [to] : [...to.values()]).every((server) => !server.startsWith('sv_') || isAscii(server)), {
        error: 'has an id with other characters than ASCII: copy the id of the server again',
      })
      .describe('The hostname or id of the target, or one for each site by its slug.'),
    channel: channel.describe('The channel for the request. A rule must let alerts request `ip.evacuate` there.'),
  })
  .transform(({ match, channel, ...route }): AlertRoute => ({ ...route, match: new Map(Object.entries(match)), channelId: channel }))

const MachineEntry = z
  .strictObject({
    /** Stands in Redis keys, messages and the audit. */
    name: z
      .string()
      .regex(/^[a-z\d][a-z\d_-]{0,29}$/, { error: 'must be a short name such as ci: small letters, digits, dashes and underscores' }),
    token: z.string().regex(/^[A-Z][A-Z\d_]{0,99}$/, { error: 'must be the name of the variable with the token, such as CI_TOKEN' }),
    channel,
  })
  .transform(({ channel, ...machine }): Machine => ({ ...machine, channelId: channel }))

const projectWords = 'must be a project id (proj_…), which has only ASCII characters, or a name such as {name: Storefront}'
const ProjectId = z
  .string()
  .trim()
  .regex(/^proj_[!-~]{1,95}$/, { error: projectWords })
const Project = z.union([ProjectId, z.strictObject({ name: line(100) })], { error: projectWords })

/** An id and a name never have the same text. */
function textOfProject(entry: z.infer<typeof Project>): string {
  return typeof entry === 'string' ? entry : `{name: ${entry.name}}`
}

const ListOfProjects = listOf(Project, textOfProject).transform(
  (entries): Projects => ({
    ids: entries.filter((entry) => typeof entry === 'string'),
    names: entries.flatMap((entry) => (typeof entry === 'string' ? [] : [entry.name])),
  }),
)

const Zone = z.string().refine(isZone, { error: 'must be a time zone such as Europe/Lisbon' })
const timeOfDayWords = 'must be a time such as 09:00, at most 23:59'
const TimeOfDay = z.string({ error: timeOfDayWords }).regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: timeOfDayWords })
const days = dayNames.map((name) => name.toLowerCase())

const WindowEntry = z
  .strictObject({ days: listOf(z.enum(days)), from: TimeOfDay, to: TimeOfDay, zone: Zone })
  .transform((window) => ({ ...window, days: window.days.map((day) => days.indexOf(day) + 1) }))

const Windows = z
  .record(line(60), WindowEntry, {
    error: ({ code }) => (code === 'invalid_key' ? 'must have a name in one line, of at most 60 characters' : undefined),
  })
  .refine((windows) => Object.keys(windows).length > 0, { error: 'must have at least one entry' })
  .transform((windows) => new Map(Object.entries(windows).map(([name, window]): [string, Window] => [name, { name, ...window }])))

interface Requesters {
  /** Undefined: every full member. */
  people: Group | undefined
  alerts: boolean
  machines: string[]
}

const everyone = 'everyone'

const Requester = z.union([personOrGroup, z.enum([alertsRequester, everyone]), z.string().startsWith(machineRequester(''))], {
  error: 'must be a user id (U…, W…), a user group id (S…), alerts, machine:<name> or everyone',
})

/** `everyone` may stand beside `alerts` and machines, which are no people. */
const Request = singleOrList(listOf(Requester)).transform((items, context): Requesters => {
  const ids = items.filter((item) => item !== everyone && !isMachine({ userId: item }))
  const alerts = items.includes(alertsRequester)
  const machines = items.filter((item) => machineNameOf({ userId: item }) !== undefined)
  if (!items.includes(everyone)) return { people: toGroup(ids), alerts, machines }
  if (ids.length > 0) context.addIssue({ code: 'custom', message: `has everyone, so ${ids.join(', ')} may request anyway: remove these` })
  return { people: undefined, alerts, machines }
})

const Terms = z
  .strictObject({
    any_of: listOf(personOrGroup).optional(),
    all_of: listOf(personOrGroup).optional(),
    approvals: z.int().min(1).max(10).prefault(1),
  })
  .refine(({ any_of, all_of }) => any_of || all_of, { error: 'must name who may approve, in any_of or all_of or both' })
  .transform(({ any_of = [], all_of = [], approvals }): ApproveTerms | undefined => ({ anyOf: toGroup(any_of), allOf: all_of, approvals }))

const Approvers = listOf(personOrGroup).transform((ids): ApproveTerms | undefined => ({ anyOf: toGroup(ids), allOf: [], approvals: 1 }))

const Nobody = z.literal('none').transform((): ApproveTerms | undefined => undefined)

const Duration = z
  .string()
  .transform((text) => readDuration(text) ?? Number.NaN)
  .refine((ms) => !Number.isNaN(ms), { error: `must be ${durationWords}` })

const Escalate = z.strictObject(
  { after: Duration, to: listOf(personOrGroup) },
  { error: 'must have a time and people, such as {after: 30m, to: [S0LEADS00]}' },
)

const ReasonPattern = z.strictObject({
  pattern: line(200).pipe(
    z.string().superRefine((pattern, context) => {
      const problem = patternProblem(pattern)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    }),
  ),
  link: line(200)
    .refine(isLinkTemplate, {
      error: 'must be an https address such as https://tickets.example.com/browse/$0: with $0 after the host, no other $, and no user name',
    })
    .optional(),
})

/** Undefined: it is optional. */
const Reason = formOf<Omit<ReasonTerms, 'rule'> | undefined>((input) => {
  if (isMap(input)) return ReasonPattern
  return input === 'required' || input === 'optional' ? z.unknown().transform(() => (input === 'required' ? {} : undefined)) : undefined
}, "required, optional, or a pattern such as {pattern: 'OPS-\\d+'}")

/** Longer than the durations of timers may be. */
const EndDuration = z
  .string()
  .transform((text) => parseDuration(text) ?? Number.NaN)
  .refine((ms) => ms >= shortestEndMs && ms <= longestEndMs, { error: 'must be a time such as 90d, from 1m to 3650d' })

const EndTimes = z
  .strictObject({ longest: EndDuration.optional(), default: EndDuration.optional() })
  .refine(({ longest, default: usual }) => longest !== undefined || usual !== undefined, { error: 'must have longest or default' })
  .refine(({ longest = longestEndMs, default: usual }) => usual === undefined || usual <= longest, {
    error: 'must be at most longest',
    path: ['default'],
  })
  .transform(({ longest, default: usual }): EndsTerms => ({ required: longest !== undefined, longestMs: longest, defaultMs: usual }))

const Ends = formOf<EndsTerms>(
  (input) => (isMap(input) ? EndTimes : input === 'required' ? z.unknown().transform(() => ({ required: true })) : undefined),
  'required, or times such as {longest: 90d, default: 30d}',
)

/** For docs/policy.md. `missing`: what counts without the key, where that is no default. */
const says = (description: string, missing?: string) => ({ description, missing })

export interface PolicyOptions {
  kinds: ChangeKind[]
  bundles: Bundles
  confirmations?: Confirmations | undefined
  /** What a rule without `expires` gets, in milliseconds. */
  expiresMs: number
}

const listOfKinds = (kinds: string[]) => singleOrList(listOf(z.enum(kinds)))

/** If the clock changes at its begin or end, a freeze is the longer. What freezes the parts of a bundle freezes the bundle. */
function freezeSchema({ kinds, bundles }: PolicyOptions) {
  const whole = (changes: ChangeKind[]) => kinds.filter((kind) => changes.includes(kind) || changes.includes(bundles.get(kind) ?? ''))
  return z
    .strictObject({
      name: line(60),
      from: z.string(),
      to: z.string(),
      zone: Zone,
      changes: listOfKinds(kinds).transform(whole).optional(),
      projects: ListOfProjects.optional(),
    })
    .transform(({ zone, from, to, ...freeze }, context): Freeze => {
      const [begin, end] = [readLocalTime(from, zone, 'earlier'), readLocalTime(to, zone, 'later')]
      const wrong = (key: string, message = 'must be a date and a time such as 2026-11-27T00:00') =>
        context.addIssue({ code: 'custom', path: [key], message })
      if (begin === undefined) wrong('from')
      if (end === undefined) wrong('to')
      else if (begin !== undefined && end <= begin) wrong('to', 'must be after from')
      return { ...freeze, from: begin ?? 0, to: end ?? 0 }
    })
}

/** The windows of the file are known only when all of it is read. */
type ReadRule = Omit<PolicyRule, 'windows'> & { window: string | undefined }

/** Parses the whole file. The path of each issue leads to its line. */
export function policySchema(options: PolicyOptions) {
  const { kinds, bundles, expiresMs, confirmations = new Map() } = options
  const everyKind = ['every kind', ...[...bundles.keys()].map((kind) => `\`${kind}\``)].join(' but ')
  const Rule = z
    .strictObject({
      name: line(60).describe('Shown to people, and written to the audit.'),
      /** Without a list it is every kind that is no bundle of others. */
      changes: listOfKinds([...kinds, freezing])
        .prefault(kinds.filter((kind) => !bundles.has(kind)))
        .meta(
          says(`${kinds.map((kind) => `\`${kind}\``).join(', ')}. \`freeze\` alone: [who may freeze](#windows-and-freezes).`, everyKind),
        ),
      projects: ListOfProjects.optional().meta(
        says('Project ids (`proj_…`), or names, `{name: Storefront}`.', 'every project, and changes that belong to none'),
      ),
      channels: listOf(channel).optional().meta(says('Channel ids.', 'every channel')),
      request: Request.optional().meta(
        says(
          '`everyone` (every full member), or ids of people and user groups. In a list also `alerts` and `machine:<name>`.',
          '`everyone`',
        ),
      ),
      approve: formOf<ApproveTerms | undefined>(
        (input) => (Array.isArray(input) ? Approvers : isMap(input) ? Terms : input === 'none' ? Nobody : undefined),
        'none, a list such as [U0BEN00001, S0ONCALL01], or any_of and all_of with such lists',
      ).describe(
        'Ids of people and user groups, one of whom approves; `none`; or such as `{any_of: [S0ONCALL01], approvals: 2}`, with `any_of`, `all_of` or both, and 1 to 10 approvals.',
      ),
      self_approval: z
        .enum(['never', 'break-glass'])
        .prefault('never')
        .describe('`break-glass`: an approver may approve their own request in an emergency, with a reason.'),
      emergency: z
        .enum(['never', 'approvers'])
        .optional()
        .meta(
          says('`approvers`: they may pass windows and freezes, with a reason ([emergency approvals](#windows-and-freezes)).', '`never`'),
        ),
      reason: Reason.prefault('optional').describe('`required`, `optional`, or [a pattern](#a-ticket-in-the-reason).'),
      confirm: formOf<boolean | string>(
        (input) =>
          typeof input !== 'string' || confirmations.size === 0 ? z.boolean() : confirmations.has(input) ? z.string() : undefined,
        ['true, false', ...confirmations.keys()].join(' or '),
      )
        .prefault(false)
        .describe(
          '`true`: *Approve* always asks for a confirmation, not only if there is something to check. `passkey`: [an approval needs a passkey](passkeys.md).',
        ),
      expires: Duration.optional().meta(says('How long it can be approved, such as `30m`, at most 24d.', '`APPROVAL_TTL`')),
      escalate: Escalate.optional().meta(says('Who is also mentioned while it waits: `{after: 30m, to: [S0LEADS00]}`.', 'nobody')),
      window: z.string().optional().meta(says('The [window](#windows-and-freezes) outside of which nothing starts.', 'none')),
      ends: Ends.optional().meta(
        says(
          '`required`, or `{longest: 90d, default: 30d}`: [keys that end](#keys). With `longest`, every key needs an end.',
          'a key may end',
        ),
      ),
      mention: z
        .array(personOrGroup)
        .transform(toGroup)
        .optional()
        .meta(says('People and user groups whom the request message mentions.', 'the approvers')),
    })
    .superRefine((rule, context) => {
      if (!rule.changes.includes(freezing)) return
      const wrong = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message })
      if (rule.changes.length > 1) wrong('changes', `must have ${freezing} alone: write a rule of its own for it`)
      if (rule.approve) wrong('approve', `must be none where changes is ${freezing}: nobody approves a freeze`)
      if (rule.request?.machines.length) wrong('request', `must name people where changes is ${freezing}: a machine can't freeze`)
      for (const key of ['projects', 'channels', 'expires', 'window', 'ends', 'mention', 'reason'] as const)
        if (rule[key] !== undefined) wrong(key, `must be left out where changes is ${freezing}: request alone says who may freeze`)
    })
    .superRefine((rule, context) => {
      if (rule.ends && !rule.changes.includes(freezing) && !rule.changes.some((kind) => kind.startsWith('key.')))
        context.addIssue({ code: 'custom', path: ['ends'], message: 'must be left out where changes has nothing about keys' })
    })
    .superRefine(({ approve, escalate, expires = expiresMs }, context) => {
      const wrong = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path: ['escalate', ...path], message })
      if (!escalate) return
      if (!approve) wrong([], 'must not stand where approve is none: nobody approves')
      if (escalate.after >= expires) wrong(['after'], 'must be shorter than expires, or than APPROVAL_TTL if the rule has no expires')
    })
    .transform(
      (rule): ReadRule => ({
        name: rule.name,
        changes: rule.changes,
        projects: rule.projects,
        channels: rule.channels,
        request: rule.request?.people,
        alerts: rule.request?.alerts ?? false,
        machines: rule.request?.machines.length ? rule.request.machines : undefined,
        approve: rule.approve && {
          ...rule.approve,
          escalate: rule.escalate && { afterMs: rule.escalate.after, to: toGroup(rule.escalate.to) },
        },
        breakGlass: rule.self_approval === 'break-glass',
        emergency: rule.emergency === 'approvers' || undefined,
        reason: rule.reason ? [{ rule: rule.name, ...rule.reason }] : [],
        confirm: rule.confirm === true,
        confirmBy: typeof rule.confirm === 'string' ? rule.confirm : undefined,
        expiresMs: rule.expires ?? expiresMs,
        window: rule.window,
        ends: rule.ends,
        mention: rule.mention,
      }),
    )
  return z
    .strictObject({
      windows: Windows.optional(),
      freezes: z.array(freezeSchema(options)).min(1, { error: 'must have at least one entry' }).optional(),
      rules: z.array(Rule).min(1, { error: 'must have at least one rule: without one, nothing can be requested' }),
      alerts: z.array(Route).min(1, { error: 'must have at least one entry' }).optional(),
      machines: z.array(MachineEntry).min(1, { error: 'must have at least one entry' }).optional(),
    })
    .transform(({ windows = new Map<string, Window>(), rules, ...file }, context) => {
      const windowsOf = (name: string | undefined, index: number) => {
        const window = windows.get(name ?? '')
        if (name !== undefined && !window)
          context.addIssue({ code: 'custom', path: ['rules', index, 'window'], message: 'must be a name under windows' })
        return window ? [window] : []
      }
      return { ...file, rules: rules.map(({ window, ...rule }, index): PolicyRule => ({ ...rule, windows: windowsOf(window, index) })) }
    })
}
