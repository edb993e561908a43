import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { Secret } from '../../src/domain/secret.ts'
import { neededScopes, optionalScopes } from '../../src/features/check-setup/checks/slack.ts'
import { diagnose } from '../../src/features/check-setup/diagnose.ts'
import type { SetupFacts } from '../../src/features/check-setup/facts.ts'
import { readFact } from '../../src/features/check-setup/read-fact.ts'
import { report } from '../../src/features/check-setup/report.ts'
import { closeRedis, connectRedis } from '../../src/redis/connect.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createLastReceived } from '../../src/requests/interactions/last-received.ts'
import { charactersIn } from '../sandbox/slack/characters-in.ts'

const granted = [...neededScopes, ...optionalScopes]
const answering = (scopes: string[] | undefined) => ({ is: 'answers', afterMs: 120, scopes }) as const

/** A correct set-up. */
const well: SetupFacts = {
  bot: '0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from the variables',
  usesSockets: false,
  slack: answering(granted),
  home: 'shown',
  lastReceivedMs: { click: 180_000, options: 3_600_000 },
  channels: [
    { id: 'C0OPS00001', membership: { is: 'member' } },
    { id: 'C0DEPLOY01', membership: { is: 'member' } },
  ],
  groups: [{ id: 'S0ONCALL01', decides: true, reading: { is: 'read', members: 2 } }],
  redis: { faults: [] },
  accountApi: { is: 'answers', known: true, name: 'lockkeeper', readOnly: false },
  clock: { ofSlackMs: -300, ofRedisMs: 12 },
  workers: { seen: 2, lastTickMs: 4_000, overdue: false },
}

/** Returns the lines that are not ok. */
function linesOf(facts: Partial<SetupFacts>): string {
  const { text } = report(well.bot, diagnose({ ...well, ...facts })).table
  const others = [':white_check_mark:', 'Lockkeeper', '*Can you see this table?*']
  const lines = text.split('\n').filter((line) => !others.some((start) => line.startsWith(start)))
  return lines.join('\n')
}

