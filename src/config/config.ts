import { readFileSync, statSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { z } from 'zod'
import { machineRequester } from '../domain/approval.ts'
import type { Bundles, ChangeKind, Confirmations, Machine, Policy } from '../domain/policy.ts'
import type { Secret } from '../domain/signing.ts'
import { type ReadFile, readFromDisk, readText } from './notation.ts'
import { readPolicyFile, simplePolicy } from './policy-file.ts'
import { longSecrets, secretVariables, Variables, variablesFor } from './variables.ts'

export type Environment = Record<string, string | undefined>

/** The names of all variables, in the order of the documentation, then those that name the file of a secret. */
export const variableNames = [...Object.keys(Variables.shape), ...secretVariables.map((name) => `${name}_FILE`)]

interface Given {
  /** The variables without those that are empty, and with the secrets that came from files. */
  values: Environment
  /** The secrets that their files did not give, each with the line that says why. */
  problems: Map<string, string>
}

function givenVariables(env: Environment, secrets: readonly string[], readFile: ReadFile): Given {
  const values: Environment = Object.fromEntries(variableNames.map((name) => [name, env[name]?.trim() || undefined]))
  const problems = new Map<string, string>()
  for (const name of secrets) {
    const { secret, line } = readSecret(env, name, readFile)
    values[name] = secret
    if (line !== undefined) problems.set(name, line)
  }
  return { values, problems }
}

/** From the variable or its file. The line never contains the path, because a secret may have been entered in its place. */
function readSecret(env: Environment, name: string, readFile: ReadFile): { secret?: string; line?: string } {
  const [secret, path] = [name, `${name}_FILE`].map((variable) => env[variable]?.trim() || undefined)
  if (path === undefined) return { secret }
  if (secret !== undefined) return { secret, line: `${name} and ${name}_FILE are both set: keep one` }
  const read = readText(path, readFile)
  if ('why' in read) return { line: `${name}_FILE must be a path: the file ${read.why}` }
  const text = read.text.trim()
  return text === '' ? { line: `${name}_FILE names an empty file: write the secret into it` } : { secret: text }
}

function linesAcross({ values, problems }: Given): string[] {
  const lines: string[] = []
  const has = (name: string) => values[name] !== undefined || problems.has(name)
  if (!has('APPROVERS') && !has('POLICY_FILE')) {
    lines.push(
      'APPROVERS is missing: it must be the people who may approve, as user ids (U…, W…) and user group ids (S…), separated by commas (or set POLICY_FILE)',
    )
  }
  if (!has('SLACK_SIGNING_SECRET') && !has('SLACK_APP_TOKEN')) {
    lines.push('SLACK_SIGNING_SECRET is missing: it verifies requests from Slack (or set SLACK_APP_TOKEN to use Socket Mode)')
  }
  if (has('ALERTS_PORT') && !has('ALERTS_TOKEN')) {
    lines.push('ALERTS_TOKEN is missing: with ALERTS_PORT it must be a token of at least 32 characters, which the sender of alerts sends')
  }
  const told = (['WATCH_CHANGES', 'KEY_REVIEW'] as const).filter((name) => values[name] === 'true')
  if (told.length > 0 && !has('OPS_CHANNEL'))
    lines.push(`OPS_CHANNEL is missing: with ${told.join(' and ')} it must be a channel, as its id (C…, G…)`)
  // Some systems open both of two ports with one number, and a proxy would publish the wrong one. 0 selects any free port.
  const ports = (['PORT', 'OPS_PORT', 'ALERTS_PORT', 'MACHINES_PORT'] as const).filter(
    (name) => name !== 'PORT' || !has('SLACK_APP_TOKEN') || has('PUBLIC_URL'),
  )
  const numbers = ports.map((name) => Variables.shape[name].safeParse(values[name]).data).filter((port) => port)
  if (new Set(numbers).size < numbers.length) lines.push('PORT, OPS_PORT, ALERTS_PORT and MACHINES_PORT must differ')
  return lines
}

/** What a browser confirms needs its address, and what is kept of it outlasts the key of the account. */
function linesForConfirmations({ rules }: Policy, { values, problems }: Given): string[] {
  const rule = rules.find(({ confirmBy }) => confirmBy !== undefined)
  if (!rule) return []
  const why = `the rule ${JSON.stringify(rule.name)} has confirm: ${rule.confirmBy}`
  const needed = { PUBLIC_URL: "the address where people's browsers reach Lockkeeper", STATE_KEY: 'a key of at least 32 characters' }
  return Object.entries(needed).flatMap(([name, what]) =>
    values[name] === undefined && !problems.has(name) ? [`${name} is missing: ${why}, so it must be ${what}`] : [],
  )
}

const policyVariables = ['APPROVERS', 'OPERATORS', 'CHANNELS', 'NO_APPROVAL'] as const

function warningsOf(v: Variables, { alerts = [], machines = [] }: Policy): string[] {
  const unused = policyVariables.filter((name) => v.POLICY_FILE && v[name])
  const warnings = unused.map((name) => `${name} has no effect: POLICY_FILE is the whole policy`)
  if (v.ALERTS_PORT !== undefined && alerts.length === 0)
    warnings.push('ALERTS_PORT is set, and POLICY_FILE has no alerts, so no alert leads to a request')
  if (v.MACHINES_PORT !== undefined && machines.length === 0)
    warnings.push('MACHINES_PORT is set, and POLICY_FILE has no machines, so nobody can use it')
  if (v.ROLE === 'worker') return warnings
  if (v.ALERTS_PORT === undefined && alerts.length > 0)
    warnings.push('POLICY_FILE has alerts, and ALERTS_PORT is not set, so none are received')
  if (v.MACHINES_PORT === undefined && machines.length > 0)
    warnings.push('POLICY_FILE has machines, and MACHINES_PORT is not set, so they can request nothing')
  return warnings
}

/** By the machine, as rules name it. All of one machine are valid. */
type MachineTokens = Map<string, readonly Secret[]>

const tokensIn = (text = '') => text.split(',').map((token) => token.trim())

/** Reads the tokens of the machines from the variables that the policy names, or from their files. No line contains a token. */
function tokensOf(env: Environment, values: Environment, machines: Machine[], readFile: ReadFile) {
  const tokens: MachineTokens = new Map()
  const lines: string[] = []
  const owners = new Map(secretVariables.flatMap((name) => tokensIn(values[name]).map((token) => [token, name as string] as const)))
  for (const { name, token: variable } of machines) {
    const line = (text: string) => void lines.push(`${variable} ${text}`)
    if (variableNames.some((own) => own === variable || own === `${variable}_FILE`)) {
      line('is a variable of Lockkeeper: name another one for a machine')
      continue
    }
    const read = readSecret(env, variable, readFile)
    if (read.line !== undefined) {
      lines.push(read.line)
      continue
    }
    const parsed = longSecrets(`a token for the machine ${name},`).safeParse(read.secret)
    if (!parsed.success) line(parsed.error.issues[0]?.message ?? '')
    const taken = tokensIn(read.secret).find((token) => token !== '' && owners.has(token))
    if (taken !== undefined) line(`holds a token that ${owners.get(taken)} holds, too: each machine needs its own`)
    for (const token of tokensIn(read.secret)) owners.set(token, variable)
    tokens.set(machineRequester(name), parsed.data ?? [])
  }
  return { tokens, lines }
}

/** Windows has no such modes. */
function openEnvFileWarning(path: string, secrets: string[]): string | undefined {
  if (process.platform === 'win32') return undefined
  try {
    const mode = statSync(path).mode & 0o777
    const values = parseEnv(readFileSync(path, 'utf8'))
    if ((mode & 0o066) === 0 || !secrets.some((name) => values[name])) return undefined
    return `${path} holds secrets, and other users of this machine can read or change it (mode ${mode.toString(8)}). Run: chmod 600 ${path}`
  } catch {
    // The file does not exist, or this process may not read it.
    return undefined
  }
}

/** Lists every bad or missing variable and every error of the policy file, one line each. No line contains the value of a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly lines: string[]

  constructor(lines: string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

interface ReadOptions {
  kinds: ChangeKind[]
  bundles: Bundles
  /** Kinds that NO_APPROVAL can't name. */
  neverExempt?: ChangeKind[]
  confirmations?: Confirmations
  readFile?: ReadFile
  /** Gets the name of each variable that holds a token of a machine, also before a ConfigError. */
  onSecret?: (variable: string) => void
}

