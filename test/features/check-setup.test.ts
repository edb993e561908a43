import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { type MissingRight, missingRightOf, StoreUnavailableError, type WriteRefusal, writeRefusalOf } from '../../src/domain/errors.ts'
import { Secret } from '../../src/domain/signing.ts'
import { diagnose, neededScopes, optionalScopes, readFact, report, type SetupFacts } from '../../src/features/doctor.ts'
import { findRedisFaults } from '../../src/redis/check.ts'
import { closeRedis, connectRedis } from '../../src/redis/connect.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createLastReceived } from '../../src/slack/listen.ts'
import { charactersIn } from '../sandbox/slack/validate-blocks.ts'

const granted = [...neededScopes, ...optionalScopes]
const answering = (scopes: string[] | undefined) => ({ is: 'answers', afterMs: 120, scopes }) as const

const bot = '0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from the variables'
/** A correct set-up. */
const well: SetupFacts = {
  usesSockets: false,
  command: { used: '/infra', configured: '/infra' },
  slack: answering(granted),
  home: 'shown',
  lastReceivedMs: { click: 180_000, options: 3_600_000 },
  channels: [
    { id: 'C0OPS00001', membership: { is: 'member' } },
    { id: 'C0DEPLOY01', membership: { is: 'member' } },
  ],
  opsChannel: undefined,
  groups: [{ id: 'S0ONCALL01', decides: true, reading: { is: 'read', members: 2 } }],
  alerts: { isOn: false, routes: [] },
  redis: { is: 'safe' },
  account: { is: 'answers', own: { is: 'listed', name: 'lockkeeper', readOnly: false } },
  limits: {
    perMinute: { read: 60, write: 20 },
    hasReadKey: false,
    used: [
      { kind: 'read', lane: 'execute', used: 2, waitMs: 0 },
      { kind: 'read', lane: 'person', used: 16, waitMs: 0 },
      { kind: 'read', lane: 'background', used: 0, waitMs: 0 },
      { kind: 'write', lane: 'change', used: 0, waitMs: 0 },
    ],
  },
  idsUnseen: [],
  elasticIps: { all: 5, bgp: 0 },
  clock: { ofSlackMs: -300, ofRedisMs: 12 },
  workers: { seen: 2, lastTickMs: 4_000, overdue: false },
}

/** Returns the lines that are not ok. */
function linesOf(facts: Partial<SetupFacts>): string {
  const { text } = report(bot, diagnose({ ...well, ...facts })).table
  const others = [':white_check_mark:', 'Lockkeeper', 'Tables  ·', '*Can you see this table?*']
  const lines = text.split('\n').filter((line) => !others.some((start) => line.startsWith(start)))
  return lines.join('\n')
}

describe("the operators' channel", () => {
  const lineFor = (membership: NonNullable<SetupFacts['opsChannel']>['membership']) =>
    report(bot, diagnose({ ...well, opsChannel: { id: 'C0NIGHT001', membership } }))
      .table.text.split('\n')
      .filter((line) => line.includes('*Notices:*'))
      .join('\n')

  test('has a separate line, because nobody sees that notices are missing', () => {
    const found = [{ is: 'member' }, { is: 'absent' }, { is: 'archived' }, { is: 'unreadable', why: 'no answer' }] as const
    expect(found.map(lineFor).join('\n')).toMatchInlineSnapshot(`
      ":white_check_mark: *Notices:* Notices to the people who run Lockkeeper can be posted in <#C0NIGHT001>.
      :x: *Notices:* Lockkeeper isn't in <#C0NIGHT001>, so nobody gets notices about problems. *Fix:* Run \`/invite @Lockkeeper\` there, or correct \`OPS_CHANNEL\`.
      :x: *Notices:* <#C0NIGHT001> is archived, so nobody gets notices about problems. *Fix:* Unarchive it, or set another channel in \`OPS_CHANNEL\`.
      :grey_question: *Notices:* Couldn't check whether Lockkeeper is in <#C0NIGHT001> (no answer)."
    `)
    expect(lineFor({ unavailable: 'no answer within 1.5 s' })).toMatchInlineSnapshot(
      `":grey_question: *Notices:* Couldn't check whether Lockkeeper is in <#C0NIGHT001> (no answer within 1.5 s)."`,
    )
  })
})