describe('the ten mistakes', () => {
  test('none of them in a correct set-up', () => {
    expect(report(well.bot, diagnose(well)).table.text).toMatchInlineSnapshot(`
      "*Nothing needs mending*
      Lockkeeper 0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from the variables
      :white_check_mark: *Slack* answers after 120 ms.
      :white_check_mark: *Slack's scopes* all granted.
      :white_check_mark: *The app's manifest* has the scopes and the Home tab that this version needs.
      :white_check_mark: *Buttons* last worked 3 min ago.
      :white_check_mark: *Pickers* last worked 1 h ago.
      :white_check_mark: *Channels* I am in <#C0OPS00001> and <#C0DEPLOY01>.
      :white_check_mark: *User groups* <!subteam^S0ONCALL01> has 2 members.
      :white_check_mark: *Redis* keeps what it is told: it evicts nothing, writes to disk, and is new enough.
      :white_check_mark: *The account API* answers.
      :white_check_mark: *The API key* \`lockkeeper\` is accepted, and may make changes.
      :white_check_mark: *The clock* agrees with that of Slack and Redis.
      :white_check_mark: *Workers* 2 are at work.
      *Can you see this table?* Lists such as \`ip list\` are tables."
    `)
  })

  test('1 and 9: a missing scope, with its effect, which also means an old manifest', () => {
    const scopes = granted.filter((scope) => scope !== 'usergroups:read' && scope !== 'groups:read')
    expect(linesOf({ slack: answering(scopes) })).toMatchInlineSnapshot(`
      "*2 of 12 need mending*
      :x: *Slack's scopes* \`usergroups:read\` is missing: nobody can be told to be in a user group, so its members are denied; \`groups:read\` is missing: a private channel that is shared with another organisation is not noticed. *To mend it:* Paste the present manifest.yml, with your own address in it, into *App Manifest* at api.slack.com/apps, save it, and reinstall the app.
      :x: *The app's manifest* is older than I am: it lacks scopes. *To mend it:* Paste the present manifest.yml, with your own address in it, into *App Manifest* at api.slack.com/apps, save it, and reinstall the app."
    `)
  })

  test('1: declined optional scopes are no mistake', () => {
    const results = diagnose({ ...well, slack: answering(neededScopes) })
    expect(results.filter(({ is }) => is !== 'ok')).toEqual([])
    expect(String(results.find(({ what }) => what === "Slack's scopes")?.words)).toMatchInlineSnapshot(
      `"all that are needed. Without \`channels:history\` and \`groups:history\` a message whose answer was lost may come twice, and says so."`,
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
      "*Nothing needs mending*, 2 are not known
      :grey_question: *Buttons* no click has ever reached me. Press *Test the buttons* below. If nothing answers, turn on *Interactivity & Shortcuts* at api.slack.com/apps, with the address of the command as its *Request URL*.
      :grey_question: *Pickers* none has ever asked me for its choices. Open *Test the pickers* below. If it stays empty, enter the address of the command as *Options Load URL* under *Interactivity & Shortcuts* too: pickers have one of their own."
    `)
    expect(linesOf({ lastReceivedMs, usesSockets: true })).toMatchInlineSnapshot(`
      "*Nothing needs mending*, 2 are not known
      :grey_question: *Buttons* no click has ever reached me. Press *Test the buttons* below. If nothing answers, turn on *Interactivity & Shortcuts* at api.slack.com/apps; with Socket Mode there is no address to enter.
      :grey_question: *Pickers* none has ever asked me for its choices. Open *Test the pickers* below. If it stays empty, turn on *Interactivity & Shortcuts* at api.slack.com/apps."
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
      "*2 of 15 need mending*, 1 is not known
      :x: *Channels* I am not in <#C0OPS00001> and <#C0ALERTS01>, so I can post nothing there. *To mend it:* Type */invite @Lockkeeper* there.
      :x: *Channels* <#C0OLD00001> is archived, so I can post nothing there. *To mend it:* Bring it back, or name another channel in the configuration.
      :grey_question: *Channels* whether I am in <#C0HIDDEN01> could not be found out: Slack did not tell (missing_scope)."
    `)
  })

  test('4: Redis evicts keys, does not write to disk, or does not answer', () => {
    const faults = [
      'Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru): set it to noeviction.',
      'Redis does not write what it is told to disk (appendonly no): set appendonly yes.',
    ]
    expect([linesOf({ redis: { faults } }), linesOf({ redis: { silent: 'no answer' } })].join('\n')).toMatchInlineSnapshot(`
      "*1 of 12 needs mending*
      :x: *Redis* is not fit to keep requests. *To mend it:* Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru): set it to noeviction. Redis does not write what it is told to disk (appendonly no): set appendonly yes.
      *1 of 12 needs mending*
      :x: *Redis* does not answer, so nothing can be asked for, decided or followed. *To mend it:* See that it runs at REDIS_URL, and that the machine that I run on may reach it."
    `)
  })

  test('5: the API key is rejected or read-only, or its access is unknown', () => {
    expect(
      [
        linesOf({ accountApi: { is: 'rejects', status: 401 } }),
        linesOf({ accountApi: { is: 'rejects', status: 403 } }),
        linesOf({ accountApi: { is: 'lacks-feature' } }),
        linesOf({ accountApi: { is: 'answers', known: true, name: 'lockkeeper', readOnly: true } }),
        linesOf({ accountApi: { is: 'answers', known: false, name: undefined, readOnly: undefined } }),
        linesOf({ accountApi: { is: 'answers', known: true, name: 'lockkeeper', readOnly: undefined } }),
      ].join('\n'),
    ).toMatchInlineSnapshot(`
      "*1 of 12 needs mending*
      :x: *The API key* is rejected (401): nothing can be looked at, carried out or followed. *To mend it:* Set a valid INFRA_API_KEY, and start me again. What is under way is kept, and goes on then.
      *1 of 12 needs mending*
      :x: *The API key* is rejected (403): nothing can be looked at, carried out or followed. *To mend it:* See that the key may be used from the address that I run at, and by a member of the team; or set another INFRA_API_KEY and start me again.
      *Nothing needs mending*, 1 is not known
      :grey_question: *The API key* is accepted. Whether it may make changes could not be found out: a feature that listing keys needs is not enabled for the team. Ask the provider's support to enable it.
      *1 of 12 needs mending*
      :x: *The API key* \`lockkeeper\` is read-only: nothing can be changed with it. *To mend it:* Make a key that is not read-only, set it as INFRA_API_KEY, and start me again.
      *Nothing needs mending*, 1 is not known
      :grey_question: *The API key* is accepted. Whether it may make changes could not be found out: it is not in the list of keys.
      *Nothing needs mending*, 1 is not known
      :grey_question: *The API key* \`lockkeeper\` is accepted. Whether it may make changes is not told."
    `)
  })

  test('6: the clock is wrong by at least 30 s, compared with Slack or Redis', () => {
    expect(
      [
        linesOf({ clock: { ofSlackMs: 600_000, ofRedisMs: 600_000 } }),
        linesOf({ clock: { ofSlackMs: -45_000, ofRedisMs: 29_999 } }),
        linesOf({ clock: { ofSlackMs: 0, ofRedisMs: -30_000 } }),
        linesOf({ clock: { ofSlackMs: undefined, ofRedisMs: 0 } }),
        linesOf({ clock: { ofSlackMs: undefined, ofRedisMs: { unavailable: 'Redis does not answer' } } }),
      ].join('\n'),
    ).toMatchInlineSnapshot(`
      "*1 of 12 needs mending*
      :x: *The clock* of the machine that I run on is 10 min ahead of that of Slack (requests that are 5 min off are refused) and 10 min ahead of that of Redis (all waiting is counted by its clock). *To mend it:* Turn on the synchronisation of that machine's clock (NTP).
      *1 of 12 needs mending*
      :x: *The clock* of the machine that I run on is 45 s behind that of Slack (requests that are 5 min off are refused). *To mend it:* Turn on the synchronisation of that machine's clock (NTP).
      *1 of 12 needs mending*
      :x: *The clock* of the machine that I run on is 30 s behind that of Redis (all waiting is counted by its clock). *To mend it:* Turn on the synchronisation of clocks (NTP) on that machine and on the one that Redis runs on.
      *Nothing needs mending*, 1 is not known
      :grey_question: *The clock* agrees with that of Redis. It could not be compared with that of Slack: its answer does not tell.
      *Nothing needs mending*, 1 is not known
      :grey_question: *The clock* could not be compared with that of Slack: its answer does not tell. It could not be compared with that of Redis: Redis does not answer."
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
      "*1 of 12 needs mending*
      :x: *Workers* none is at work: what is approved is not carried out, nothing is followed, and nothing expires. *To mend it:* Start a process with ROLE=worker or ROLE=all, with the same REDIS_URL and REDIS_PREFIX.
      *1 of 12 needs mending*
      :x: *Workers* one is at work, but what was due 5 min ago has not been attended to. The last round was 6 min 40 s ago. *To mend it:* Start the workers again, and look into their log for what holds them up.
      *1 of 12 needs mending*
      :x: *Workers* 2 are at work, but what was due 5 min ago has not been attended to. There was no round yet. *To mend it:* Start the workers again, and look into their log for what holds them up."
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
      "*4 of 16 need mending*
      :x: *User groups* <!subteam^S0GONE0001> (\`S0GONE0001\`) cannot be read (no_such_subteam), so everybody who counts on it is denied. *To mend it:* See among Slack's user groups that it is there and not disabled, and that its id in the configuration is right.
      :x: *User groups* <!subteam^S0SCOPE001> (\`S0SCOPE001\`) cannot be read (missing_scope), so everybody who counts on it is denied. *To mend it:* Give the app the scope \`usergroups:read\`, as the line on its scopes says.
      :x: *User groups* <!subteam^S0EMPTY001> (\`S0EMPTY001\`) is empty or disabled, so nobody may ask or approve by it. *To mend it:* Put people into it, turn it on again, or name others in the configuration.
      :x: *User groups* <!subteam^S0CALLED01> (\`S0CALLED01\`) is empty or disabled, so a card that mentions it calls nobody. *To mend it:* Put people into it, turn it on again, or name others in the configuration."
    `)
  })

  test('9: the manifest is older than Lockkeeper', () => {
    expect(linesOf({ home: { refused: 'not_enabled' } })).toMatchInlineSnapshot(`
      "*1 of 12 needs mending*
      :x: *The app's manifest* is older than I am: its Home tab is off. *To mend it:* Paste the present manifest.yml, with your own address in it, into *App Manifest* at api.slack.com/apps, save it, and reinstall the app."
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
    expect(problems.map((problem) => linesOf({ accountApi: { is: 'unreachable', problem } })).join('\n')).toMatchInlineSnapshot(`
      "*1 of 11 needs mending*
      :x: *The account API* cannot be reached: its name is not found (ENOTFOUND). *To mend it:* See that the host name in INFRA_API_URL is right, and that the name server knows it.
      *1 of 11 needs mending*
      :x: *The account API* cannot be reached: the connection is refused (ECONNREFUSED). *To mend it:* See that the port in INFRA_API_URL is right, and that nothing in between refuses it.
      *1 of 11 needs mending*
      :x: *The account API* cannot be reached: no answer in time (UND_ERR_CONNECT_TIMEOUT). *To mend it:* See that a firewall or proxy lets this machine reach INFRA_API_URL, and whether the account API is slow just now.
      *1 of 11 needs mending*
      :x: *The account API* cannot be reached: no answer in time. *To mend it:* See that a firewall or proxy lets this machine reach INFRA_API_URL, and whether the account API is slow just now.
      *1 of 11 needs mending*
      :x: *The account API* cannot be reached: its certificate does not convince (DEPTH_ZERO_SELF_SIGNED_CERT). *To mend it:* See that INFRA_API_URL names the right host and that this clock is right; a certificate authority of your own goes into NODE_EXTRA_CA_CERTS.
      *1 of 11 needs mending*
      :x: *The account API* cannot be reached: the connection breaks (ECONNRESET). *To mend it:* See what stands between this machine and INFRA_API_URL: a proxy, a firewall, a balancer."
    `)
  })

  test('10: the account API answers with an error, and Slack does not answer', () => {
    expect(
      [
        linesOf({ accountApi: { is: 'fails', status: 404 } }),
        linesOf({ accountApi: { is: 'fails', status: 503 } }),
        linesOf({ slack: { is: 'silent', problem: 'no answer' } }),
        linesOf({ slack: { is: 'rejects', error: 'token_revoked' } }),
      ].join('\n'),
    ).toMatchInlineSnapshot(`
      "*1 of 11 needs mending*
      :x: *The account API* answers with status 404 when it is asked for its keys. *To mend it:* See that INFRA_API_URL is the base address of the account API, as its documentation gives it.
      *1 of 11 needs mending*
      :x: *The account API* answers with status 503 when it is asked for its keys. *To mend it:* Wait a minute and ask again; if it lasts, look at the status page of the account API.
      *1 of 12 needs mending*, 2 are not known
      :x: *Slack* does not answer me (no answer). *To mend it:* See whether the machine that I run on may reach slack.com: its name server, firewall and proxy, and SLACK_API_URL if it is set.
      :grey_question: *Slack's scopes* could not be found out: Slack does not tell which are granted.
      :grey_question: *The app's manifest* could not be found out: Slack does not tell which are granted.
      *1 of 12 needs mending*, 2 are not known
      :x: *Slack* rejects my token (token_revoked). *To mend it:* Reinstall the app, set SLACK_BOT_TOKEN to its Bot User OAuth Token (*OAuth & Permissions*), and start me again.
      :grey_question: *Slack's scopes* could not be found out: Slack does not tell which are granted.
      :grey_question: *The app's manifest* could not be found out: Slack does not tell which are granted."
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
      accountApi: unavailable,
      clock: { ofSlackMs: unavailable, ofRedisMs: unavailable },
      workers: unavailable,
    }),
  ).toMatchInlineSnapshot(`
    "*Nothing needs mending*, 9 are not known
    :grey_question: *The app's manifest* could not be found out: no answer within 1.5 s.
    :grey_question: *Buttons* could not be found out: no answer within 1.5 s.
    :grey_question: *Pickers* could not be found out: no answer within 1.5 s.
    :grey_question: *Channels* whether I am in <#C0OPS00001> could not be found out: Slack did not tell (no answer within 1.5 s).
    :grey_question: *User groups* whether <!subteam^S0ONCALL01> (\`S0ONCALL01\`) can be read could not be found out: no answer within 1.5 s.
    :grey_question: *Redis* could not be found out: Redis refuses it (NOPERM).
    :grey_question: *The account API* could not be found out: no answer within 1.5 s.
    :grey_question: *The clock* could not be compared with that of Slack: no answer within 1.5 s. It could not be compared with that of Redis: no answer within 1.5 s.
    :grey_question: *Workers* could not be found out: no answer within 1.5 s."
  `)
})

test('the report fits into a message with many errors, and keeps the tests below', () => {
  const groups = Array.from({ length: 80 }, (_, index) => ({
    id: `S0GONE${String(index).padStart(4, '0')}`,
    decides: true,
    reading: { is: 'unreadable', why: 'no_such_subteam' } as const,
  }))
  const { blocks, text } = report(well.bot, diagnose({ ...well, groups })).table
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
    const [one, other] = [createLastReceived({ redis, keys, now: () => now }), createLastReceived({ redis, keys, now: () => now })]
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
    const { note, read } = createLastReceived({ redis, keys: createKeys('test'), now: () => start })
    note('click')
    await expect(read()).rejects.toThrow('Redis')
  })
})
