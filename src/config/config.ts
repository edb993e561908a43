import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import type { ChangeKind } from '../domain/change-kind.ts'
import type { Policy } from '../domain/policy.ts'
import { readPolicyFile } from './policy-file.ts'
import { Variables, variablesFor } from './variables.ts'

/** Lists every bad or missing variable and every error of the policy file, one line each. No line contains the value of a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly lines: string[]

  constructor(lines: string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

/** Variables that `takeConfig` removes from the environment, so that no child process and no crash report can contain them. */
export const secretVariables = ['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET', 'SLACK_APP_TOKEN', 'INFRA_API_KEY', 'REDIS_URL'] as const

/** The names of all variables, in the order of the documentation. */
export const variableNames = Object.keys(Variables.shape)

/** Variables that describe a simple policy. A policy file replaces all of them. */
const policyVariables = ['APPROVERS', 'OPERATORS', 'CHANNELS', 'NO_APPROVAL'] as const

export type Environment = Record<string, string | undefined>

interface ReadOptions {
  /** The kinds of change that there are, in the order in which errors list them. */
  kinds: ChangeKind[]
  /** Returns the text of a file. The path may be relative to the working directory. */
  readFile?: (path: string) => string
}

/**
 * Reads the configuration from a record of variables, and the policy file if POLICY_FILE names one. An empty value counts as missing, and
 * unknown variables are ignored.
 * Throws ConfigError with a line for every bad or missing variable and for every error of the file.
 */
export function readConfig(env: Environment, { kinds, readFile = (path) => readFileSync(path, 'utf8') }: ReadOptions) {
  const given = givenVariables(env)
  const parsed = variablesFor(kinds).safeParse(given)
  const lines = parsed.success ? [] : linesOf(parsed.error)
  if (!given.APPROVERS && !given.POLICY_FILE) {
    lines.push(
      'APPROVERS is missing: it must be the people who may approve, as user ids (U…, W…) and user group ids (S…), separated by commas (or set POLICY_FILE)',
    )
  }
  if (!given.SLACK_SIGNING_SECRET && !given.SLACK_APP_TOKEN) {
    lines.push('SLACK_SIGNING_SECRET is missing: it verifies requests from Slack (or set SLACK_APP_TOKEN to use Socket Mode)')
  }
  const publicPort = Variables.shape.PORT.safeParse(given.PORT).data
  const sharesIt = publicPort === Variables.shape.OPS_PORT.safeParse(given.OPS_PORT).data
  if (publicPort && sharesIt && !given.SLACK_APP_TOKEN) {
    lines.push('OPS_PORT must be another port than PORT, which is public')
  }
  // Read the file even if APPROVAL_TTL, its default, is bad, so that one start shows the errors of both.
  const expiresMs = Variables.shape.APPROVAL_TTL.safeParse(given.APPROVAL_TTL).data ?? 0
  const file = given.POLICY_FILE ? readPolicyFile(given.POLICY_FILE, readFile, { kinds, expiresMs }) : undefined
  if (file && 'lines' in file) lines.push(...file.lines)
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  const policy = file && 'policy' in file ? file.policy : simplePolicy(parsed.data, kinds)
  const unusedVariables: string[] = given.POLICY_FILE ? policyVariables.filter((name) => given[name]) : []
  return { ...nameParts(parsed.data), policy, policyFile: given.POLICY_FILE, unusedVariables }
}
export type Config = ReturnType<typeof readConfig>

/**
 * Reads the configuration and removes the secrets from the environment, even if the configuration is bad.
 * Throws ConfigError as `readConfig` does.
 */
export function takeConfig(env: NodeJS.ProcessEnv, options: ReadOptions): Config {
  try {
    return readConfig(env, options)
  } finally {
    for (const name of secretVariables) delete env[name]
  }
}

/**
 * Reads REDIS_URL and REDIS_PREFIX for small programs that need only Redis.
 * Throws ConfigError as `readConfig` does, for these two variables.
 */
export function readRedisConfig(env: Environment) {
  const parsed = Variables.pick({ REDIS_URL: true, REDIS_PREFIX: true }).safeParse(givenVariables(env))
  if (!parsed.success) throw new ConfigError(linesOf(parsed.error))
  return { url: parsed.data.REDIS_URL, prefix: parsed.data.REDIS_PREFIX }
}

function givenVariables(env: Environment): Environment {
  return Object.fromEntries(variableNames.map((name) => [name, env[name]?.trim() || undefined]))
}

function linesOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => `${String(issue.path[0])} ${issue.message}`)
}

/** Builds a policy from the variables: one rule for the kinds of change that need no approval, then one for all other kinds. */
function simplePolicy(v: Variables, kinds: ChangeKind[]): Policy {
  const noApproval = v.NO_APPROVAL ?? []
  const needApproval = kinds.filter((kind) => !noApproval.includes(kind))
  const shared = {
    projects: undefined,
    channels: v.CHANNELS,
    request: v.OPERATORS,
    breakGlass: false,
    expiresMs: v.APPROVAL_TTL,
    mention: undefined,
  }
  const approve = { anyOf: v.APPROVERS ?? { users: [], userGroups: [] }, allOf: [], approvals: 1 }
  const rules = [
    { name: 'NO_APPROVAL', changes: noApproval, approve: undefined, ...shared },
    { name: 'APPROVERS', changes: needApproval, approve, ...shared },
  ]
  return { rules: rules.filter((rule) => rule.changes.length > 0) }
}

function nameParts(v: Variables) {
  return {
    slack: {
      botToken: v.SLACK_BOT_TOKEN,
      signingSecret: v.SLACK_SIGNING_SECRET,
      appToken: v.SLACK_APP_TOKEN,
      apiUrl: v.SLACK_API_URL,
      port: v.PORT,
    },
    infra: { url: v.INFRA_API_URL, key: v.INFRA_API_KEY },
    redis: { url: v.REDIS_URL, prefix: v.REDIS_PREFIX, allowVolatile: v.ALLOW_VOLATILE_REDIS },
    opsPort: v.OPS_PORT,
    role: v.ROLE,
    approvalTtlMs: v.APPROVAL_TTL,
    openRequestsPerPerson: v.OPEN_REQUESTS_PER_PERSON,
    movePollIntervalMs: v.MOVE_POLL_INTERVAL,
    moveTimeoutMs: v.MOVE_TIMEOUT,
    opsChannel: v.OPS_CHANNEL,
    environment: v.ENVIRONMENT,
    logLevel: v.LOG_LEVEL,
  }
}