describe('alerts', () => {
  const routes = [
    { name: 'node down', channelId: 'C0OPS00001' },
    { name: 'edge down', channelId: 'C0EDGE0001' },
  ]
  const lineFor = (alerts: SetupFacts['alerts']) =>
    report(bot, diagnose({ ...well, alerts }))
      .table.text.split('\n')
      .filter((line) => line.includes('*Alerts:*'))

  test('are listed with their channels, and left out where nobody uses them', () => {
    expect(lineFor({ isOn: true, routes })).toMatchInlineSnapshot(`
      [
        ":white_check_mark: *Alerts:* On. They can request evacuations: “node down” in <#C0OPS00001> and “edge down” in <#C0EDGE0001>.",
      ]
    `)
    expect(lineFor({ isOn: false, routes: [] })).toEqual([])
  })

  test('that lead to nothing, or are not received, are a mistake', () => {
    expect([...lineFor({ isOn: true, routes: [] }), ...lineFor({ isOn: false, routes })]).toMatchInlineSnapshot(`
      [
        ":x: *Alerts:* On, but no entry of the policy is for them. *Fix:* Add \`alerts\` to \`POLICY_FILE\`.",
        ":x: *Alerts:* Off, although the policy has entries: “node down” in <#C0OPS00001> and “edge down” in <#C0EDGE0001>. *Fix:* Set \`ALERTS_PORT\` and \`ALERTS_TOKEN\`.",
      ]
    `)
  })
})

test('BGP addresses are counted', () => {
  const lineFor = (elasticIps: SetupFacts['elasticIps']) =>
    report(bot, diagnose({ ...well, elasticIps }))
      .table.text.split('\n')
      .filter((line) => line.includes('*Elastic IPs:*'))

  expect([{ all: 5, bgp: 1 }, { all: 5, bgp: 2 }, { unavailable: 'no answer' }].flatMap(lineFor)).toEqual([
    ":white_check_mark: *Elastic IPs:* 1 of 5 is a BGP address. Lockkeeper doesn't move it.",
    ":white_check_mark: *Elastic IPs:* 2 of 5 are BGP addresses. Lockkeeper doesn't move them.",
  ])
})

test('another command than the configured one may be a mistake: messages would name a command that does not exist', () => {
  expect(linesOf({ command: { used: '/infra-staging', configured: '/infra' } })).toMatchInlineSnapshot(`
    "*No check failed*, 1 unknown
    :grey_question: *Command:* This is \`/infra-staging\`. Notices, alerts and the Home tab name \`/infra\`. Unless the app has \`/infra\` too, set \`SLACK_COMMAND=/infra-staging\`."
  `)
})

