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

/** Parses keys or tokens, separated by commas. One of 32 characters cannot be guessed if it is random. */
export const longSecrets = (what: string) =>
  value(
    (text): readonly [Secret, ...Secret[]] | undefined => {
      const words = [...new Set(text.split(',').map((word) => word.trim()))]
      const [first, ...others] = words.map((word) => new Secret(word))
      return first && words.every((word) => /^[\x21-\x7e]{32,}$/.test(word)) ? [first, ...others] : undefined
    },
    `${what} of at least 32 characters without spaces, or several, separated by commas`,
    { show: false },
  )

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

/** `linesAcross` checks how they fit together. `variablesFor` accepts only the existing kinds of change. */
export const Variables = z.object({
  SLACK_BOT_TOKEN: secret(/^xoxb-[\x21-\x7e]+$/, "the bot's token, which begins with xoxb-"),
  SLACK_SIGNING_SECRET: secret(/^(?!xapp-|xox)\S{8,}$/, "the signing secret of the app's Basic Information, in one word").optional(),
  SLACK_APP_TOKEN: secret(/^xapp-[\x21-\x7e]+$/, 'an app-level token, which begins with xapp-').optional(),
  SLACK_COMMAND: matching(
    /^\/[\p{Ll}\p{Lo}\p{N}_-]{1,31}$/u,
    "the app's slash command, such as /infra: in small letters, with at most 32 characters",
  ).prefault('/infra'),
  SLACK_API_URL: address("the base address of Slack's Web API").prefault('https://slack.com/api/'),
  INFRA_API_URL: address('the base address of the account API'),
  INFRA_API_KEY: secret(/^[\x21-\x7e]+$/, 'a key of the account API, in one word'),
  INFRA_READS_PER_MINUTE: perMinute('reads', 10).prefault('60'),
  INFRA_WRITES_PER_MINUTE: perMinute('writes', 5).prefault('20'),
  REDIS_URL: value(
    (text) => (parseRedisAddress(text) ? new Secret(text) : undefined),
    'redis:// or rediss:// with a host; special characters of a password are percent-encoded',
    { show: false },
  ),
  REDIS_SENTINEL_PASSWORD: secret(/^\S+$/, 'the password of the Sentinels, in one word').optional(),
  STATE_KEY: longSecrets('a key').optional(),
  HOST: listenAddress.prefault('0.0.0.0'),
  PORT: port.prefault('3000'),
  OPS_HOST: listenAddress.prefault('127.0.0.1'),
  OPS_PORT: port.prefault('9464'),
  ALERTS_HOST: listenAddress.prefault('127.0.0.1'),
  ALERTS_PORT: port.optional(),
  ALERTS_TOKEN: longSecrets('a token').optional(),
  MACHINES_HOST: listenAddress.prefault('127.0.0.1'),
  MACHINES_PORT: port.optional(),
  ROLE: oneOf('all', 'web', 'worker').prefault('all'),
  APPROVERS: people('the people who may approve').optional(),
  OPERATORS: people('the people who may request changes').optional(),
  CHANNELS: list(isChannelId, 'channel ids (C…, G…)').optional(),
  NO_APPROVAL: list(() => true, 'kinds of change').optional(),
  POLICY_FILE: z.string().optional(),
  APPROVAL_TTL: duration.prefault('4h'),
  OPEN_REQUESTS_PER_PERSON: wholeNumber('how many undecided requests a person may have', 1, 9_999).prefault('10'),
  MOVE_POLL_INTERVAL: duration.prefault('3s'),
  MOVE_POLL_BUDGET: wholeNumber('reads a minute', 1, 99_999).prefault('20'),
  MOVE_TIMEOUT: duration.prefault('15m'),
  OPS_CHANNEL: fitting(isChannelId, 'a channel id (C…, G…)').optional(),
  ENVIRONMENT: matching(
    /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,29}$/u,
    'a short name such as production: up to 30 letters, digits, spaces, dots, dashes',
  ).optional(),
  REDIS_PREFIX: matching(/^[A-Za-z0-9._-]{1,60}$/, 'up to 60 letters, digits, dots, dashes and underscores').prefault('lockkeeper'),
  WATCH_CHANGES: trueOrFalse,
  KEY_REVIEW: trueOrFalse,
  ALLOW_VOLATILE_REDIS: trueOrFalse,
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal').prefault('info'),
})
export type Variables = z.infer<typeof Variables>

/** Returns the same schema for these kinds of change. A bundle needs no approval if its parts need none, and is not named itself. */
export function variablesFor({ kinds, bundles, neverExempt = [] }: { kinds: ChangeKind[]; bundles: Bundles; neverExempt?: ChangeKind[] }) {
  const nameable = kinds.filter((kind) => !bundles.has(kind) && !neverExempt.includes(kind))
  return Variables.extend({ NO_APPROVAL: list((text) => nameable.includes(text), `of ${nameable.join(', ')}`).optional() })
}
