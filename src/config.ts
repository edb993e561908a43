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

/** Timers hold no more. */
const longestMs = 24 * 86_400_000

/** Parses a value, or says what it must be. `parse` returns undefined for what does not fit. */
function value<T>(parse: (text: string) => T | undefined, expected: string, { show = true } = {}) {
  return z.string({ error: `is missing: it must be ${expected}` }).transform((text, context) => {
    const parsed = parse(text)
    if (parsed !== undefined) return parsed
    context.addIssue({ code: 'custom', message: `must be ${expected}${show ? `, not ${quote(text)}` : ''}` })
    return z.NEVER
  })
}

const matching = (pattern: RegExp, expected: string) => value((text) => (pattern.test(text) ? text : undefined), expected)

const secret = (fits: (text: string) => boolean, expected: string) =>
  value((text) => (fits(text) ? new Secret(text) : undefined), expected, { show: false })

const oneOf = <const T extends string>(names: readonly T[], expected: string) =>
  value((text) => names.find((name) => name === text), expected)

const duration = value((text) => {
  const ms = parseDuration(text)
  return ms !== undefined && ms <= longestMs ? ms : undefined
}, 'a duration such as 500ms, 5s, 15m or 4h, at most 24d')

const port = value(
  (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  'a port from 0 (any free one) to 65535',
)

/** Comma-separated, each once. */
function list(fits: (item: string) => boolean, expected: string) {
  return z.string({ error: `is missing: it must be ${expected}, separated by commas` }).transform((text, context) => {
    const items = new Set(text.split(',').map((item) => item.trim()))
    items.delete('')
    const bad = [...items].filter((item) => !fits(item))
    if (bad.length === 0 && items.size > 0) return [...items]
    const which = bad.length > 0 ? `, not ${bad.map(quote).join(', ')}` : ', and at least one'
    context.addIssue({ code: 'custom', message: `must be ${expected}, separated by commas${which}` })
    return z.NEVER
  })
}

const people = (who: string) =>
  list((id) => /^[UWS][A-Z0-9]{2,}$/.test(id), `${who}, as user ids (U…, W…) and user group ids (S…)`).transform((ids) => ({
    users: ids.filter((id) => !id.startsWith('S')),
    userGroups: ids.filter((id) => id.startsWith('S')),
  }))

const channelId = /^[CG][A-Z0-9]{2,}$/
const isKind = (text: string): text is ChangeKind => (changeKinds as readonly string[]).includes(text)

/** https, or http on this machine: keys and tokens go there. */
const address = (name: string) =>
  value(
    (text) => {
      const url = URL.parse(text)
      if (!url || url.username || url.password || url.search || url.hash) return undefined
      const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
      return url.protocol === 'https:' || (url.protocol === 'http:' && local) ? url : undefined
    },
    `${name}: https, or http on this machine only, without user, password or query`,
    { show: false },
  )

function isRedisUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== '' && url.hash === '' && /^(\/\d*)?$/.test(url.pathname)
}