describe('the ten mistakes', () => {
  test('none of them in a correct set-up', () => {
    expect(report(bot, diagnose(well)).table.text).toMatchInlineSnapshot(`
      "*All checks passed*
      Lockkeeper 0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from the variables
      :white_check_mark: *Slack:* Answered in 120 ms.
      :white_check_mark: *Slack scopes:* All granted.
      :white_check_mark: *App manifest:* Has the scopes and the Home tab that this version needs.
      :white_check_mark: *Buttons:* Last worked 3 min ago.
      :white_check_mark: *Pickers:* Last worked 1 h ago.
      :white_check_mark: *Channels:* Lockkeeper is in <#C0OPS00001> and <#C0DEPLOY01>.
      :white_check_mark: *User groups:* <!subteam^S0ONCALL01> has 2 members.
      :white_check_mark: *Redis:* Persistence on, no eviction, supported version.
      :white_check_mark: *Account API:* Reachable.
      :white_check_mark: *API key:* \`lockkeeper\` is accepted and can make changes.
      :white_check_mark: *Limits:* The account allows 60 reads and 20 changes a minute. Last minute: 18 reads (2 for changes, 16 for people), 0 changes.
      :white_check_mark: *Clock:* Same time as Slack and Redis.
      :white_check_mark: *Workers:* 2 running.
      Tables  ·  Slack shows this table
      *Can you see this table?* Lists such as \`ip list\` are tables."
    `)
  })

  test('1 and 9: a missing scope, with its effect, which also means an old manifest', () => {
    const scopes = granted.filter((scope) => scope !== 'usergroups:read' && scope !== 'groups:read')
    expect(linesOf({ slack: answering(scopes) })).toMatchInlineSnapshot(`
      "*2 of 13 checks failed*
      :x: *Slack scopes:* \`usergroups:read\` is missing: user groups can't be read, so their members are denied; \`groups:read\` is missing: private channels shared with another organization aren't recognized. *Fix:* Paste the current \`manifest.yml\`, with your own address, into *App Manifest* at api.slack.com/apps. Save it and reinstall the app.
      :x: *App manifest:* Older than this version of Lockkeeper: scopes are missing. *Fix:* Paste the current \`manifest.yml\`, with your own address, into *App Manifest* at api.slack.com/apps. Save it and reinstall the app."
    `)
  })

  test('1: declined optional scopes are no mistake', () => {
    const results = diagnose({ ...well, slack: answering(neededScopes) })
    expect(results.filter(({ is }) => is !== 'ok')).toEqual([])
    expect(String(results.find(({ what }) => what === 'Slack scopes')?.words)).toMatchInlineSnapshot(
      `"All required scopes granted. Without \`channels:history\` and \`groups:history\`, a message that Slack didn't confirm may appear twice, marked as a possible duplicate."`,
    )
  })

  test('1: the scopes are those of the manifest', () => {
    const file = readFileSync(join(import.meta.dirname, '../../manifest.yml'), 'utf8')
    const { bot, bot_optional } = parse(file).oauth_config.scopes
    expect(granted.toSorted()).toEqual(bot.toSorted())
    expect(optionalScopes).toEqual(bot_optional)
  })

  test('2: interactivity is off: no click has arrived, and what to do if the tests do not answer', () => {
    const lastReceivedMs = { click: undefined, options: undefined }
    expect(linesOf({ lastReceivedMs })).toMatchInlineSnapshot(`
      "*No check failed*, 2 unknown
      :grey_question: *Buttons:* No click received yet. Press *Test the buttons* below. If nothing happens, turn on *Interactivity & Shortcuts* at api.slack.com/apps. Set its *Request URL* to the address of the command.
      :grey_question: *Pickers:* No picker used yet. Open *Test the pickers* below. If the list stays empty, open *Interactivity & Shortcuts* at api.slack.com/apps. Set *Options Load URL* to the address of the command."
    `)
    expect(linesOf({ lastReceivedMs, usesSockets: true })).toMatchInlineSnapshot(`
      "*No check failed*, 2 unknown
      :grey_question: *Buttons:* No click received yet. Press *Test the buttons* below. If nothing happens, turn on *Interactivity & Shortcuts* at api.slack.com/apps. Socket Mode needs no address.
      :grey_question: *Pickers:* No picker used yet. Open *Test the pickers* below. If the list stays empty, turn on *Interactivity & Shortcuts* at api.slack.com/apps."
    `)
  })

  test('3: the app is not in a channel, or a channel is archived', () => {
    expect(
      linesOf({
        channels: [
          { id: 'C0OPS00001', membership: { is: 'absent' } },
          { id: 'C0DEPLOY01', membership: { is: 'member' } },
          { id: 'C0ALERTS01', membership: { is: 'absent' } },
          { id: 'C0OLD00001', membership: { is: 'archived' } },
          { id: 'C0HIDDEN01', membership: { is: 'unreadable', why: 'missing_scope' } },
        ],
      }),
    ).toMatchInlineSnapshot(`
      "*2 of 16 checks failed*, 1 unknown
      :x: *Channels:* Lockkeeper isn't in <#C0OPS00001> and <#C0ALERTS01>, so it can't post there. *Fix:* Run \`/invite @Lockkeeper\` there.
      :x: *Channels:* <#C0OLD00001> is archived, so Lockkeeper can't post there. *Fix:* Unarchive it, or set another channel in the configuration.
      :grey_question: *Channels:* Couldn't check whether Lockkeeper is in <#C0HIDDEN01> (missing_scope)."
    `)
  })

  test('4: Redis evicts keys, does not write to disk, or does not answer', () => {
    const faults = findRedisFaults(['redis_version:7.2.4\nmaxmemory_policy:allkeys-lru\naof_enabled:0'])
    expect([linesOf({ redis: { is: 'unsafe', faults } }), linesOf({ redis: { is: 'silent' } })].join('\n')).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*
      :x: *Redis:* Not safe for storing requests. *Fix:* Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru). Set it to noeviction. Redis doesn't write changes to disk (appendonly no). Set appendonly yes.
      *1 of 13 checks failed*
      :x: *Redis:* Not responding, so nothing can be requested, approved or tracked. *Fix:* Check that Redis runs at \`REDIS_URL\` and that Lockkeeper's host can reach it."
    `)
  })

  test('4b: Redis refuses writes, so that nobody can know whether workers run', () => {
    const refusal = writeRefusalOf('OOM') as WriteRefusal
    expect(
      linesOf({ redis: { is: 'refuses-writes', faults: [], refusal }, workers: { seen: 0, lastTickMs: 60_000, overdue: true } }),
    ).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*, 1 unknown
      :x: *Redis:* Refuses writes, because its memory is full (OOM). Nothing can be requested, approved or tracked. *Fix:* Raise maxmemory, or remove data that other programs store there.
      :grey_question: *Workers:* Unknown while Redis refuses writes: they can't report that they run. Fix Redis first, then run this command again."
    `)
  })

  test('4c: the user of Redis lacks a right', () => {
    const right = missingRightOf(new StoreUnavailableError("NOPERM User x can't run the 'info' command", 'NOPERM'), 'lockkeeper-eu')
    const keys = missingRightOf(new StoreUnavailableError('NOPERM No permissions to access a key', 'NOPERM'), 'lockkeeper-eu')
    const workers = { unavailable: 'Redis refused the command (NOPERM)' }
    expect(
      [
        linesOf({ redis: { is: 'lacks-right', right: right as MissingRight }, workers }),
        linesOf({ redis: { is: 'lacks-right', right: keys as MissingRight }, workers: { seen: 0, lastTickMs: 60_000, overdue: true } }),
      ].join('\n'),
    ).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*, 1 unknown
      :x: *Redis:* The user in REDIS_URL has no right to run the command info (NOPERM). *Fix:* Give it +info, or all rights in deploy/redis/users.acl.
      :grey_question: *Workers:* Unknown while Redis refuses Lockkeeper's user: they can't report that they run. Fix Redis first, then run this command again.
      *1 of 13 checks failed*, 1 unknown
      :x: *Redis:* The user in REDIS_URL has no right to use the keys of REDIS_PREFIX (NOPERM). *Fix:* Give it ~{lockkeeper-eu}:*, or correct REDIS_PREFIX.
      :grey_question: *Workers:* Unknown while Redis refuses Lockkeeper's user: they can't report that they run. Fix Redis first, then run this command again."
    `)
    expect(missingRightOf(new StoreUnavailableError('OOM', 'OOM'), 'lockkeeper-eu')).toBeUndefined()
  })

  test('5: the API key is rejected or read-only, or its access is unknown', () => {
    expect(
      [
        linesOf({ account: { is: 'rejects', status: 401, key: 'INFRA_API_KEY' } }),
        linesOf({ account: { is: 'rejects', status: 403, key: 'INFRA_READ_KEY' } }),
        linesOf({ account: { is: 'lacks-feature' } }),
        linesOf({ account: { is: 'answers', own: { is: 'listed', name: 'lockkeeper', readOnly: true } } }),
        linesOf({ account: { is: 'answers', own: { is: 'not-listed' } } }),
        linesOf({ account: { is: 'answers', own: { is: 'listed', name: 'lockkeeper', readOnly: undefined } } }),
      ].join('\n'),
    ).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*
      :x: *API key:* Rejected (401). Lockkeeper can't read, change or track anything. *Fix:* Set a valid \`INFRA_API_KEY\` and restart Lockkeeper. Requests in progress are kept and then continue.
      *1 of 13 checks failed*
      :x: *API key:* Rejected (403). Lockkeeper can't read, change or track anything. *Fix:* Check that the key allows the IP address of Lockkeeper's host, and that its owner is a member of the team. Or set another \`INFRA_READ_KEY\` and restart Lockkeeper.
      *No check failed*, 1 unknown
      :grey_question: *API key:* Accepted. Couldn't check whether it can make changes: the team lacks a feature that the list of keys needs. Ask the provider's support to enable it.
      *1 of 13 checks failed*
      :x: *API key:* \`lockkeeper\` is read-only, so Lockkeeper can't make changes. *Fix:* Create a key with full access, set it as \`INFRA_API_KEY\`, and restart Lockkeeper.
      *No check failed*, 1 unknown
      :grey_question: *API key:* Accepted. Couldn't check whether it can make changes: it isn't in the list of keys.
      *No check failed*, 1 unknown
      :grey_question: *API key:* \`lockkeeper\` is accepted. The account API doesn't show whether it can make changes."
    `)
  })

  test('5: the read-only key does not fit, or is the only one', () => {
    const own = { is: 'listed', name: 'lockkeeper', readOnly: false } as const
    const lines = (reading: Partial<Extract<SetupFacts['account'], { is: 'answers' }>>) => {
      const { text } = report(bot, diagnose({ ...well, account: { is: 'answers', own, ...reading } })).table
      return text.split('\n').filter((line) => /\*(API|Read-only) key:/.test(line))
    }
    const problems = ['not-listed', 'not-read-only', 'of-another-user'] as const
    expect(problems.flatMap((problem) => lines({ readKey: { problem, name: 'reads' } })[0]).join('\n')).toMatchInlineSnapshot(`
      ":x: *Read-only key:* \`INFRA_READ_KEY\` isn't in the list of keys, so lists and forms may fail. *Fix:* Create a read-only key with the user of \`INFRA_API_KEY\`, set it as \`INFRA_READ_KEY\`, and restart Lockkeeper.
      :x: *Read-only key:* \`INFRA_READ_KEY\` has full access. *Fix:* Create a read-only key with the user of \`INFRA_API_KEY\`, set it as \`INFRA_READ_KEY\`, and restart Lockkeeper.
      :x: *Read-only key:* \`INFRA_READ_KEY\` belongs to another user than \`INFRA_API_KEY\`, so it may not read the same. *Fix:* Create a read-only key with the user of \`INFRA_API_KEY\`, set it as \`INFRA_READ_KEY\`, and restart Lockkeeper."
    `)
    expect(lines({ own: { is: 'not-set' }, readKey: { problem: undefined, name: 'reads' } }).join('\n')).toMatchInlineSnapshot(`
      ":white_check_mark: *API key:* Not set. This process reads with \`INFRA_READ_KEY\`, and workers make the changes.
      :white_check_mark: *Read-only key:* \`reads\` is accepted, for reads."
    `)
  })

  test("the account's limit is no failure", () => {
    const limited = { is: 'limited', why: 'The account allows 60 reads a minute.', waitMs: 40_000 } as const
    expect(linesOf({ account: limited })).toMatchInlineSnapshot(`
      "*No check failed*, 2 unknown
      :grey_question: *Account API:* Not checked, because of the limit. The account allows 60 reads a minute. Run this command again in 40 s.
      :grey_question: *API key:* Not checked, because of the account's limit."
    `)
  })

  test('the limits say what is allowed and what was used', () => {
    const lineFor = (limits: Partial<SetupFacts['limits']>) =>
      report(bot, diagnose({ ...well, limits: { ...well.limits, ...limits } }))
        .table.text.split('\n')
        .filter((line) => line.includes('*Limits:*'))
    const written = [{ kind: 'write', lane: 'bundle', used: 14, waitMs: 0 }] as const
    expect([
      ...lineFor({ hasReadKey: true, used: [...written] }),
      ...lineFor({ used: { unavailable: "Redis isn't responding" } }),
    ]).toMatchInlineSnapshot(`
      [
        ":white_check_mark: *Limits:* The account allows 60 reads with each key and 20 changes a minute. Last minute: 0 reads, 14 changes (14 of evacuations).",
        ":grey_question: *Limits:* The account allows 60 reads and 20 changes a minute. Couldn't check: Redis isn't responding.",
      ]
    `)
  })

  test('6: the clock is wrong by at least 30 s, compared with Slack or Redis', () => {
    expect(
      [
        linesOf({ clock: { ofSlackMs: 600_000, ofRedisMs: 600_000 } }),
        linesOf({ clock: { ofSlackMs: -45_000, ofRedisMs: 29_999 } }),
        linesOf({ clock: { ofSlackMs: 0, ofRedisMs: -30_000 } }),
        linesOf({ clock: { ofSlackMs: undefined, ofRedisMs: 0 } }),
        linesOf({ clock: { ofSlackMs: undefined, ofRedisMs: { unavailable: "Redis isn't responding" } } }),
      ].join('\n'),
    ).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*
      :x: *Clock:* Lockkeeper's host is 10 min ahead of Slack (at 5 min, Lockkeeper refuses requests from Slack) and 10 min ahead of Redis (deadlines use the clock of Redis). *Fix:* Enable clock synchronization (NTP) on Lockkeeper's host.
      *1 of 13 checks failed*
      :x: *Clock:* Lockkeeper's host is 45 s behind Slack (at 5 min, Lockkeeper refuses requests from Slack). *Fix:* Enable clock synchronization (NTP) on Lockkeeper's host.
      *1 of 13 checks failed*
      :x: *Clock:* Lockkeeper's host is 30 s behind Redis (deadlines use the clock of Redis). *Fix:* Enable clock synchronization (NTP) on Lockkeeper's host and on the Redis host.
      *No check failed*, 1 unknown
      :grey_question: *Clock:* Same time as Redis. Couldn't compare with Slack: no time in its answer.
      *No check failed*, 1 unknown
      :grey_question: *Clock:* Couldn't compare with Slack: no time in its answer. Couldn't compare with Redis: Redis isn't responding."
    `)
  })

  test('7: no worker runs, or the workers are stuck', () => {
    expect(
      [
        linesOf({ workers: { seen: 0, lastTickMs: Number.POSITIVE_INFINITY, overdue: true } }),
        linesOf({ workers: { seen: 1, lastTickMs: 400_000, overdue: true } }),
        linesOf({ workers: { seen: 2, lastTickMs: Number.POSITIVE_INFINITY, overdue: true } }),
      ].join('\n'),
    ).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*
      :x: *Workers:* None running. Approved requests aren't carried out, nothing is tracked and nothing expires. *Fix:* Start a process with \`ROLE=worker\` or \`ROLE=all\`, and the same \`REDIS_URL\` and \`REDIS_PREFIX\`.
      *1 of 13 checks failed*
      :x: *Workers:* 1 running, but work that was due 5 min ago isn't done. The last tick was 6 min 40 s ago. *Fix:* Restart the workers and check their log for the cause.
      *1 of 13 checks failed*
      :x: *Workers:* 2 running, but work that was due 5 min ago isn't done. There was no tick yet. *Fix:* Restart the workers and check their log for the cause."
    `)
  })

  test('8: a user group cannot be read or is empty, with its effect', () => {
    expect(
      linesOf({
        groups: [
          { id: 'S0GONE0001', decides: true, reading: { is: 'unreadable', why: 'no_such_subteam' } },
          { id: 'S0SCOPE001', decides: true, reading: { is: 'unreadable', why: 'missing_scope' } },
          { id: 'S0EMPTY001', decides: true, reading: { is: 'read', members: 0 } },
          { id: 'S0CALLED01', decides: false, reading: { is: 'read', members: 0 } },
          { id: 'S0ONCALL01', decides: true, reading: { is: 'read', members: 1 } },
        ],
      }),
    ).toMatchInlineSnapshot(`
      "*4 of 17 checks failed*
      :x: *User groups:* <!subteam^S0GONE0001> (\`S0GONE0001\`) can't be read (no_such_subteam), so its members get no rights from it. *Fix:* Check in Slack that the user group exists and is enabled. Check its id in the configuration.
      :x: *User groups:* <!subteam^S0SCOPE001> (\`S0SCOPE001\`) can't be read (missing_scope), so its members get no rights from it. *Fix:* Add the scope \`usergroups:read\`. See *Slack scopes* in this list.
      :x: *User groups:* <!subteam^S0EMPTY001> (\`S0EMPTY001\`) is empty or disabled, so it gives nobody rights. *Fix:* Add members to it, enable it, or set others in the configuration.
      :x: *User groups:* <!subteam^S0CALLED01> (\`S0CALLED01\`) is empty or disabled, so mentioning it notifies nobody. *Fix:* Add members to it, enable it, or set others in the configuration."
    `)
  })

  test('9: the manifest is older than Lockkeeper', () => {
    expect(linesOf({ home: { refused: 'not_enabled' } })).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*
      :x: *App manifest:* Older than this version of Lockkeeper: the Home tab is off. *Fix:* Paste the current \`manifest.yml\`, with your own address, into *App Manifest* at api.slack.com/apps. Save it and reinstall the app."
    `)
  })

  test('10: the account API cannot be reached', () => {
    const problems = [
      'ENOTFOUND',
      'ECONNREFUSED',
      'UND_ERR_CONNECT_TIMEOUT',
      'cancelled by the caller',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'ECONNRESET',
    ]
    expect(problems.map((problem) => linesOf({ account: { is: 'unreachable', problem } })).join('\n')).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*, 1 unknown
      :x: *Account API:* Not reachable: hostname not found (ENOTFOUND). *Fix:* Check the hostname in \`INFRA_API_URL\` and the DNS server.
      :grey_question: *API key:* Not checked, because the account API isn't reachable.
      *1 of 13 checks failed*, 1 unknown
      :x: *Account API:* Not reachable: connection refused (ECONNREFUSED). *Fix:* Check the port in \`INFRA_API_URL\` and the firewalls on the way.
      :grey_question: *API key:* Not checked, because the account API isn't reachable.
      *1 of 13 checks failed*, 1 unknown
      :x: *Account API:* Not reachable: timed out (UND_ERR_CONNECT_TIMEOUT). *Fix:* Check that firewalls and proxies let Lockkeeper's host reach \`INFRA_API_URL\`. Check whether the account API is slow.
      :grey_question: *API key:* Not checked, because the account API isn't reachable.
      *1 of 13 checks failed*, 1 unknown
      :x: *Account API:* Not reachable: timed out. *Fix:* Check that firewalls and proxies let Lockkeeper's host reach \`INFRA_API_URL\`. Check whether the account API is slow.
      :grey_question: *API key:* Not checked, because the account API isn't reachable.
      *1 of 13 checks failed*, 1 unknown
      :x: *Account API:* Not reachable: TLS certificate not trusted (DEPTH_ZERO_SELF_SIGNED_CERT). *Fix:* Check the hostname in \`INFRA_API_URL\` and the clock of Lockkeeper's host. For your own certificate authority, set \`NODE_EXTRA_CA_CERTS\`.
      :grey_question: *API key:* Not checked, because the account API isn't reachable.
      *1 of 13 checks failed*, 1 unknown
      :x: *Account API:* Not reachable: connection lost (ECONNRESET). *Fix:* Check the proxies, firewalls and load balancers between Lockkeeper's host and \`INFRA_API_URL\`.
      :grey_question: *API key:* Not checked, because the account API isn't reachable."
    `)
  })

  test('10: the account API answers with an error, and Slack does not answer', () => {
    expect(
      [
        linesOf({ account: { is: 'fails', status: 404 } }),
        linesOf({ account: { is: 'fails', status: 503 } }),
        linesOf({ slack: { is: 'silent', problem: 'no answer' } }),
        linesOf({ slack: { is: 'rejects', error: 'token_revoked' } }),
      ].join('\n'),
    ).toMatchInlineSnapshot(`
      "*1 of 13 checks failed*, 1 unknown
      :x: *Account API:* Returned an error (404) for the list of API keys. *Fix:* Check that \`INFRA_API_URL\` is the base address in the account API's documentation.
      :grey_question: *API key:* Not checked, because the account API didn't list the keys.
      *1 of 13 checks failed*, 1 unknown
      :x: *Account API:* Returned an error (503) for the list of API keys. *Fix:* Wait a minute and run this command again. If the error stays, check the status page of the account API.
      :grey_question: *API key:* Not checked, because the account API didn't list the keys.
      *1 of 13 checks failed*, 2 unknown
      :x: *Slack:* Not responding (no answer). *Fix:* Check that Lockkeeper's host can reach slack.com: DNS, firewall, proxy, and \`SLACK_API_URL\` if set.
      :grey_question: *Slack scopes:* Couldn't check: Slack doesn't show which are granted.
      :grey_question: *App manifest:* Couldn't check: Slack doesn't show which are granted.
      *1 of 13 checks failed*, 2 unknown
      :x: *Slack:* Rejected the bot token (token_revoked). *Fix:* Reinstall the app, set \`SLACK_BOT_TOKEN\` to its Bot User OAuth Token (*OAuth & Permissions*), and restart Lockkeeper.
      :grey_question: *Slack scopes:* Couldn't check: Slack doesn't show which are granted.
      :grey_question: *App manifest:* Couldn't check: Slack doesn't show which are granted."
    `)
  })
})

