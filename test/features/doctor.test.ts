import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ApiKey } from '../../src/account/objects.ts'
import { readFact } from '../../src/checks/check.ts'
import { diagnose, examine, type SetupFacts } from '../../src/checks/list.ts'
import { neededScopes, optionalScopes } from '../../src/checks/slack.ts'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  missingRightIn,
  type WriteRefusal,
  writeRefusalOf,
} from '../../src/domain/errors.ts'
import type { PolicyRule } from '../../src/domain/policy.ts'
import { report } from '../../src/features/doctor.ts'
import { findRedisFaults } from '../../src/redis/connections.ts'
import { fakeApp } from '../fake-app.ts'
import { expectDocument } from '../messages/documents.ts'
import { charactersIn } from '../sandbox/slack/validate-blocks.ts'

const unread = (why: string) => ({ is: 'unreadable' as const, why })
const granted = [...neededScopes, ...optionalScopes]
const slack = (scopes: string[] | undefined) => ({ slack: { is: 'answers', afterMs: 120, scopes } as const })
const without = (...scopes: string[]) => slack(granted.filter((scope) => !scopes.includes(scope)))

const key = (more: Partial<ApiKey>) => ({ id: 'ak_1', name: 'lockkeeper', tokenLastSlice: 'aaaaa', readOnly: false, ...more }) as ApiKey
const own = { ownLastSlice: 'aaaaa' }
const keys = (all: ApiKey[]) => ({ account: { keys: all, own } })
const failing = (error: ApiError | ApiContractError | ApiUnreachableError | AccountLimitError) => ({ account: { keys: [], own, error } })
const status = (code: number, more: { codes?: string[] } = {}) =>
  failing(new ApiError({ operation: 'apiKeys.list', status: code, codes: [], ...more }))
const away = (problem: string) => failing(new ApiUnreachableError({ operation: 'apiKeys.list', requestSent: 'no', problem }))

/** A correct set-up. */
const well: SetupFacts = {
  transport: 'HTTP',
  command: { used: '/infra', configured: '/infra' },
  ...slack(granted),
  home: 'shown',
  confirmations: { rules: [], checks: [] },
  lastReceivedMs: { click: 180_000, options: 3_600_000 },
  channels: [
    { id: 'C0OPS00001', membership: { is: 'member' } },
    { id: 'C0DEPLOY01', membership: { is: 'member' } },
  ],
  opsChannel: { id: 'C0NIGHT001', membership: { is: 'member' } },
  groups: [{ id: 'S0ONCALL01', rule: 'APPROVERS', reading: { is: 'read', members: 2 } }],
  alerts: { isOn: true, listed: [{ name: 'node down', channelId: 'C0OPS00001' }] },
  machines: { isOn: true, listed: [{ name: 'ci', channelId: 'C0OPS00001' }] },
  redis: { is: 'safe' },
  stateKey: true,
  freeze: { on: undefined, planned: undefined, isUnreadable: false, ofPolicy: [] },
  ...keys([key({})]),
  limits: {
    perMinute: { read: 60, write: 20 },
    used: [
      { kind: 'read', lane: 'send', used: 2, waitMs: 0 },
      { kind: 'read', lane: 'person', used: 16, waitMs: 0 },
      { kind: 'write', lane: 'bundle', used: 1, waitMs: 0 },
    ],
  },
  idsUnseen: [],
  aheadOfSlackMs: -300,
  aheadOfRedisMs: 12,
  workers: { seen: 2, lastTickMs: 4_000, overdue: false },
}
const bot = '0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from the variables'
const reportOn = (facts: Partial<SetupFacts>) => report(bot, diagnose({ ...well, ...facts }))

test('alerts and machines have a line only with the ability that takes them, and alerts are not received if nothing can be requested for them', async () => {
  const port = { host: '127.0.0.1', port: 1, tokens: [] }
  const listed = [{ name: 'one', channelId: 'C0OPS00001' }]
  const config = { alerts: port, machines: port, policy: { alerts: listed, machines: listed } } as never
  const linesWith = async (ports: string[], change?: unknown) =>
    (await examine(fakeApp({ config, ports, catalog: { changeOfAlerts: () => change as never } }), ['alerts', 'machines'])).map(
      ({ what, is }) => `${what}: ${is}`,
    )
  expect(await linesWith(['alertsPort', 'machinesPort'], {})).toEqual(['Alerts: ok', 'Machines: ok'])
  expect(await linesWith(['alertsPort'])).toEqual(['Alerts: wrong'])
  expect(await linesWith([], {})).toEqual([])
})

