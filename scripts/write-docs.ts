import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { policySchema } from '../src/config/policy-schema.ts'
import { secretVariables, variablesFor } from '../src/config/variables.ts'
import { errors, type Meaning, refusalCodes } from '../src/domain/codes.ts'
import { openStates, requestStates, stateMeanings } from '../src/domain/request.ts'
import { bundles, changeKinds, confirmations, neverExempt } from '../src/features/index.ts'
import { statuses } from '../src/features/machines/problems.ts'
import { logFields } from '../src/ops/fields.ts'
import { createMetricsPage } from '../src/ops/health.ts'
import { createMetrics } from '../src/ops/metrics.ts'
import { steps } from '../src/record/steps.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** What `z.toJSONSchema` gives of a member: its default, and what its declaration says about it. */
interface Member {
  description?: string
  default?: unknown
  example?: string
  /** When an optional variable is required. */
  needed?: string
  /** What counts without a key of the policy, if it has no default. */
  missing?: string
}

interface Members {
  properties: Record<string, Member>
  required?: string[]
}

const membersOf = (type: z.ZodType) => z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as unknown as Members
const kindsOfChange = { kinds: changeKinds, bundles, neverExempt, confirmations }
const variables = membersOf(variablesFor(kindsOfChange))

// --- Markdown ---

const code = (text: string) => `\`${text}\``

/** Without bars at the ends, which no renderer needs. */
function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')).join('\n')
}

const alerts = new Map(
  (parse(read('deploy/monitoring/lockkeeper.rules.yml')).groups as { rules: { alert?: string; annotations: Record<string, string> }[] }[])
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert, annotations }) => (alert === undefined ? [] : [[alert, annotations] as const])),
)

const copied = [
  ...['npm run [\\w:]+', 'openssl rand -hex 32', 'POST /[\\w/]+', '/(?:infra(?: [a-z]+)?|status|healthz|readyz|metrics|invite @\\w+)\\b'],
  ...[`\\b(?:${Object.keys(variables.properties).join('|')})\\b(?:=\\w+)?`, '\\b[A-Z]+_[A-Z_]+\\b', '\\b(?:lockkeeper|nodejs)_\\w+'],
  ...['rediss?(?:\\+\\w+)?://', 'CONFIG SET', 'maxmemory(?:-policy \\w+)?', 'appendonly yes', '\\b(?:ip|vm|key)\\.[a-z]+\\b'],
]
const named = [...Object.keys(errors).filter((name) => name.includes('-')), ...alerts.keys()]
const words = new RegExp(`(${copied.join('|')})|docs/([\\w-]+\\.md)|(?<![\\w-])(?:${named.join('|')})(?![\\w-])`, 'g')

/** Sets what is copied as code, and links pages, errors and alerts. Declarations are plain text, because the log and `.env.example` show them, too. */
function marked(text: string, own?: string): string {
  return text.replace(words, (word, chip?: string, page?: string) => {
    if (chip !== undefined) return code(word)
    if (page !== undefined) return `[${page.replace('.md', '')}](${page})`
    return word === own ? word : `[${word}](#${word.toLowerCase()})`
  })
}

const page = (title: string, source: string, ...parts: string[]) =>
  [`# ${title}`, `<!-- Written by "npm run docs" from ${source}. -->`, ...parts].join('\n\n').concat('\n')

// --- The configuration ---

/** The title of each section, by its first variable. */
const sections: Record<string, string> = {
  SLACK_BOT_TOKEN: 'Slack',
  INFRA_API_URL: 'The account',
  REDIS_URL: 'Redis',
  APPROVERS: 'Who may do what',
  MOVE_POLL_INTERVAL: 'Tracking moves',
  ROLE: 'Processes and ports',
  OPS_CHANNEL: 'Notices, messages and the log',
}

const isSecret = (name: string) => secretVariables.some((secret) => secret === name)

/** `required`, `required without POLICY_FILE`, or undefined. */
function requirementOf(name: string): string | undefined {
  const { needed } = variables.properties[name] ?? {}
  return variables.required?.includes(name) ? 'required' : needed && `required ${needed}`
}