test('a fact that cannot be read is reported as unknown, and the others are still checked', () => {
  const unavailable = { unavailable: 'no answer within 1.5 s' }
  expect(
    linesOf({
      home: unavailable,
      lastReceivedMs: unavailable,
      channels: [{ id: 'C0OPS00001', membership: unavailable }],
      groups: [{ id: 'S0ONCALL01', decides: true, reading: unavailable }],
      redis: { unavailable: 'Redis refuses it (NOPERM)' },
      account: unavailable,
      clock: { ofSlackMs: unavailable, ofRedisMs: unavailable },
      workers: unavailable,
    }),
  ).toMatchInlineSnapshot(`
    "*No check failed*, 9 unknown
    :grey_question: *App manifest:* Couldn't check: no answer within 1.5 s.
    :grey_question: *Buttons:* Couldn't check: no answer within 1.5 s.
    :grey_question: *Pickers:* Couldn't check: no answer within 1.5 s.
    :grey_question: *Channels:* Couldn't check whether Lockkeeper is in <#C0OPS00001> (no answer within 1.5 s).
    :grey_question: *User groups:* Couldn't check whether <!subteam^S0ONCALL01> (\`S0ONCALL01\`) can be read: no answer within 1.5 s.
    :grey_question: *Redis:* Couldn't check: Redis refuses it (NOPERM).
    :grey_question: *Account API:* Couldn't check: no answer within 1.5 s.
    :grey_question: *Clock:* Couldn't compare with Slack: no answer within 1.5 s. Couldn't compare with Redis: no answer within 1.5 s.
    :grey_question: *Workers:* Couldn't check: no answer within 1.5 s."
  `)
})

