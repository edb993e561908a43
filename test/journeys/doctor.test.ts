import { describe, expect, onTestFinished, test } from 'vitest'
import { neededScopes } from '../../src/features/doctor.ts'
import { projectId } from '../sandbox/account-api/data.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { policyInFile } from './policy-in-file.ts'
import { general, ops, people, type Slack, startWorld, untilShown } from './world.ts'

/** Returns the doctor's answer to Ben, as a message that he can click. The time that Slack took is replaced by a constant. */
async function runDoctor({ slack }: { slack: Slack }, channel = ops) {
  const before = slack.ephemerals(people.ben).length
  await slack.as(people.ben).command('/infra doctor', { channel })
  const answered = () =>
    slack
      .ephemerals(people.ben)
      .slice(before)
      .find(({ text }) => /checks? (passed|failed)|No check failed/i.test(text))
  const answer = await slack.until(answered, { what: "the doctor's answer" })
  return { ...answer, text: answer.text.replace(/Answered in \d+\sms/, 'Answered in 4 ms') }
}

/** Returns the lines about problems. */
async function complaints(world: { slack: Slack }, channel = ops): Promise<string> {
  const { text } = await runDoctor(world, channel)
  return text
    .split('\n')
    .filter((line) => line.startsWith(':x:'))
    .join('\n')
}

describe('the doctor', () => {
  test('reports that all is well and what was never tested, and no secret', async () => {
    const redis = await startRedis({ appendonly: true })
    onTestFinished(() => redis.stop())
    const world = await startWorld({ env: { ENVIRONMENT: 'production', REDIS_URL: redis.url } })

    const { text } = await runDoctor(world)

    // The texts of the checks that passed are in test/features/check-setup.test.ts.
    const [passed, others] = [true, false].map((is) => text.split('\n').filter((line) => line.startsWith(':white_check_mark:') === is))
    expect(passed?.map((line) => /\*(.+?):\*/.exec(line)?.[1]).join()).toBe(
      'Slack,App manifest,Channels,User groups,Redis,Account API,API key,Limits,Elastic IPs,Clock,Clock,Workers',
    )
    expect(others?.join('\n')).toMatchInlineSnapshot(`
      "*No check failed*, 2 unknown
      Lockkeeper 0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from environment variables
      :grey_question: *Buttons:* No click received yet. Press *Test the buttons* below. If nothing happens, turn on *Interactivity & Shortcuts* at api.slack.com/apps. Set *Request URL* there to the address of the command.
      :grey_question: *Pickers:* No picker used yet. Open *Test the pickers* below. If the list stays empty, turn on *Interactivity & Shortcuts* at api.slack.com/apps. Set *Options Load URL* there to the address of the command."
    `)
    for (const secret of [
      world.accountApi.key,
      world.accountApi.key.slice(-5),
      redis.password,
      world.slack.botToken,
      world.slack.signingSecret,
    ])
      expect(text).not.toContain(secret)
  })

  test('offers two tests that prove that clicks and pickers arrive, and remembers the result', async () => {
    const world = await startWorld()
    const answer = await runDoctor(world)
    expect(answer.text).toContain('No click received yet')

    const { options } = await world.ben.search(answer, 'doctor-picker', '')
    await world.ben.click(answer, 'Test the buttons')
    await untilShown(world.slack, people.ben, /Buttons work/)
    await world.ben.click(answer, 'doctor-picker', { choose: options[0]?.value ?? '' })
    await untilShown(world.slack, people.ben, /Pickers work/)

    await expect.poll(async () => (await runDoctor(world)).text).toMatch(/\*Buttons:\* Last worked.*\n.*\*Pickers:\* Last worked/)
  })

  test('warns of ids in the policy that nothing on the account shows, and reads only as many lists as it takes', async () => {
    const storefront = projectId('storefront')
    const policy = (projects: string) =>
      policyInFile(`rules: [{ name: a, channels: [${ops}], projects: ${projects}, approve: [S0ONCALL01] }]`)
    const shown = await startWorld({ env: { POLICY_FILE: policy(`[${storefront}]`) } })
    expect((await runDoctor(shown)).text).not.toContain('*Policy:*')
    expect(shown.accountApi.journal.map(({ path }) => path)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^.(servers|virtual_machines)/)]),
    )

    const { text } = await runDoctor(await startWorld({ env: { POLICY_FILE: policy(`[${storefront}, ${storefront}x]`) } }))
    expect(text.split('\n').filter((line) => line.includes('*Policy:*'))).toMatchInlineSnapshot(`
      [
        ":grey_question: *Policy:* No server, Elastic IP or virtual machine shows \`proj_pZ7pVr9w3SA3Lx\`. Check the spelling in \`POLICY_FILE\`. A rule for a project that doesn't exist never applies.",
      ]
    `)
  })

  test('works over Socket Mode', async () => {
    const world = await startWorld({ socketMode: true })
    const { text } = await runDoctor(world)
    expect(text).toContain('Socket Mode')
    expect(text).not.toContain('Request URL')
  })

  test('works in a direct message, where the bot needs no invitation', async () => {
    const world = await startWorld()
    expect(world.slack.directMessages(people.ben)).toEqual([])
    const { text } = await runDoctor(world, 'D0BEN00001')
    expect(text).not.toContain('*Channels:*')
  })
})