function configurationPage(): string {
  const all = Object.entries(variables.properties)
  const starts = all.flatMap(([name], index) => (name in sections ? [index] : []))
  const tables = starts.map((from, index) => {
    const rows = all.slice(from, starts[index + 1]).map(([name, { description = '', ...member }]) => {
      const asFile = isSecret(name) ? `, ${code('…_FILE')}` : ''
      const usual =
        member.default === undefined
          ? [marked(requirementOf(name) ?? ''), member.example && code(member.example)].filter(Boolean).join(': ')
          : code(String(member.default))
      return [`${code(name)}${asFile}`, marked(description), usual]
    })
    return `## ${sections[all[from]?.[0] ?? '']}\n\n${table(['variable', 'meaning', 'default'], rows)}`
  })
  return page(
    'Configuration',
    'src/config/variables.ts',
    'Lockkeeper reads environment variables once, at the start. [`.env.example`](../.env.example) has them all: copy it with `install -m 600 .env.example .env`. An empty value counts as not set. Durations are written `500ms`, `5s`, `15m`, `4h`, up to `24d`. A wrong value stops the start with a line for each.',
    'Each secret marked `…_FILE` can come from a file: `INFRA_API_KEY_FILE` is the path of the file with `INFRA_API_KEY`. Files are safer, because other processes of the same user can read the environment. Set one of the two. White space around a secret is ignored. The token of a [machine](machines.md) is in the variable that the policy names, or in its file.',
    ...tables,
  )
}

/** Breaks a text into lines of comments. */
const commented = (text: string) => text.replace(/(.{1,137})(?: |$)/g, '# $1\n')

function exampleFile(): string {
  const entries = Object.entries(variables.properties).map(([name, { description = '', default: usual = '', example = '' }]) => {
    const required = requirementOf(name)
    const isWithout = required === undefined || required.startsWith('required with ')
    const value = required === 'required' && !isSecret(name) ? example : usual
    const head = name in sections ? `# --- ${sections[name]} ---\n\n` : ''
    const about = required === undefined ? description : `${required.replace('r', 'R')}. ${description}`
    const file = isSecret(name) ? `#${name}_FILE=\n` : ''
    return `${head}${commented(about)}${isWithout ? '#' : ''}${name}=${value}\n${file}`
  })
  return [
    commented(
      'Lockkeeper\'s configuration, written by "npm run docs" from src/config/variables.ts. "npm run setup" makes .env from it. By hand, copy it and fill it in: install -m 600 .env.example .env',
    ),
    commented(
      'A line #NAME=value, without a space, shows a variable that is not set, with its default: remove the # to set it. An empty value counts as not set. Durations are written 500ms, 5s, 15m, 4h. NAME_FILE is the path of a file that holds the secret NAME, which is safer.',
    ),
    ...entries,
    '# --- Docker Compose alone ---\n\n# Adds files of deploy/compose/ (docs/install.md).\n#COMPOSE_FILE=docker-compose.yml\n',
    '# With caddy.yml: your public name.\n#LOCKKEEPER_HOST=\n',
    '# With machines.yml: a second name, for machines and alerts.\n#LOCKKEEPER_MACHINES_HOST=\n',
  ].join('\n')
}

// --- Errors ---

/** A label or a value in a template is its name alone. */
const plain = (template: string) => template.replace(/ \(\{\{[^}]*\}\}\)/g, '').replace(/\{\{ \$(?:labels\.)?(\w+)[^}]*\}\}/g, '*$1*')

function errorsPage(): string {
  const ofAlert = [...alerts].map(([name, { summary = '', description = '' }]) => {
    return `### ${name}\n\n${marked(`${plain(summary)}. ${description}`, name)}`
  })
  const firstWith = new Map<string, string>()
  const ofError = Object.entries<Meaning>(errors).map(([name, { means, impact, do: next }]) => {
    const first = firstWith.get(next)
    firstWith.set(next, first ?? name)
    // A longer advice stands once.
    const advice = first === undefined || next.length < 50 ? next : `Do what ${first} says.`
    return `### ${name}\n\n${marked([means, impact, advice].filter(Boolean).join(' '), name)}`
  })
  return page(
    'Errors',
    'src/domain/codes.ts and deploy/monitoring/lockkeeper.rules.yml',
    'Search for the name of an alert, the `code` of a log line or the end of a notice. See also: [refusals](reference.md#refusals), [runbook](runbook.md).',
    '## Alerts',
    ...ofAlert,
    '## Codes',
    'An error that recurs has one line of the log a minute, with `repeats`.',
    ...ofError,
  )
}

// --- The reference ---

interface Instrument {
  name: string
  help: string
  type: string
  labelNames?: string[]
}