test('the report fits into a message with many errors, and keeps the tests below', () => {
  const groups = Array.from({ length: 80 }, (_, index) => ({
    id: `S0GONE${String(index).padStart(4, '0')}`,
    decides: true,
    reading: { is: 'unreadable', why: 'no_such_subteam' } as const,
  }))
  const { blocks, text } = report(bot, diagnose({ ...well, groups })).table
  expect(charactersIn(blocks)).toBeLessThanOrEqual(10_000)
  expect(blocks.length).toBeGreaterThan(30)
  expect(JSON.stringify(blocks.at(-6))).toMatch(/\d\d more parts don't fit here and aren't shown/)
  expect(blocks.slice(-5).map(({ type }) => type)).toEqual(['data_table', 'section', 'actions', 'actions', 'actions'])
  expect(text.length).toBeLessThanOrEqual(4_000)
})

describe('a read of one fact', () => {
  test('ends by itself if it hangs', async () => {
    const found = await readFact(() => new Promise<never>(() => {}))
    expect(found).toEqual({ unavailable: 'no answer within 1.5 s' })
  })

  test('does not show the text of an error', async () => {
    const found = await readFact(async () => {
      throw new Error('connect ECONNREFUSED redis.internal.example:6379 with password correct-horse')
    })
    expect(found).toEqual({ unavailable: 'no answer' })
  })
})