const blackFriday = { name: 'Black Friday', from: Date.UTC(2026, 10, 27), to: Date.UTC(2026, 10, 30) }
const record = (more: object) => ({ revision: 1, isOn: true, setAt: 0, from: 0, before: [], id: 'f1', ...more })
const frozen = ({ on, planned, ...more }: { on?: object; planned?: object; isUnreadable?: true; ofPolicy?: (typeof blackFriday)[] }) => ({
  freeze: {
    isUnreadable: false,
    ofPolicy: [],
    ...more,
    on: on && record(on),
    planned: planned && record(planned),
  },
})

/** What may be wrong with a set-up, and two ways in which it is right. */
const situations: Record<string, Partial<SetupFacts>> = {
  'Scopes are missing': without('usergroups:read', 'groups:read'),
  'The Home tab is off': { home: { refused: 'not_enabled' } },
  "Slack doesn't say which scopes are granted": slack(undefined),
  'Another command than the configured one': { command: { used: '/infra-staging', configured: '/infra' } },
  'Nothing has arrived yet': { lastReceivedMs: { click: undefined, options: undefined } },
  'Nothing has arrived yet, over Socket Mode': { transport: 'Socket Mode', lastReceivedMs: { click: undefined, options: undefined } },
  'Lockkeeper is not in channels': {
    channels: [
      { id: 'C0OPS00001', membership: { is: 'absent' } },
      { id: 'C0DEPLOY01', membership: { is: 'member' } },
      { id: 'C0ALERTS01', membership: { is: 'absent' } },
      { id: 'C0OLD00001', membership: { is: 'archived' } },
      { id: 'C0HIDDEN01', membership: { is: 'unreadable', why: 'missing_scope' } },
    ],
    opsChannel: { id: 'C0NIGHT001', membership: { is: 'absent' } },
  },
  'People and user groups are made up, cannot be read, or are empty': {
    groups: [
      { id: 'S0GONE0001', rule: 'production', reading: { is: 'unreadable', why: 'no_such_subteam' } },
      { id: 'U0GONE0001', rule: 'APPROVERS', reading: { is: 'unreadable', why: 'user_not_found' } },
      { id: 'U0AWAY0001', rule: 'APPROVERS', reading: { is: 'unreadable', why: 'fetch failed' } },
      { id: 'S0EMPTY001', rule: 'production', reading: { is: 'read', members: 0 } },
      { id: 'S0ONCALL01', rule: 'APPROVERS', reading: { is: 'read', members: 1 } },
    ],
  },
  'Alerts lead to nothing': { alerts: { isOn: true, listed: [] } },
  'Machines are not named': { machines: { isOn: true, listed: [] } },
  'Machines are not listened to': { machines: { isOn: false, listed: [{ name: 'ci', channelId: 'C0OPS00001' }] } },
  'Alerts are not received': { alerts: { isOn: false, listed: [{ name: 'node down', channelId: 'C0OPS00001' }] } },
  'Approvers have no passkey, under several rules': {
    confirmations: {
      checks: [],
      rules: (['moves', 'keys', 'names', 'passkeys'] as const).map((name) => ({
        rule: { name } as PolicyRule,
        needed: name === 'keys' ? 2 : 1,
        able: [],
        unable: name === 'names' ? ['U0CHI00001'] : ['U0BEN00001', 'U0CHI00001'],
      })),
    },
  },
  'Redis could lose requests': {
    redis: { is: 'unsafe', faults: findRedisFaults(['redis_version:7.2.4\nmaxmemory_policy:allkeys-lru\naof_enabled:0']) },
  },
  'Another process signs with another key': { stateKey: false },
  'Redis is away': { redis: { is: 'silent', problem: 'ECONNREFUSED' }, workers: unread("Redis isn't responding") },
  'Redis refuses writes, so that nobody knows whether workers run': {
    redis: { is: 'refuses-writes', faults: [], refusal: writeRefusalOf('OOM') as WriteRefusal },
    workers: { seen: 0, lastTickMs: 60_000, overdue: true },
  },
  'The user of Redis may not run a command': {
    redis: {
      is: 'lacks-right',
      right: missingRightIn("NOPERM User x can't run the 'info' command", 'eu'),
    },
  },
  'The user of Redis may not use the keys': {
    redis: {
      is: 'lacks-right',
      right: missingRightIn('NOPERM No permissions to access a key', 'eu'),
    },
  },
  'Somebody has frozen everything, and the policy does': frozen({
    on: { by: 'U0BEN00001', until: Date.UTC(2026, 10, 27, 18) },
    ofPolicy: [blackFriday],
  }),
  'A freeze of the policy is on': frozen({ ofPolicy: [blackFriday] }),
  'A freeze begins later': frozen({ planned: { by: 'U0BEN00001', from: Date.UTC(2026, 10, 27, 18) } }),
  'Lockkeeper has frozen everything': frozen({ on: { because: 'set-back' } }),
  'The record of freezes was signed with another key': frozen({ isUnreadable: true }),
  'The API key is rejected': status(401),
  'The API key may not be used from here': status(403),
  'The team has no list of keys': status(403, { codes: ['FEATURE_NOT_ENABLED'] }),
  'The API key is read-only': keys([key({ readOnly: true })]),
  'The API key may be read-only': keys([key({ readOnly: undefined })]),
  ...Object.fromEntries(
    ['ENOTFOUND', 'ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'cancelled by the caller', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ECONNRESET'].map(
      (problem) => [`The account API cannot be reached: ${problem}`, away(problem)],
    ),
  ),
  'The account API knows no such address': status(404),
  'The address is not of the account API': failing(new ApiContractError({ operation: 'apiKeys.list', status: 200, problem: 'not JSON' })),
  'The account API has an outage': status(503),
  "The account's limit is used up": failing(
    new AccountLimitError({ operation: 'x', kind: 'read', waitMs: 40_000, perMinute: 60, answered: false }),
  ),
  'The policy names ids that nothing shows': { idsUnseen: ['proj_1', 'proj_2'] },
  'The clock is ahead': { aheadOfSlackMs: 600_000, aheadOfRedisMs: 29_999 },
  'The clock is behind that of Redis': { aheadOfSlackMs: undefined, aheadOfRedisMs: -30_000 },
  'No worker runs': { workers: { seen: 0, lastTickMs: Number.POSITIVE_INFINITY, overdue: true } },
  'Workers are stuck': { workers: { seen: 1, lastTickMs: 400_000, overdue: true } },
  'Workers never began': { workers: { seen: 2, lastTickMs: Number.POSITIVE_INFINITY, overdue: true } },
  'Slack answers other calls, and one too late': { slack: unread('no answer within 1.5 s') },
  'Slack is away': { slack: { is: 'unknown', problem: 'no answer' } },
  'The bot token is rejected': { slack: { is: 'refused', error: 'token_revoked' } },
  'Nothing can be read': Object.fromEntries(Object.keys(well).map((name) => [name, unread('no answer within 1.5 s')])),
}