/** Reads variables, the files of secrets, and the policy file. Throws ConfigError with a line for every error of all of them. */
export function readConfig(env: Environment, options: ReadOptions) {
  const { kinds, bundles, neverExempt, confirmations, readFile = readFromDisk, onSecret } = options
  const given = givenVariables(env, secretVariables, readFile)
  const { POLICY_FILE: policyFile, APPROVAL_TTL: approvalTtl } = given.values
  const parsed = variablesFor({ kinds, bundles, neverExempt }).safeParse(given.values)
  const lines = [...linesOf(parsed.error, given), ...linesAcross(given)]
  // Read the file even if APPROVAL_TTL, its default, is bad, so that one start shows the errors of both.
  const expiresMs = Variables.shape.APPROVAL_TTL.safeParse(approvalTtl).data ?? 0
  const file = policyFile ? readPolicyFile(policyFile, readFile, { kinds, bundles, expiresMs, confirmations }) : undefined
  if (file && 'lines' in file) lines.push(...file.lines)
  const machines = file && 'policy' in file ? (file.policy.machines ?? []) : []
  for (const { token } of machines) onSecret?.(token)
  // Other processes do not need the tokens.
  const { tokens, lines: wrong } = tokensOf(env, given.values, given.values.MACHINES_PORT ? machines : [], readFile)
  lines.push(...wrong)
  if (file && 'policy' in file) lines.push(...linesForConfirmations(file.policy, given))
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  const policy = file && 'policy' in file ? file.policy : simplePolicy(parsed.data, { kinds, bundles })
  return { ...nameParts(parsed.data, tokens), policy, policyFile, warnings: warningsOf(parsed.data, policy) }
}
export type Config = ReturnType<typeof readConfig>