/** A table for each type. */
async function metricTables(): Promise<string[]> {
  const { registry } = createMetrics()
  createMetricsPage(registry, () => Promise.reject(new Error('not read')))
  const instruments = registry.getMetricsAsArray() as unknown as Instrument[]
  const own = instruments.filter(({ name }) => name.startsWith('lockkeeper_'))
  return Object.entries(Object.groupBy(own, ({ type }) => type)).map(([type, some = []]) => {
    const rows = some.map(({ name, help, labelNames = [] }) => {
      const labels = labelNames.length > 0 ? `{${labelNames.join(', ')}}` : ''
      return [code(`${name.replace('lockkeeper_', '')}${labels}`), help]
    })
    return table([type, 'meaning'], rows)
  })
}

/** By their meaning. What is an error, too, has a link to what operators do. */
function refusalRows(): string[][] {
  const linked = (name: string) => (name in errors ? `[${code(name)}](errors.md#${name})` : code(name))
  const byMeaning = Map.groupBy(Object.entries(refusalCodes), ([, why]) => why)
  return [...byMeaning].map(([why, same]) => [same.map(([name]) => linked(name)).join(', '), why])
}

const stateRows = () => requestStates.map((state) => [code(state), stateMeanings[state]])

function problemRows(): string[][] {
  const ofRefusals = { 'other refusals of rights': 403, 'all other refusals and checks': 422 }
  const all = [...Object.entries(statuses).map(([name, status]) => [code(name), status] as const), ...Object.entries(ofRefusals)]
  const byStatus = Object.entries(Object.groupBy(all, ([, status]) => status))
  return byStatus.map(([status, codes = []]) => [status, codes.map(([name]) => name).join(', ')])
}

async function referencePage(): Promise<string> {
  return page(
    'Reference',
    'the declarations in src',
    '## Metrics',
    'Names begin with `lockkeeper_`. Shared ones are the same in each process, and missing while Redis is away: use `max`.',
    ...(await metricTables()),
    '## Log fields',
    'One JSON object a line, on standard output, with `time`, `level` and `msg`. Lines of the [audit](audit.md) have `"stream":"audit"`. To follow a request, search all logs for its `requestId`. No level prints bodies, reasons, tokens or names of people.',
    table(
      ['field', 'meaning'],
      Object.entries(logFields).map(([name, meaning]) => [code(name), marked(meaning)]),
    ),
    '## States of a request',
    `The first ${openStates.length} are open, and lock their resource.`,
    table(['state', 'meaning'], stateRows()),
    `Steps: ${Object.keys(steps).map(code).join(', ')}.`,
    '## Refusals',
    'The `code` of a line `refused` of the log, the `causes` in the [audit](audit.md), and the `code` that machines get. A check of the change itself has its own codes, in `src/features/`.',
    table(['code', 'why it was refused'], refusalRows()),
    '## Problems of the API of machines',
    'The `code` of a problem, by HTTP status.',
    table(['status', 'codes'], problemRows()),
  )
}

// --- The policy ---

function keysTable({ properties, required = [] }: Members): string {
  const usual = ({ default: value, missing = '' }: Member) => missing || code(String(value))
  const rows = Object.entries(properties).map(([name, member]) => {
    return [code(name), member.description ?? '', required.includes(name) ? 'required' : usual(member)]
  })
  return table(['key', 'meaning', 'if it is missing'], rows)
}

/** The page, with new tables between its markers. */
function policyPage(): string {
  const { properties } = membersOf(policySchema({ ...kindsOfChange, expiresMs: 0 })) as unknown as {
    properties: Record<string, { items: Members }>
  }
  return read('docs/policy.md').replace(/(<!-- keys of (\w+)[^>]*-->\n\n)[\s\S]*?(\n\n<!-- end -->)/g, (_, head, section, end) => {
    const keys = properties[section]?.items
    if (keys === undefined) throw new Error(`The policy has no section ${section}.`)
    return `${head}${keysTable(keys)}${end}`
  })
}

/** The text of each generated file. */
export const generated: Record<string, () => string | Promise<string>> = {
  'docs/configuration.md': configurationPage,
  '.env.example': exampleFile,
  'docs/errors.md': errorsPage,
  'docs/reference.md': referencePage,
  'docs/policy.md': policyPage,
}

if (process.argv[1] === import.meta.filename)
  for (const [path, text] of Object.entries(generated)) writeFileSync(join(root, path), await text())
