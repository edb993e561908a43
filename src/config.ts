import { z } from 'zod'
import { type ChangeKind, changeKinds } from './domain/change.ts'
import { parseDuration } from './domain/duration.ts'
import { Secret } from './domain/secret.ts'

/** Every bad or missing variable, a line each. Values of secrets are in none of them. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly lines: string[]

  constructor(lines: string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

/** Taken out of the environment once they are read, so that nothing started later and no report can have them. */
export const secretVariables = ['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET', 'SLACK_APP_TOKEN', 'INFRA_API_KEY', 'REDIS_URL'] as const

const secret = (pattern: RegExp, expected: string) =>
  z
    .string({ error: `is missing: ${expected}` })
    .regex(pattern, `must be ${expected}`)
    .transform((value) => new Secret(value))

const duration = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((value, context) => {
      const ms = parseDuration(value)
      if (ms !== undefined) return ms
      context.addIssue({ code: 'custom', message: `must be a duration such as 500ms, 5s, 15m or 4h, not ${quote(value)}` })
      return z.NEVER
    })

const port = (fallback: number) =>
  z
    .string()
    .default(String(fallback))
    .transform((value, context) => {
      if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value)
      context.addIssue({ code: 'custom', message: `must be a port from 0 (any free one) to 65535, not ${quote(value)}` })
      return z.NEVER
    })

/** Comma-separated. */
const list = (fits: RegExp, expected: string) =>
  z.string().transform((value, context) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
    const bad = items.filter((item) => !fits.test(item))
    if (bad.length === 0 && items.length > 0) return items
    context.addIssue({
      code: 'custom',
      message: `must be ${expected}, separated by commas${bad.length > 0 ? `; not so: ${bad.map(quote).join(', ')}` : ''}`,
    })
    return z.NEVER
  })

const people = list(/^[UWS][A-Z0-9]{2,}$/, 'user ids (U…) and user group ids (S…)')
const group = (ids: string[]) => ({ users: ids.filter((id) => !id.startsWith('S')), userGroups: ids.filter((id) => id.startsWith('S')) })

/** https, or http on this machine: keys and tokens go there. */
const address = (name: string) =>
  z.string({ error: `is missing: ${name}` }).transform((value, context) => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    const local = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
    if (url && !url.username && (url.protocol === 'https:' || (url.protocol === 'http:' && local))) return url
    context.addIssue({ code: 'custom', message: `must be ${name}: https, or http on this machine only, and without a password` })
    return z.NEVER
  })

const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .default('false')
  .transform((value) => value === 'true')

const Variables = z.object({
  SLACK_BOT_TOKEN: secret(/^xoxb-\S+$/, "the bot's token, which begins with xoxb-"),
  SLACK_SIGNING_SECRET: secret(/^\S{8,}$/, 'the signing secret from the app’s Basic Information').optional(),
  SLACK_APP_TOKEN: secret(/^xapp-\S+$/, 'an app-level token, which begins with xapp-').optional(),
  SLACK_API_URL: address("the base address of Slack's Web API").optional(),
  INFRA_API_URL: address('the base address of the account API'),
  INFRA_API_KEY: secret(/^[\x21-\x7e]+$/, 'a key of the account API'),
  REDIS_URL: secret(/^rediss?:\/\/\S+$/, 'an address that begins with redis:// or rediss://'),
  PORT: port(3000),
  OPS_PORT: port(9464),
  ROLE: z.enum(['all', 'web', 'worker'], { error: 'must be all, web or worker' }).default('all'),
  APPROVERS: people.transform(group),
  OPERATORS: people.transform(group).optional(),
  CHANNELS: list(/^[CG][A-Z0-9]{2,}$/, 'channel ids (C…)').optional(),
  NO_APPROVAL: list(
    new RegExp(`^(${changeKinds.map((kind) => kind.replace('.', '\\.')).join('|')})$`),
    `kinds of change (${changeKinds.join(', ')})`,
  )
    .transform((kinds) => kinds as ChangeKind[])
    .optional(),
  APPROVAL_TTL: duration('4h'),
  MOVE_POLL_INTERVAL: duration('5s'),
  MOVE_TIMEOUT: duration('15m'),
  POLICY_FILE: z.string().optional(),
  OPS_CHANNEL: z
    .string()
    .regex(/^[CG][A-Z0-9]{2,}$/, 'must be a channel id (C…)')
    .optional(),
  ENVIRONMENT: z
    .string()
    .regex(
      /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,29}$/u,
      'must be a short name such as production: up to 30 letters, digits, spaces, dots, dashes',
    )
    .optional(),
  REDIS_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,60}$/, 'must be letters, digits, dots, dashes and underscores')
    .default('lockkeeper'),
  ALLOW_VOLATILE_REDIS: flag,
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], { error: 'must be trace, debug, info, warn, error or fatal' })
    .default('info'),
})