const Variables = z.object({
  SLACK_BOT_TOKEN: secret((text) => /^xoxb-[\x21-\x7e]+$/.test(text), "the bot's token, which begins with xoxb-"),
  SLACK_SIGNING_SECRET: secret(
    (text) => /^\S{8,}$/.test(text),
    "the signing secret of the app's Basic Information, in one word",
  ).optional(),
  SLACK_APP_TOKEN: secret((text) => /^xapp-[\x21-\x7e]+$/.test(text), 'an app-level token, which begins with xapp-').optional(),
  SLACK_API_URL: address("the base address of Slack's Web API").prefault('https://slack.com/api/'),
  INFRA_API_URL: address('the base address of the account API'),
  INFRA_API_KEY: secret((text) => /^[\x21-\x7e]+$/.test(text), 'a key of the account API, in one word'),
  REDIS_URL: secret(isRedisUrl, 'redis:// or rediss:// with a host; special characters of a password are percent-encoded'),
  PORT: port.prefault('3000'),
  OPS_PORT: port.prefault('9464'),
  ROLE: oneOf(['all', 'web', 'worker'], 'all, web or worker').prefault('all'),
  APPROVERS: people('the people who may approve'),
  OPERATORS: people('the people who may ask for changes').optional(),
  CHANNELS: list((id) => channelId.test(id), 'channel ids (C…, G…)').optional(),
  NO_APPROVAL: list(isKind, `of ${changeKinds.join(', ')}`)
    .transform((kinds) => kinds.filter(isKind))
    .optional(),
  APPROVAL_TTL: duration.prefault('4h'),
  MOVE_POLL_INTERVAL: duration.prefault('5s'),
  MOVE_TIMEOUT: duration.prefault('15m'),
  // Never ignored in silence: whoever writes a policy relies on it.
  POLICY_FILE: value(
    (): undefined => undefined,
    'unset: this version takes no policy file, only APPROVERS, OPERATORS, CHANNELS, NO_APPROVAL',
    {
      show: false,
    },
  ).optional(),
  OPS_CHANNEL: matching(channelId, 'a channel id (C…, G…)').optional(),
  ENVIRONMENT: matching(
    /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,29}$/u,
    'a short name such as production: up to 30 letters, digits, spaces, dots, dashes',
  ).optional(),
  REDIS_PREFIX: matching(/^[A-Za-z0-9._-]{1,60}$/, 'up to 60 letters, digits, dots, dashes and underscores').prefault('lockkeeper'),
  ALLOW_VOLATILE_REDIS: oneOf(['true', 'false'], 'true or false')
    .transform((text) => text === 'true')
    .prefault('false'),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'trace, debug, info, warn, error or fatal').prefault('info'),
})

/** The names of all variables, in the order of the documentation. */
export const variableNames = Object.keys(Variables.shape)

/**
 * Reads the configuration from a record of variables; an empty value counts as missing, unknown variables are ignored.
 * Throws ConfigError with a line for every bad or missing one.
 */
export function readConfig(env: Record<string, string | undefined>) {
  const given = Object.fromEntries(variableNames.map((name) => [name, env[name]?.trim() || undefined]))
  const parsed = Variables.safeParse(given)
  const lines = parsed.success ? [] : parsed.error.issues.map((issue) => `${String(issue.path[0])} ${issue.message}`)
  if (!given.SLACK_SIGNING_SECRET && !given.SLACK_APP_TOKEN) {
    lines.push('SLACK_SIGNING_SECRET is missing: it verifies requests from Slack (or set SLACK_APP_TOKEN to use Socket Mode)')
  }
  const publicPort = Variables.shape.PORT.safeParse(given.PORT).data
  const sharesIt = publicPort === Variables.shape.OPS_PORT.safeParse(given.OPS_PORT).data
  if (publicPort && sharesIt && !given.SLACK_APP_TOKEN) {
    lines.push('OPS_PORT must be another port than PORT, which is public')
  }
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  return nameParts(parsed.data)
}
export type Config = ReturnType<typeof readConfig>

/** Reads the configuration and takes the secrets out of the environment. */
export function takeConfig(env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env)
  } finally {
    for (const name of secretVariables) delete env[name]
  }
}

function nameParts(v: z.infer<typeof Variables>) {
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
    rules: { approvers: v.APPROVERS, operators: v.OPERATORS, channels: v.CHANNELS, noApproval: v.NO_APPROVAL ?? [] },
    approvalTtlMs: v.APPROVAL_TTL,
    movePollIntervalMs: v.MOVE_POLL_INTERVAL,
    moveTimeoutMs: v.MOVE_TIMEOUT,
    opsChannel: v.OPS_CHANNEL,
    environment: v.ENVIRONMENT,
    logLevel: v.LOG_LEVEL,
  }
}

/** A value that looks like a token was put into the wrong variable, and is not shown. */
function quote(text: string): string {
  return /^x(ox|app)|:\/\//.test(text) ? 'the value that it has' : JSON.stringify(text.slice(0, 40))
}