describe('the ten mistakes', () => {
  test('1 and 9: a scope is missing, so the manifest is old', async () => {
    const world = await startWorld({ slack: { scopes: neededScopes.filter((scope) => scope !== 'usergroups:read') } })
    expect(await complaints(world)).toMatchInlineSnapshot(`
      ":x: *App manifest:* Older than this version of Lockkeeper: \`usergroups:read\` is missing: user groups can't be read, so their members are denied. *Fix:* Paste the current \`manifest.yml\`, with your own address, into *App Manifest* at api.slack.com/apps. Save it and reinstall the app.
      :x: *User groups:* <!subteam^S0ONCALL01> (\`S0ONCALL01\`) can't be read (missing_scope), so it gives nobody rights. *Fix:* Add the scope \`usergroups:read\`. See *App manifest* in this list."
    `)
  })

  test('2: interactivity is off, so no click arrives', async () => {
    const world = await startWorld({ slack: { interactivity: false } })
    const answer = await runDoctor(world)
    const click = await world.slack.as(people.ben).click(answer, 'Test the buttons')
    expect(click.outcome).toBe('not-sent')
    const { text } = await runDoctor(world)
    expect(text.split('\n').find((line) => line.includes('*Buttons*'))).toMatchInlineSnapshot(`undefined`)
  })

  test('3: the bot is missing in the channel of the command and in that of the operators', async () => {
    const world = await startWorld({ env: { OPS_CHANNEL: 'C0PRIVATE1', CHANNELS: ops } })
    expect(await complaints(world, general)).toMatchInlineSnapshot(
      `
      ":x: *Channels:* Lockkeeper isn't in <#C0GENERAL1>, so it can't post there. *Fix:* Run \`/invite @Lockkeeper\` there.
      :x: *Notices:* Lockkeeper isn't in <#C0PRIVATE1>, so nobody gets notices about problems. *Fix:* Run \`/invite @Lockkeeper\` there."
    `,
    )
    world.slack.archive(ops)
    expect(await complaints(world, general)).toContain('Archived: <#C0OPS00001>')
  })

  test('4: a Redis without persistence that evicts', async () => {
    const redis = await startRedis({ settings: ['maxmemory-policy allkeys-lru'] })
    onTestFinished(() => redis.stop())
    const world = await startWorld({ env: { REDIS_URL: redis.url } })
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *Redis:* Not safe for storing requests. *Fix:* Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru). Set it to noeviction. Redis doesn't write changes to disk (appendonly no). Set appendonly yes."`,
    )
  })

  test('4: a Redis that does not answer', async () => {
    const redis = await startRedis({ appendonly: true })
    onTestFinished(() => redis.stop())
    const world = await startWorld({ env: { REDIS_URL: redis.url } })
    await redis.kill()
    const { text } = await runDoctor(world)
    expect(text).toMatchInlineSnapshot(`
      "*1 of 12 checks failed*, 7 unknown
      Lockkeeper 0.1.0  ·  web and worker  ·  HTTP  ·  one rule from environment variables
      :x: *Redis:* Not responding, so nothing can be requested, approved or tracked. *Fix:* Check that Redis runs at \`REDIS_URL\` and that Lockkeeper's host can reach it.
      :grey_question: *App manifest:* All required scopes granted. Couldn't check the Home tab (Redis isn't responding).
      :grey_question: *Buttons:* Couldn't check: Redis isn't responding.
      :grey_question: *Pickers:* Couldn't check: Redis isn't responding.
      :grey_question: *Account API:* Couldn't check: Redis isn't responding.
      :grey_question: *Limits:* Couldn't check: Redis isn't responding.
      :grey_question: *Clock:* Couldn't check: Redis isn't responding.
      :grey_question: *Workers:* Couldn't check: Redis isn't responding.
      :white_check_mark: *Slack:* Answered in 4 ms.
      :white_check_mark: *Channels:* Lockkeeper is in <#C0OPS00001>.
      :white_check_mark: *User groups:* <!subteam^S0ONCALL01> has 2 members.
      :white_check_mark: *Clock:* Same time as Slack."
    `)
    expect(text).not.toContain(redis.password)
    await redis.restart()
  })

  test('5: a key that is rejected, or read-only', async () => {
    const world = await startWorld()
    const rejected = world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'status', status: 401, times: 5 })
    expect(await complaints(world)).toMatch(/^:x: \*API key:\* Rejected \(401\)/)
    expect(rejected.fired).toBeGreaterThan(0)
    world.accountApi.faults.clear()

    for (const key of world.accountApi.world.data.apiKeys) if (key.token === world.accountApi.key) key.readOnly = true
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *API key:* \`lockkeeper\` is read-only, so Lockkeeper can't make changes. *Fix:* Create a key with full access, set it as \`INFRA_API_KEY\`, and restart Lockkeeper."`,
    )
  })

  test('5: an account without a feature is not reported as a rejected key', async () => {
    const world = await startWorld()
    const body = { errors: [{ code: 'FEATURE_NOT_ENABLED', message: 'no' }] }
    const lines = async () => (await runDoctor(world)).text.split('\n').filter((line) => /account API|API key/.test(line))

    world.accountApi.faults.add({ path: /^\/(elastic_ips|baselines)/, kind: 'status', status: 403, body, times: 100 })
    expect(await lines()).toContain(':white_check_mark: *API key:* `lockkeeper` is accepted and can make changes.')

    world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'status', status: 403, body, times: 5 })
    expect(await lines()).toMatchInlineSnapshot(`
      [
        ":grey_question: *API key:* Accepted. Couldn't check whether it can make changes: the team lacks a feature that the list of keys needs. Ask the provider's support to enable it.",
      ]
    `)
  })

  test('6: the clock is wrong', async () => {
    const world = await startWorld({ slack: { clockSkewMs: 90_000 } })
    expect(await complaints(world)).toMatch(/^:x: \*Clock:\* Lockkeeper's host is 1\smin (29|30|31)\ss behind Slack/)
  })

  test('7: no worker, because only the web role runs', async () => {
    const world = await startWorld({ env: { ROLE: 'web' } })
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *Workers:* None running. Approved requests aren't carried out, nothing is tracked and nothing expires. *Fix:* Start a process with \`ROLE=worker\` or \`ROLE=all\`, and the same \`REDIS_URL\` and \`REDIS_PREFIX\`."`,
    )
  })

  test('8: a user group that does not exist, one that is disabled, and one that is empty', async () => {
    const world = await startWorld({ env: { OPERATORS: 'S0NOBODY01,U0BEN00001' } })
    world.slack.setUserGroup('S0ONCALL01', [])
    expect(await complaints(world)).toMatchInlineSnapshot(`
      ":x: *User groups:* <!subteam^S0NOBODY01> (\`S0NOBODY01\`) can't be read (no_such_subteam), so it gives nobody rights. *Fix:* Check in Slack that the user group exists and is enabled. Check its id in the configuration.
      :x: *User groups:* <!subteam^S0ONCALL01> (\`S0ONCALL01\`) is empty or disabled, so it gives nobody rights. *Fix:* Add members to it, enable it, or set others in the configuration."
    `)

    const another = await startWorld()
    another.slack.setUserGroup('S0ONCALL01', { disabled: true })
    expect(await complaints(another)).toMatchInlineSnapshot(
      `":x: *User groups:* <!subteam^S0ONCALL01> (\`S0ONCALL01\`) is empty or disabled, so it gives nobody rights. *Fix:* Add members to it, enable it, or set others in the configuration."`,
    )
  })

  test('9: the Home tab is off in the app, so the manifest is old', async () => {
    const world = await startWorld({ slack: { homeTab: false } })
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *App manifest:* Older than this version of Lockkeeper: the Home tab is off. *Fix:* Paste the current \`manifest.yml\`, with your own address, into *App Manifest* at api.slack.com/apps. Save it and reinstall the app."`,
    )
  })

  test('10: the account API refuses the connection, breaks it, or is too slow', async () => {
    const gone = await startAccountApi()
    await gone.close()
    const alone = await startWorld({ env: { INFRA_API_URL: gone.url } })
    expect(await complaints(alone)).toMatchInlineSnapshot(
      `":x: *Account API:* Not reachable: connection refused (ECONNREFUSED). *Fix:* Check the port in \`INFRA_API_URL\` and the firewalls on the way."`,
    )

    const world = await startWorld()
    const dropped = world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'drop-before', times: 10 })
    expect(await complaints(world)).toContain('Not reachable: connection lost')
    expect(dropped.fired).toBeGreaterThan(0)
    world.accountApi.faults.clear()
    world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'delay', delayMs: 4_000, times: 10 })
    expect(await complaints(world)).toContain('Not reachable: timed out')
  })

  test('10: Slack is too slow; the other checks are shown in time', async () => {
    const world = await startWorld()
    const slow = world.slack.faults.add({ method: 'auth.test', kind: 'delay', delayMs: 6_000 })
    const startedAt = Date.now()
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *Slack:* Not responding (no answer within 1.5 s). *Fix:* Check that Lockkeeper's host can reach slack.com: DNS, firewall, proxy, and \`SLACK_API_URL\` if set."`,
    )
    expect(slow.fired).toBe(1)
    expect(Date.now() - startedAt).toBeLessThan(6_000)
  })
})
