import { describe, expect, test } from 'vitest'
import { diagnose } from '../../src/features/check-setup/diagnose.ts'
import type { SetupFacts } from '../../src/features/check-setup/facts.ts'
import { diagnosis } from '../../src/features/check-setup/messages.ts'

const scopes = [
  'commands',
  'chat:write',
  'users:read',
  'usergroups:read',
  'channels:read',
  'groups:read',
  'channels:history',
  'groups:history',
]

/** Everything as it should be. */
const well: SetupFacts = {
  bot: '1.0.0  ·  web and worker  ·  HTTP',
  usesSockets: false,
  scopes,
  lastHeardMs: { click: 180_000, options: 3_600_000 },
  channels: [{ id: 'C0OPS00001', membership: { is: 'member' } }],
  redisFaults: [],
  key: { name: 'lockkeeper', readOnly: false, known: true },
  clock: { ofRedisMs: 12, ofSlackMs: -300 },
  workers: 2,
  groups: [{ id: 'S0ONCALL01', members: 2 }],
  home: 'shown',
}

function wrongIn(facts: Partial<SetupFacts>): string[] {
  return diagnose({ ...well, ...facts })
    .filter(({ is }) => is === 'wrong')
    .map(({ what, words, mend }) => `${what} ${words} → ${mend ?? ''}`)
}