test('the report in each situation reads as in doctor.md', async () => {
  const problems = (facts: Partial<SetupFacts>) =>
    reportOn(facts)
      .text.split('\n')
      .filter((line) => !/^(:white_check_mark:|Lockkeeper)/.test(line))
  await expectDocument('doctor.md', 'What `/infra doctor` reports', [
    ['All is well', reportOn({}).text],
    ['Nothing that is optional', reportOn(bare).text],
    ...Object.entries(situations).map(([name, facts]): [string, string] => [name, problems(facts).join('\n')]),
  ])
})

const bare: Partial<SetupFacts> = {
  ...slack(neededScopes),
  opsChannel: undefined,
  alerts: { isOn: false, listed: [] },
  machines: { isOn: false, listed: [] },
  limits: { perMinute: { read: 60, write: 20 }, used: [] },
}

test('the scopes are those of the manifest', () => {
  const file = readFileSync(join(import.meta.dirname, '../../manifest.yml'), 'utf8')
  const { bot: scopes, bot_optional } = parse(file).oauth_config.scopes
  expect(granted.toSorted()).toEqual(scopes.toSorted())
  expect(optionalScopes).toEqual(bot_optional)
})

test('the report fits into a message with many errors, and keeps the tests below', () => {
  const groups = Array.from({ length: 80 }, (_, index) => ({
    id: `S0GONE${String(index).padStart(4, '0')}`,
    rule: 'production',

    reading: { is: 'unreadable', why: 'no_such_subteam' } as const,
  }))
  const { blocks, text } = reportOn({ groups })
  expect(charactersIn(blocks)).toBeLessThanOrEqual(10_000)
  expect(blocks.length).toBeGreaterThan(30)
  expect(JSON.stringify(blocks.at(-3))).toMatch(/\d\d more parts don't fit here and aren't shown/)
  expect(blocks.slice(-2).map(({ type }) => type)).toEqual(['actions', 'actions'])
  expect(text.length).toBeLessThanOrEqual(4_000)
})

describe('a read of one fact', () => {
  test('ends by itself if it hangs', async () => {
    const found = await readFact(() => new Promise<never>(() => {}))
    expect(found).toEqual(unread('no answer within 1.5 s'))
  })

  test('counts if it arrives while the process stands still for longer than the limit', async () => {
    const read = readFact(() => new Promise((resolve) => setImmediate(() => setImmediate(() => resolve('read')))))
    const end = performance.now() + 1_600
    while (performance.now() < end);
    expect(await read).toBe('read')
  })

  test('does not show the text of an error', async () => {
    const found = await readFact(async () => {
      throw new Error('connect ECONNREFUSED redis.internal.example:6379 with password correct-horse')
    })
    expect(found).toEqual(unread('no answer'))
  })
})