/** Removes the secrets from the environment, even after a ConfigError, so that no child process and no crash report contains them. */
export function takeConfig(env: NodeJS.ProcessEnv, options: ReadOptions): Config {
  const secrets: string[] = [...secretVariables]
  try {
    const config = readConfig(env, { ...options, onSecret: (variable) => void secrets.push(variable) })
    const warning = openEnvFileWarning('.env', secrets)
    return { ...config, warnings: warning === undefined ? config.warnings : [...config.warnings, warning] }
  } finally {
    for (const name of secrets) delete env[name]
  }
}

/** For the verification of the audit. Throws ConfigError. */
export function readAuditConfig(env: Environment, readFile: ReadFile = readFromDisk) {
  const given = givenVariables(env, ['REDIS_URL', 'REDIS_SENTINEL_PASSWORD', 'STATE_KEY', 'INFRA_API_KEY'], readFile)
  const needed = Variables.pick({
    REDIS_URL: true,
    REDIS_SENTINEL_PASSWORD: true,
    REDIS_PREFIX: true,
    STATE_KEY: true,
    INFRA_API_KEY: true,
  }).partial({ INFRA_API_KEY: true })
  const parsed = needed.safeParse(given.values)
  const lines = linesOf(parsed.error, given)
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  const {
    REDIS_URL: url,
    REDIS_SENTINEL_PASSWORD: sentinelPassword,
    REDIS_PREFIX: prefix,
    STATE_KEY: stateKeys,
    INFRA_API_KEY: apiKey,
  } = parsed.data
  return { url, sentinelPassword, prefix, signingSecrets: stateKeys ?? (apiKey && ([apiKey] as const)) }
}

function linesOf(error: z.ZodError | undefined, { problems }: Given): string[] {
  const issues = (error?.issues ?? []).filter(({ path }) => !problems.has(String(path[0])))
  return [...issues.map(({ path, message }) => `${String(path[0])} ${message}`), ...problems.values()]
}

function nameParts(v: Variables, tokens: MachineTokens) {
  return {
    slack: {
      botToken: v.SLACK_BOT_TOKEN,
      signingSecrets: v.SLACK_SIGNING_SECRET,
      appToken: v.SLACK_APP_TOKEN,
      command: v.SLACK_COMMAND,
      apiUrl: v.SLACK_API_URL,
      host: v.HOST,
      port: v.PORT,
    },
    infra: {
      url: v.INFRA_API_URL,
      key: v.INFRA_API_KEY,
      readsPerMinute: v.INFRA_READS_PER_MINUTE,
      writesPerMinute: v.INFRA_WRITES_PER_MINUTE,
    },
    redis: { url: v.REDIS_URL, sentinelPassword: v.REDIS_SENTINEL_PASSWORD, prefix: v.REDIS_PREFIX, allowVolatile: v.ALLOW_VOLATILE_REDIS },
    // Undefined: no alerts are received.
    alerts:
      v.ALERTS_PORT === undefined || v.ALERTS_TOKEN === undefined
        ? undefined
        : { host: v.ALERTS_HOST, port: v.ALERTS_PORT, tokens: v.ALERTS_TOKEN },
    // Undefined: no machine can request anything.
    machines: v.MACHINES_PORT === undefined ? undefined : { host: v.MACHINES_HOST, port: v.MACHINES_PORT, tokens },
    opsHost: v.OPS_HOST,
    opsPort: v.OPS_PORT,
    // Without STATE_KEY a key is derived from the API key, which every replica has as well. `linesAcross` refuses a configuration without both.
    signingSecrets: v.STATE_KEY ?? ([v.INFRA_API_KEY] as const),
    signsWithApiKey: v.STATE_KEY === undefined,
    role: v.ROLE,
    approvalTtlMs: v.APPROVAL_TTL,
    openRequestsPerPerson: v.OPEN_REQUESTS_PER_PERSON,
    movePollIntervalMs: v.MOVE_POLL_INTERVAL,
    movePollBudget: v.MOVE_POLL_BUDGET,
    moveTimeoutMs: v.MOVE_TIMEOUT,
    opsChannel: v.OPS_CHANNEL,
    watchChanges: v.WATCH_CHANGES,
    keyReview: v.KEY_REVIEW,
    docsUrl: v.DOCS_URL,
    environment: v.ENVIRONMENT,
    publicUrl: v.PUBLIC_URL,
    logLevel: v.LOG_LEVEL,
  }
}
