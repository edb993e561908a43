import { describe, expect, onTestFinished, test } from 'vitest'
import { createAccountApi } from '../../src/account-api/client.ts'
import { Secret } from '../../src/domain/secret.ts'
import { neededScopes } from '../../src/features/check-setup/checks/slack.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
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
  const answer = await slack.until(answered, { what: "the doctor's answer", timeoutMs: 10_000 })
  return { ...answer, text: answer.text.replace(/Answered in \d+ ms/, 'Answered in 4 ms') }
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

    expect(text).toMatchInlineSnapshot(`
      "*Nothing needs mending*, 2 are not known
      Lockkeeper 0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from the variables
      :grey_question: *Buttons* no click has ever reached me. Press *Test the buttons* below. If nothing answers, turn on *Interactivity & Shortcuts* at api.slack.com/apps, with the address of the command as its *Request URL*.
      :grey_question: *Pickers* none has ever asked me for its choices. Open *Test the pickers* below. If it stays empty, enter the address of the command as *Options Load URL* under *Interactivity & Shortcuts* too: pickers have one of their own.
      :white_check_mark: *Slack* answers after 4 ms.
      :white_check_mark: *Slack's scopes* all granted.
      :white_check_mark: *The app's manifest* has the scopes and the Home tab that this version needs.
      :white_check_mark: *Channels* I am in <#C0OPS00001>.
      :white_check_mark: *User groups* <!subteam^S0ONCALL01> has 2 members.
      :white_check_mark: *Redis* keeps what it is told: it evicts nothing, writes to disk, and is new enough.
      :white_check_mark: *The account API* answers.
      :white_check_mark: *The API key* \`lockkeeper\` is accepted, and may make changes.
      :white_check_mark: *The clock* agrees with that of Slack and Redis.
      :white_check_mark: *Workers* one is at work.
      *Can you see this table?* Lists such as \`ip list\` are tables."
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
    expect(answer.text).toContain('no click has ever reached me')

    const { options } = await world.ben.search(answer, 'doctor-picker', '')
    await world.ben.click(answer, 'Test the buttons')
    await untilShown(world.slack, people.ben, /Buttons work/)
    await world.ben.click(answer, 'doctor-picker', { choose: options[0]?.value ?? '' })
    await untilShown(world.slack, people.ben, /Pickers work/)

    await expect.poll(async () => (await runDoctor(world)).text).toMatch(/\*Buttons\* last worked.*\n.*\*Pickers\* last worked/)
  })

  test('works over Socket Mode', async () => {
    const world = await startWorld({ socketMode: true })
    const { text } = await runDoctor(world)
    expect(text).toContain('Socket Mode')
    expect(text).toContain('there is no address to enter')
  })

  test('works in a direct message, where the bot needs no invitation', async () => {
    const world = await startWorld()
    expect(world.slack.directMessages(people.ben)).toEqual([])
    const { text } = await runDoctor(world, 'D0BEN00001')
    expect(text).not.toContain('*Channels*')
  })
})

describe('the ten mistakes', () => {
  test('1 and 9: a scope is missing, so the manifest is old', async () => {
    const world = await startWorld({ slack: { scopes: neededScopes.filter((scope) => scope !== 'usergroups:read') } })
    expect(await complaints(world)).toMatchInlineSnapshot(`
      ":x: *Slack's scopes* \`usergroups:read\` is missing: nobody can be told to be in a user group, so its members are denied. *To mend it:* Paste the present manifest.yml, with your own address in it, into *App Manifest* at api.slack.com/apps, save it, and reinstall the app.
      :x: *The app's manifest* is older than I am: it lacks scopes. *To mend it:* Paste the present manifest.yml, with your own address in it, into *App Manifest* at api.slack.com/apps, save it, and reinstall the app.
      :x: *User groups* <!subteam^S0ONCALL01> (\`S0ONCALL01\`) cannot be read (missing_scope), so everybody who counts on it is denied. *To mend it:* Give the app the scope \`usergroups:read\`, as the line on its scopes says."
    `)
  })

  test('2: interactivity is off, so no click arrives', async () => {
    const world = await startWorld({ slack: { interactivity: false } })
    const answer = await runDoctor(world)
    const click = await world.slack.as(people.ben).click(answer, 'Test the buttons')
    expect(click.outcome).toBe('not-sent')
    const { text } = await runDoctor(world)
    expect(text.split('\n').find((line) => line.includes('*Buttons*'))).toMatchInlineSnapshot(
      `":grey_question: *Buttons* no click has ever reached me. Press *Test the buttons* below. If nothing answers, turn on *Interactivity & Shortcuts* at api.slack.com/apps, with the address of the command as its *Request URL*."`,
    )
  })

  test('3: the bot is missing in the channel of the command and in that of the operators', async () => {
    const world = await startWorld({ env: { OPS_CHANNEL: 'C0PRIVATE1', CHANNELS: ops } })
    expect(await complaints(world, general)).toMatchInlineSnapshot(
      `":x: *Channels* I am not in <#C0GENERAL1> and <#C0PRIVATE1>, so I can post nothing there. *To mend it:* Type */invite @Lockkeeper* there."`,
    )
    world.slack.archive(ops)
    expect(await complaints(world, general)).toContain('<#C0OPS00001> is archived')
  })

  test('4: a Redis without persistence that evicts', async () => {
    const redis = await startRedis({ settings: ['maxmemory-policy allkeys-lru'] })
    onTestFinished(() => redis.stop())
    const world = await startWorld({ env: { REDIS_URL: redis.url } })
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *Redis* is not fit to keep requests. *To mend it:* Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru): set it to noeviction. Redis does not write what it is told to disk (appendonly no): set appendonly yes."`,
    )
  })

  test('4: a Redis that does not answer', async () => {
    const redis = await startRedis({ appendonly: true })
    onTestFinished(() => redis.stop())
    const world = await startWorld({ env: { REDIS_URL: redis.url } })
    await redis.kill()
    const { text } = await runDoctor(world)
    expect(text).toMatchInlineSnapshot(`
      "*1 of 12 needs mending*, 5 are not known
      Lockkeeper 0.1.0  ·  web and worker  ·  HTTP  ·  one rule from the variables
      :x: *Redis* does not answer, so nothing can be asked for, decided or followed. *To mend it:* See that it runs at REDIS_URL, and that the machine that I run on may reach it.
      :grey_question: *The app's manifest* could not be found out: Redis does not answer.
      :grey_question: *Buttons* could not be found out: Redis does not answer.
      :grey_question: *Pickers* could not be found out: Redis does not answer.
      :grey_question: *The clock* agrees with that of Slack. It could not be compared with that of Redis: Redis does not answer.
      :grey_question: *Workers* could not be found out: Redis does not answer.
      :white_check_mark: *Slack* answers after 4 ms.
      :white_check_mark: *Slack's scopes* all granted.
      :white_check_mark: *Channels* I am in <#C0OPS00001>.
      :white_check_mark: *User groups* <!subteam^S0ONCALL01> has 2 members.
      :white_check_mark: *The account API* answers.
      :white_check_mark: *The API key* \`lockkeeper\` is accepted, and may make changes.
      *Can you see this table?* Lists such as \`ip list\` are tables."
    `)
    expect(text).not.toContain(redis.password)
    await redis.restart()
  })

  test('5: a key that is rejected, or read-only', async () => {
    const world = await startWorld()
    const rejected = world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'status', status: 401, times: 5 })
    expect(await complaints(world)).toMatch(/^:x: \*The API key\* is rejected \(401\)/)
    expect(rejected.fired).toBeGreaterThan(0)
    world.accountApi.faults.clear()

    const { apiKeys, close } = createAccountApi({ baseUrl: new URL(world.accountApi.url), key: new Secret(world.accountApi.key) })
    onTestFinished(close)
    const own = (await apiKeys.list()).find(({ tokenLastSlice }) => tokenLastSlice === world.accountApi.key.slice(-5))
    await apiKeys.update(own?.id ?? '', { name: own?.name ?? '', readOnly: true })
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *The API key* \`lockkeeper\` is read-only: nothing can be changed with it. *To mend it:* Make a key that is not read-only, set it as INFRA_API_KEY, and start me again."`,
    )
  })

  test('5: an account without a feature is not reported as a rejected key', async () => {
    const world = await startWorld()
    const body = { errors: [{ code: 'FEATURE_NOT_ENABLED', message: 'no' }] }
    const lines = async () => (await runDoctor(world)).text.split('\n').filter((line) => /account API|API key/.test(line))

    world.accountApi.faults.add({ path: /^\/(elastic_ips|baselines)/, kind: 'status', status: 403, body, times: 100 })
    expect(await lines()).toContain(':white_check_mark: *The API key* `lockkeeper` is accepted, and may make changes.')

    world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'status', status: 403, body, times: 5 })
    expect(await lines()).toMatchInlineSnapshot(`
      [
        ":grey_question: *The API key* is accepted. Whether it may make changes could not be found out: a feature that listing keys needs is not enabled for the team. Ask the provider's support to enable it.",
        ":white_check_mark: *The account API* answers.",
      ]
    `)
  })

  test('6: the clock is wrong', async () => {
    const world = await startWorld({ slack: { clockSkewMs: 90_000 } })
    expect(await complaints(world)).toMatch(/^:x: \*The clock\* of the machine that I run on is 1 min (29|30|31) s behind that of Slack/)
  })

  test('7: no worker, because only the web role runs', async () => {
    const world = await startWorld({ env: { ROLE: 'web' } })
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *Workers* none is at work: what is approved is not carried out, nothing is followed, and nothing expires. *To mend it:* Start a process with ROLE=worker or ROLE=all, with the same REDIS_URL and REDIS_PREFIX."`,
    )
  })

  test('8: a user group that does not exist, one that is disabled, and one that is empty', async () => {
    const world = await startWorld({ env: { OPERATORS: 'S0NOBODY01,U0BEN00001' } })
    world.slack.setUserGroup('S0ONCALL01', [])
    expect(await complaints(world)).toMatchInlineSnapshot(`
      ":x: *User groups* <!subteam^S0NOBODY01> (\`S0NOBODY01\`) cannot be read (no_such_subteam), so everybody who counts on it is denied. *To mend it:* See among Slack's user groups that it is there and not disabled, and that its id in the configuration is right.
      :x: *User groups* <!subteam^S0ONCALL01> (\`S0ONCALL01\`) is empty or disabled, so nobody may ask or approve by it. *To mend it:* Put people into it, turn it on again, or name others in the configuration."
    `)

    const another = await startWorld()
    another.slack.setUserGroup('S0ONCALL01', { disabled: true })
    expect(await complaints(another)).toMatchInlineSnapshot(
      `":x: *User groups* <!subteam^S0ONCALL01> (\`S0ONCALL01\`) is empty or disabled, so nobody may ask or approve by it. *To mend it:* Put people into it, turn it on again, or name others in the configuration."`,
    )
  })

  test('9: the Home tab is off in the app, so the manifest is old', async () => {
    const world = await startWorld({ slack: { homeTab: false } })
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *The app's manifest* is older than I am: its Home tab is off. *To mend it:* Paste the present manifest.yml, with your own address in it, into *App Manifest* at api.slack.com/apps, save it, and reinstall the app."`,
    )
  })

  test('10: the account API refuses the connection, breaks it, or is too slow', async () => {
    const gone = await startAccountApi()
    await gone.close()
    const alone = await startWorld({ env: { INFRA_API_URL: gone.url } })
    expect(await complaints(alone)).toMatchInlineSnapshot(
      `":x: *The account API* cannot be reached: the connection is refused (ECONNREFUSED). *To mend it:* See that the port in INFRA_API_URL is right, and that nothing in between refuses it."`,
    )

    const world = await startWorld()
    const dropped = world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'drop-before', times: 10 })
    expect(await complaints(world)).toContain('cannot be reached: the connection breaks')
    expect(dropped.fired).toBeGreaterThan(0)
    world.accountApi.faults.clear()
    world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'delay', delayMs: 4_000, times: 10 })
    expect(await complaints(world)).toContain('cannot be reached: no answer in time')
  })

  test('10: Slack is too slow; the other checks are shown in time', async () => {
    const world = await startWorld()
    const slow = world.slack.faults.add({ method: 'auth.test', kind: 'delay', delayMs: 6_000 })
    const startedAt = Date.now()
    expect(await complaints(world)).toMatchInlineSnapshot(
      `":x: *Slack* does not answer me (no answer within 1.5 s). *To mend it:* See whether the machine that I run on may reach slack.com: its name server, firewall and proxy, and SLACK_API_URL if it is set."`,
    )
    expect(slow.fired).toBe(1)
    expect(Date.now() - startedAt).toBeLessThan(6_000)
  })
})
