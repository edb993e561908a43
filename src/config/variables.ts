import { isIP } from 'node:net'
import { z } from 'zod'
import { type Bundles, type ChangeKind, toGroup } from '../domain/policy.ts'
import { parseRedisAddress } from '../domain/redis-address.ts'
import { Secret } from '../domain/signing.ts'
import { durationWords, isChannelId, isPersonOrGroupId, quote, readDuration } from './notation.ts'

/** `parse` returns undefined for a bad value. With `show: false`, the error does not contain it. */
function value<T>(parse: (text: string) => T | undefined, expected: string, { show = true } = {}) {
  return z.string({ error: `is missing: it must be ${expected}` }).transform((text, context) => {
    const parsed = parse(text)
    if (parsed !== undefined) return parsed
    context.addIssue({ code: 'custom', message: `must be ${expected}${show ? `, not ${quote(text)}` : ''}` })
    return z.NEVER
  })
}

const fitting = (fits: (text: string) => boolean, expected: string) => value((text) => (fits(text) ? text : undefined), expected)

const matching = (pattern: RegExp, expected: string) => fitting((text) => pattern.test(text), expected)

const secret = (pattern: RegExp, expected: string) =>
  value((text) => (pattern.test(text) ? new Secret(text) : undefined), expected, { show: false })

const oneOf = <const T extends string>(...names: T[]) => value((text) => names.find((name) => name === text), `one of ${names.join(', ')}`)

const trueOrFalse = oneOf('true', 'false')
  .transform((text) => text === 'true')
  .prefault('false')

const wholeNumber = (what: string, from: number, to: number) =>
  value(
    (text) => (/^\d{1,6}$/.test(text) && Number(text) >= from && Number(text) <= to ? Number(text) : undefined),
    `${what}, from ${from} to ${to}`,
  )

const duration = value(readDuration, durationWords)

const port = wholeNumber('a port (0 is any free one)', 0, 65_535)

const listenAddress = fitting((text) => isIP(text) !== 0, 'an IP address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them')

/** Parses secrets that are separated by commas. */
const secrets = (pattern: RegExp, expected: string) =>
  value(
    (text): readonly [Secret, ...Secret[]] | undefined => {
      const words = [...new Set(text.split(',').map((word) => word.trim()))]
      const [first, ...others] = words.map((word) => new Secret(word))
      return first && words.every((word) => pattern.test(word)) ? [first, ...others] : undefined
    },
    `${expected}, or several, separated by commas`,
    { show: false },
  )

/** Keys or tokens. One of 32 characters cannot be guessed if it is random. */
export const longSecrets = (what: string) => secrets(/^[\x21-\x7e]{32,}$/, `${what} of at least 32 characters without spaces`)

function list(fits: (item: string) => boolean, expected: string) {
  return z.string({ error: `is missing: it must be ${expected}, separated by commas` }).transform((text, context) => {
    const items = new Set(text.split(',').map((item) => item.trim()))
    items.delete('')
    const bad = [...items].filter((item) => !fits(item))
    if (bad.length === 0 && items.size > 0) return [...items]
    const which = bad.length > 0 ? `, not ${bad.map((item) => quote(item)).join(', ')}` : ', and at least one'
    context.addIssue({ code: 'custom', message: `must be ${expected}, separated by commas${which}` })
    return z.NEVER
  })
}

const people = (who: string) => list(isPersonOrGroupId, `${who}, as user ids (U…, W…) and user group ids (S…)`).transform(toGroup)

/** Parses an address to which keys and tokens are sent: https, or http on this machine only. */
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

const perMinute = (what: string, fewest: number) => wholeNumber(`how many ${what} a minute the account allows one key`, fewest, 999_999)

/** Parses the origin of pages. Browsers keep passkeys by its host, and take `localhost` for safe, and no IP address. */
const publicAddress = value((text) => {
  const url = URL.parse(text)
  if (!url || url.username || url.password || url.search || url.hash || url.pathname !== '/' || isIP(url.hostname.replace(/[[\]]/g, '')))
    return undefined
  return url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname === 'localhost') ? url : undefined
}, 'an https address without a path, such as https://lockkeeper.example.com (http only for localhost)')

/** Of a secret, which can come from a file. */
const inFile = (description: string, needed?: string) => ({ description, needed, file: true })

const withoutKey = 'Set it in production: without it, a key is derived from INFRA_API_KEY.'