/** The names of all variables, in the order of the documentation. */
export const variableNames = Object.keys(Variables.shape)

/**
 * Reads the configuration from a record of variables; an empty value counts as missing, unknown variables are ignored.
 * Throws ConfigError with a line for every bad or missing one.
 */
export function readConfig(env: Record<string, string | undefined>) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''))
  const parsed = Variables.safeParse(given)
  const lines = parsed.success ? [] : parsed.error.issues.map((issue) => line(String(issue.path[0]), issue.message, given))
  if (!given.SLACK_SIGNING_SECRET && !given.SLACK_APP_TOKEN) {
    lines.push('SLACK_SIGNING_SECRET is missing: it verifies requests from Slack (or set SLACK_APP_TOKEN to use Socket Mode)')
  }
  if (given.POLICY_FILE)
    lines.push(
      'POLICY_FILE is not supported by this version, and a policy is never ignored: unset it, and use APPROVERS, OPERATORS, CHANNELS and NO_APPROVAL',
    )
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  return nameParts(parsed.data)
}
export type Config = ReturnType<typeof readConfig>

/** Reads the configuration and takes the secrets out of the environment. */
export function takeConfig(env: NodeJS.ProcessEnv): Config {
  const config = readConfig(env)
  for (const name of secretVariables) delete env[name]
  return config
}

function nameParts(v: z.infer<typeof Variables>) {
  return {
    slack: {
      botToken: v.SLACK_BOT_TOKEN,
      signingSecret: v.SLACK_SIGNING_SECRET,
      appToken: v.SLACK_APP_TOKEN,
      apiUrl: v.SLACK_API_URL ?? new URL('https://slack.com/api/'),
      port: v.PORT,
    },
    infra: { url: v.INFRA_API_URL, key: v.INFRA_API_KEY },
    redis: { url: v.REDIS_URL, prefix: v.REDIS_PREFIX, allowVolatile: v.ALLOW_VOLATILE_REDIS },
    opsPort: v.OPS_PORT,
    role: v.ROLE,
    rules: { approvers: v.APPROVERS, operators: v.OPERATORS, channels: v.CHANNELS, noApproval: v.NO_APPROVAL ?? [] },
    approvalTtlMs: v.APPROVAL_TTL,
    movePollIntervalMs: v.MOVE_POLL_INTERVAL,
    moveTimeoutMs: v.MOVE_TIMEOUT,
    opsChannel: v.OPS_CHANNEL,
    environment: v.ENVIRONMENT,
    logLevel: v.LOG_LEVEL,
  }
}

function line(name: string, message: string, given: Record<string, unknown>): string {
  if (!(name in given)) return `${name} is missing: ${expectations[name] ?? message.replace(/^(is missing: |must be )/, '')}`
  return `${name} ${message}`
}

/** What a required variable is for, where the schema does not say it. */
const expectations: Record<string, string> = {
  APPROVERS: 'the people who may approve, as user ids (U…) and user group ids (S…), separated by commas',
}

function quote(value: string): string {
  return JSON.stringify(value.slice(0, 40))
}
