import { z } from 'zod'
import type { ChangeKind } from '../domain/policy/change-kind.ts'
import type { Bundles } from '../domain/policy/policy.ts'
import type { Secret } from '../domain/signing/secret.ts'
import { alertWarnings, linesAcross } from './combinations.ts'
import { openEnvFileWarning } from './env-file.ts'
import { type Environment, type Given, givenVariables, secretVariables } from './given.ts'
import { readPolicyFile } from './policy/policy-file.ts'
import { simplePolicy } from './policy/simple-policy.ts'
import { type ReadFile, readFromDisk } from './text-file.ts'
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

/** Variables that describe a simple policy. A policy file replaces all of them. */
const policyVariables = ['APPROVERS', 'OPERATORS', 'CHANNELS', 'NO_APPROVAL'] as const

interface ReadOptions {
  /** The kinds of change that there are, in the order in which errors list them. */
  kinds: ChangeKind[]
  bundles: Bundles
  readFile?: ReadFile
}

/**
 * Reads the configuration from a record of variables, the files that hold secrets, and the policy file if POLICY_FILE names one. An empty
 * value counts as missing, and unknown variables are ignored.
 * Throws ConfigError with a line for every bad or missing variable and for every error of the file.
 */
export function readConfig(env: Environment, { kinds, bundles, readFile = readFromDisk }: ReadOptions) {
  const given = givenVariables(env, secretVariables, readFile)
  const { POLICY_FILE: policyFile, APPROVAL_TTL: approvalTtl } = given.values
  const parsed = variablesFor({ kinds, bundles }).safeParse(given.values)
  const lines = [...linesOf(parsed.error, given), ...linesAcross(given)]
  // Read the file even if APPROVAL_TTL, its default, is bad, so that one start shows the errors of both.
  const expiresMs = Variables.shape.APPROVAL_TTL.safeParse(approvalTtl).data ?? 0
  const file = policyFile ? readPolicyFile(policyFile, readFile, { kinds, bundles, expiresMs }) : undefined
  if (file && 'lines' in file) lines.push(...file.lines)
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  const { policy, warnings } = file && 'policy' in file ? file : { policy: simplePolicy(parsed.data, { kinds, bundles }), warnings: [] }
  const unusedVariables: string[] = policyFile ? policyVariables.filter((name) => given.values[name]) : []
  const parts = nameParts(parsed.data)
  return { ...parts, policy, policyFile, unusedVariables, warnings: [...warnings, ...alertWarnings(parts, policy)] }
}
export type Config = ReturnType<typeof readConfig>

/**
 * Reads the configuration of this process, with a warning about an open file .env in the working directory. Removes the secrets from the
 * environment, even if the configuration is bad, so that no child process and no crash report can contain them.
 * Throws ConfigError as `readConfig` does.
 */
export function takeConfig(env: NodeJS.ProcessEnv, options: ReadOptions): Config {
  try {
    const config = readConfig(env, options)
    const warning = openEnvFileWarning('.env')
    return { ...config, warnings: warning === undefined ? config.warnings : [...config.warnings, warning] }
  } finally {
    for (const name of secretVariables) delete env[name]
  }
}

/**
 * Reads what the verification of the audit needs: where Redis is, and the keys of the signatures if the environment has them.
 * Throws ConfigError as `readConfig` does, for these variables.
 */
export function readAuditConfig(env: Environment, readFile: ReadFile = readFromDisk) {
  const given = givenVariables(env, ['REDIS_URL', 'STATE_KEY', 'INFRA_API_KEY'], readFile)
  const { REDIS_URL, REDIS_PREFIX, STATE_KEY, INFRA_API_KEY } = Variables.shape
  const parsed = z.object({ REDIS_URL, REDIS_PREFIX, STATE_KEY, INFRA_API_KEY }).safeParse(given.values)
  const lines = linesOf(parsed.error, given)
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  const { REDIS_URL: url, REDIS_PREFIX: prefix, STATE_KEY: stateKeys, INFRA_API_KEY: apiKey } = parsed.data
  return { url, prefix, signingSecrets: stateKeys ?? (apiKey && ([apiKey] as const)) }
}

/** Returns the lines about single variables and about the files of secrets. */
function linesOf(error: z.ZodError | undefined, { lines, reported, nameOf }: Given): string[] {
  const issues = (error?.issues ?? []).map(({ path, message }) => ({ name: String(path[0]), message }))
  return [...issues.filter(({ name }) => !reported.includes(name)).map(({ name, message }) => `${nameOf(name)} ${message}`), ...lines]
}

function nameParts(v: Variables) {
  return {
    slack: {
      botToken: v.SLACK_BOT_TOKEN,
      signingSecret: v.SLACK_SIGNING_SECRET,
      appToken: v.SLACK_APP_TOKEN,
      command: v.SLACK_COMMAND,
      apiUrl: v.SLACK_API_URL,
      host: v.HOST,
      port: v.PORT,
      trustedProxies: v.TRUSTED_PROXIES ?? [],
    },
    infra: {
      url: v.INFRA_API_URL,
      key: v.INFRA_API_KEY,
      readKey: v.INFRA_READ_KEY,
      readsPerMinute: v.INFRA_READS_PER_MINUTE,
      writesPerMinute: v.INFRA_WRITES_PER_MINUTE,
    },
    redis: { url: v.REDIS_URL, prefix: v.REDIS_PREFIX, allowVolatile: v.ALLOW_VOLATILE_REDIS },
    // Undefined: no alerts are received.
    alerts:
      v.ALERTS_PORT === undefined || v.ALERTS_TOKEN === undefined
        ? undefined
        : { host: v.ALERTS_HOST, port: v.ALERTS_PORT, tokens: v.ALERTS_TOKEN },
    opsHost: v.OPS_HOST,
    opsPort: v.OPS_PORT,
    // Without STATE_KEY a key is derived from the API key, which every replica has as well. `linesAcross` refuses a configuration without both.
    signingSecrets: v.STATE_KEY ?? ([v.INFRA_API_KEY as Secret] as const),
    signsWithApiKey: v.STATE_KEY === undefined,
    role: v.ROLE,
    approvalTtlMs: v.APPROVAL_TTL,
    openRequestsPerPerson: v.OPEN_REQUESTS_PER_PERSON,
    movePollIntervalMs: v.MOVE_POLL_INTERVAL,
    movePollBudget: v.MOVE_POLL_BUDGET,
    moveTimeoutMs: v.MOVE_TIMEOUT,
    opsChannel: v.OPS_CHANNEL,
    environment: v.ENVIRONMENT,
    logLevel: v.LOG_LEVEL,
  }
}