describe('the ten mistakes', () => {
  test('none of them where all is well', () => {
    expect(wrongIn({})).toEqual([])
    expect(diagnosis(well.bot, diagnose(well)).text).toMatchInlineSnapshot(`
      "*Nothing needs mending*
      :white_check_mark: *Slack's scopes* all granted.
      :white_check_mark: *The app's manifest* has the Home tab and the scopes of this version.
      :white_check_mark: *Buttons* last worked 3 min ago.
      :white_check_mark: *Pickers* last worked 1 h ago.
      :white_check_mark: *Channel* <#C0OPS00001>: I am in it.
      :white_check_mark: *Redis* keeps what it is told: no eviction, written to disk, new enough.
      :white_check_mark: *The account API* answers, and takes my API key \`lockkeeper\`.
      :white_check_mark: *Clock* agrees with Slack's.
      :white_check_mark: *Clock* agrees with Redis's.
      :white_check_mark: *Workers* 2 are at work.
      :white_check_mark: *User group* <!subteam^S0ONCALL01> has 2 members.
      Lockkeeper 1.0.0  ·  web and worker  ·  HTTP"
    `)
  })

  test('a missing scope, which also tells of an old manifest', () => {
    expect(wrongIn({ scopes: scopes.filter((scope) => scope !== 'usergroups:read') })).toMatchInlineSnapshot(`
      [
        "Slack's scopes \`usergroups:read\` is missing: members of user groups are denied. → Paste the current manifest.yml into the app's manifest page (api.slack.com/apps), then reinstall the app.",
        "The app's manifest is older than I am: it lacks scopes of mine. → Paste the current manifest.yml into the app's manifest page (api.slack.com/apps), then reinstall the app.",
      ]
    `)
  })

  test('optional scopes that were declined are no mistake', () => {
    const findings = diagnose({ ...well, scopes: scopes.slice(0, 6) })
    expect(findings.filter(({ is }) => is !== 'ok')).toEqual([])
    expect(String(findings[0]?.words)).toMatchInlineSnapshot(
      `"all that are needed. Without channels:history and groups:history a message whose answer was lost may come twice, and says so."`,
    )
  })

  test('interactivity off: no click ever came, and what to do when the test click does not come either', () => {
    const [buttons] = diagnose({ ...well, lastHeardMs: { click: undefined, options: undefined } }).filter(({ is }) => is === 'unknown')
    expect(`${buttons?.words} ${buttons?.mend}`).toMatchInlineSnapshot(
      `"no click has ever reached me. Press *Test the buttons* below. If nothing answers, turn *Interactivity & Shortcuts* on, with the address of the commands as its Request URL."`,
    )
  })

  test('not invited', () => {
    expect(wrongIn({ channels: [{ id: 'C0OPS00001', membership: { is: 'absent' } }] })).toMatchInlineSnapshot(`
      [
        "Channel <#C0OPS00001>: I am not in it, so I can post nothing there. → Type */invite @Lockkeeper* there.",
      ]
    `)
  })

  test('Redis evicts, or keeps nothing', () => {
    expect(
      wrongIn({ redisFaults: ['Redis does not write what it is told to disk (appendonly no): set appendonly yes.'] }),
    ).toMatchInlineSnapshot(`
      [
        "Redis Redis does not write what it is told to disk (appendonly no): set appendonly yes. → Until then approvals and moves in flight can be lost without a word.",
      ]
    `)
  })

  test('the key is rejected, or read-only', () => {
    expect([
      ...wrongIn({ key: { rejected: 401 } }),
      ...wrongIn({ key: { name: 'lockkeeper', readOnly: true, known: true } }),
    ]).toMatchInlineSnapshot(`
      [
        "The account API rejects my API key (401). → Set a valid INFRA_API_KEY that may be used from my address, and start me again.",
        "The account API answers, but my API key \`lockkeeper\` is read-only: nothing can be changed. → Make a key with full access, set it as INFRA_API_KEY, and start me again.",
      ]
    `)
  })

  test('the clock is wrong', () => {
    expect(wrongIn({ clock: { ofRedisMs: 0, ofSlackMs: 600_000 } })).toMatchInlineSnapshot(`
      [
        "Clock is 10 min ahead of Slack's. → Set the clocks by NTP: Slack and I refuse each other from 5 min on.",
      ]
    `)
    expect(wrongIn({ clock: { ofRedisMs: -45_000, ofSlackMs: 29_000 } })).toHaveLength(1)
  })

  test('no worker runs', () => {
    expect(wrongIn({ workers: 0 })).toMatchInlineSnapshot(`
      [
        "Workers none is at work: what is approved is not carried out, and nothing is followed. → Start a process with ROLE=worker or ROLE=all on the same Redis and REDIS_PREFIX.",
      ]
    `)
  })

  test('a user group cannot be read, or is empty', () => {
    expect(
      wrongIn({
        groups: [
          { id: 'S0GONE0001', members: 'unknown' },
          { id: 'S0EMPTY001', members: 0 },
        ],
      }),
    ).toMatchInlineSnapshot(`
      [
        "User group <!subteam^S0GONE0001> (\`S0GONE0001\`) cannot be read, so everybody who counts on it is denied. → Check the id in the configuration, that the group is not disabled, and the scope usergroups:read.",
        "User group <!subteam^S0EMPTY001> (\`S0EMPTY001\`) is empty. → Put people into it, or name others in the configuration.",
      ]
    `)
  })

  test('the manifest is older than the bot', () => {
    expect(wrongIn({ home: { refused: 'not_enabled' } })).toMatchInlineSnapshot(`
      [
        "The app's manifest is older than I am: its Home tab is off. → Paste the current manifest.yml into the app's manifest page (api.slack.com/apps), then reinstall the app.",
      ]
    `)
  })

  test('the account API cannot be reached', () => {
    expect(wrongIn({ key: { unreachable: 'ENOTFOUND' } })).toMatchInlineSnapshot(`
      [
        "The account API cannot be reached (ENOTFOUND). → Check INFRA_API_URL, the name server, firewalls and certificates of the machine that I run on.",
      ]
    `)
  })
})

test('what could not be found out is said to be so, and takes nothing away from the rest', () => {
  const unanswered = { unanswered: 'no answer within 4 s' }
  const facts: SetupFacts = {
    ...well,
    scopes: unanswered,
    lastHeardMs: unanswered,
    redisFaults: unanswered,
    key: unanswered,
    workers: unanswered,
    home: unanswered,
    clock: { ofRedisMs: unanswered, ofSlackMs: unanswered },
  }
  const findings = diagnose(facts)
  expect(findings.filter(({ is }) => is === 'wrong')).toEqual([])
  expect(findings.filter(({ is }) => is === 'unknown').length).toBeGreaterThan(7)
})