/**
 * Descriptions and defaults make docs/configuration.md and `.env.example`, in this order; `example` is the value there. `needed`: when an
 * optional variable is required, which `linesAcross` checks. `variablesFor` accepts only the existing kinds of change.
 */
export const Variables = z.object({
  SLACK_BOT_TOKEN: secret(/^xoxb-[\x21-\x7e]+$/, "the bot's token, which begins with xoxb-").meta(
    inFile('The Bot User OAuth Token (xoxb-…) of the installed app.'),
  ),
  SLACK_SIGNING_SECRET: secrets(/^(?!xapp-|xox)\S{8,}$/, "the signing secret of the app's Basic Information, in one word")
    .optional()
    .meta(inFile("Signing Secret in the app's Basic Information. Several, separated by commas, are valid.", 'without SLACK_APP_TOKEN')),
  SLACK_APP_TOKEN: secret(/^xapp-[\x21-\x7e]+$/, 'an app-level token, which begins with xapp-')
    .optional()
    .meta(inFile('An app-level token (xapp-…) with connections:write, for Socket Mode instead of HTTP.')),
  SLACK_COMMAND: matching(
    /^\/[\p{Ll}\p{Lo}\p{N}_-]{1,31}$/u,
    "the app's slash command, such as /infra: in small letters, with at most 32 characters",
  )
    .prefault('/infra')
    .describe("The slash command of the app's manifest, for messages that don't answer a command."),
  SLACK_API_URL: address("the base address of Slack's Web API")
    .prefault('https://slack.com/api/')
    .describe('The base address of the Web API.'),

  INFRA_API_URL: address('the base address of the account API').meta({
    description: 'The base address of the account API. https, or http on this machine only.',
    example: 'https://api.latitude.sh',
  }),
  INFRA_API_KEY: secret(/^[\x21-\x7e]+$/, 'a key of the account API, in one word').meta(
    inFile('A key with full access to the account, sent in the header Authorization.'),
  ),
  INFRA_READS_PER_MINUTE: perMinute('reads', 10)
    .prefault('60')
    .describe('How many reads (GET) a minute the account allows one key, for all processes together.'),
  INFRA_WRITES_PER_MINUTE: perMinute('writes', 5).prefault('20').describe('The same for writes.'),

  REDIS_URL: value(
    (text) => (parseRedisAddress(text) ? new Secret(text) : undefined),
    'redis:// or rediss:// with a host; special characters of a password are percent-encoded',
    { show: false },
  ).meta(inFile('Redis 7 or newer, or Valkey 8: redis://, rediss:// (TLS), redis+sentinel:// or redis+cluster:// (docs/redis.md).')),
  REDIS_SENTINEL_PASSWORD: secret(/^\S+$/, 'the password of the Sentinels, in one word')
    .optional()
    .meta(inFile('Only for Sentinels that ask for a password of their own.')),
  STATE_KEY: longSecrets('a key')
    .optional()
    .meta(
      inFile(
        `Signs what is in Redis: at least 32 characters, made with openssl rand -hex 32. Several, separated by commas: the first signs, all verify. ${withoutKey}`,
      ),
    ),
  REDIS_PREFIX: matching(/^[A-Za-z0-9._-]{1,60}$/, 'up to 60 letters, digits, dots, dashes and underscores')
    .prefault('lockkeeper')
    .describe('Begins the names of all keys. Installations that share one Redis need different ones.'),
  ALLOW_VOLATILE_REDIS: trueOrFalse.describe('true: start although Redis evicts or does not persist. For development only.'),

  APPROVERS: people('the people who may approve').optional().meta({
    description: 'Who may approve: Slack user ids (U…, W…) and user group ids (S…), separated by commas.',
    needed: 'without POLICY_FILE',
  }),
  OPERATORS: people('the people who may request changes')
    .optional()
    .describe('Who may request changes, like APPROVERS. Unset: every full member of the workspace.'),
  CHANNELS: list(isChannelId, 'channel ids (C…, G…)')
    .optional()
    .describe('The ids of channels for requests (C…, G…), separated by commas. Unset: every channel.'),
  NO_APPROVAL: list(() => true, 'kinds of change').optional(),
  APPROVAL_TTL: duration.prefault('4h').describe('How long a request can be approved. With POLICY_FILE: for rules without expires.'),
  OPEN_REQUESTS_PER_PERSON: wholeNumber('how many undecided requests a person may have', 1, 9_999)
    .prefault('10')
    .describe('How many requests of a person may wait for approval. In 10 minutes a person can make as many, and at least 20.'),
  POLICY_FILE: z
    .string()
    .optional()
    .describe('A YAML file with finer rules (docs/policy.md), instead of APPROVERS, OPERATORS, CHANNELS and NO_APPROVAL.'),

  MOVE_POLL_INTERVAL: duration.prefault('3s').describe('The shortest time between two checks of the moves in flight.'),
  MOVE_POLL_BUDGET: wholeNumber('reads a minute', 1, 99_999)
    .prefault('20')
    .describe('How many reads a minute all tracking may spend. With fewer, results come later, but none is lost.'),
  MOVE_TIMEOUT: duration.prefault('15m').describe('When a move is reported as late.'),

  ROLE: oneOf('all', 'web', 'worker').prefault('all').describe('all, or web (Slack) and worker (jobs) in separate processes.'),
  HOST: listenAddress.prefault('0.0.0.0').describe('The IP address for POST /slack/events. 127.0.0.1 if the proxy runs on this machine.'),
  PORT: port.prefault('3000').describe('Its port.'),
  OPS_HOST: listenAddress
    .prefault('127.0.0.1')
    .describe('The IP address for health and metrics, which must never be public. The image sets 0.0.0.0.'),
  OPS_PORT: port.prefault('9464').describe('Its port.'),
  ALERTS_HOST: listenAddress.prefault('127.0.0.1').describe('The IP address for alerts: POST /alerts/alertmanager (docs/alerts.md).'),
  ALERTS_PORT: port.optional().describe('Its port. Unset: no alerts are received.'),
  ALERTS_TOKEN: longSecrets('a token')
    .optional()
    .meta(
      inFile('The bearer token of their senders, at least 32 characters. Several, separated by commas, are valid.', 'with ALERTS_PORT'),
    ),
  MACHINES_HOST: listenAddress
    .prefault('127.0.0.1')
    .describe('The IP address for the HTTP API and the MCP server of machines (docs/machines.md).'),
  MACHINES_PORT: port.optional().describe('Its port. Unset: machines can request nothing.'),

  PUBLIC_URL: publicAddress.optional().meta({
    description: "The address where people's browsers reach PORT, such as https://lockkeeper.example.com. It may be inside a VPN.",
    needed: 'where a rule has confirm: passkey',
  }),
  OPS_CHANNEL: fitting(isChannelId, 'a channel id (C…, G…)')
    .optional()
    .describe('The id of a channel that gets notices for operators. Unset: only the log has them.'),
  WATCH_CHANGES: trueOrFalse.describe("true: reports to OPS_CHANNEL moves, and keys created or deleted, that Lockkeeper didn't make."),
  KEY_REVIEW: trueOrFalse.describe('true: OPS_CHANNEL gets the API keys that need attention, every Monday.'),
  DOCS_URL: address('the base address of the documentation')
    .prefault('https://github.com/lockkeeper-org/lockkeeper/blob/main/docs')
    .describe("Where notices link errors.md: the address of your copy of docs/, if people can't open this one."),
  ENVIRONMENT: matching(
    /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,29}$/u,
    'a short name such as production: up to 30 letters, digits, spaces, dots, dashes',
  )
    .optional()
    .describe('A name such as production, which every request message shows.'),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal')
    .prefault('info')
    .describe('trace, debug, info, warn, error or fatal. No level prints bodies.'),
})
export type Variables = z.infer<typeof Variables>

/** Variables that hold secrets. `takeConfig` removes them from the environment, and each can be read from a file instead. */
export const secretVariables = Object.entries(Variables.shape).flatMap(([name, type]) =>
  type.meta()?.file ? [name as keyof Variables] : [],
)

/** Returns the same schema for these kinds of change. A bundle needs no approval if its parts need none, and is not named itself. */
export function variablesFor({ kinds, bundles, neverExempt = [] }: { kinds: ChangeKind[]; bundles: Bundles; neverExempt?: ChangeKind[] }) {
  const nameable = kinds.filter((kind) => !bundles.has(kind) && !neverExempt.includes(kind))
  const noApproval = list((text) => nameable.includes(text), `of ${nameable.join(', ')}`).optional()
  const description = `Kinds of change that need no approval, separated by commas: ${nameable.join(', ')}. ip.move includes evacuations. Unset: none.`
  return Variables.extend({ NO_APPROVAL: noApproval.describe(description) })
}