describe('the time of the last arrival from Slack', () => {
  const start = 1_800_000_000_000

  test('is stored for all replicas, at most once a minute', async () => {
    const redis = connectRedis(new Secret(inject('redisUrl')), 'patient', () => {})
    onTestFinished(() => closeRedis(redis))
    const keys = createKeys(`test-${randomBytes(6).toString('hex')}`)
    let now = start
    const [one, other] = [createLastReceived({ redis, keys }, () => now), createLastReceived({ redis, keys }, () => now)]
    expect(await other.read()).toEqual({ click: undefined, options: undefined })

    one.note('click')
    await expect.poll(other.read).toEqual({ click: 0, options: undefined })
    now += 59_000
    one.note('click')
    one.note('options')
    await expect.poll(other.read).toEqual({ click: 59_000, options: 0 })
    now += 1_000
    one.note('click')
    await expect.poll(other.read).toEqual({ click: 0, options: 1_000 })
  })

  test('causes no error if it cannot be stored', async () => {
    const redis = connectRedis(new Secret(inject('redisUrl')), 'prompt', () => {})
    redis.disconnect()
    const { note, read } = createLastReceived({ redis, keys: createKeys('test') }, () => start)
    note('click')
    await expect(read()).rejects.toThrow('Redis')
  })
})
