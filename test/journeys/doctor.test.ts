import { describe, expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { general, ops, people, startWorld, untilWhisper, type World } from './world.ts'

/** What the doctor says to Ben. */
async function diagnosis(world: World, channel = ops): Promise<string> {
  await world.ben.command('/infra doctor', { channel })
  const { text } = await untilWhisper(world.slack, people.ben, /need mending|Nothing needs mending/)
  return text
}

describe('the doctor', () => {
  test('says that all is well, and what was never tried', async () => {
    const world = await startWorld({ env: { ENVIRONMENT: 'production' } })

    const text = await diagnosis(world)

    expect(text).toMatch(/^\*Nothing needs mending\*, 2 could not be found out/)
    for (const well of [
      "*Slack's scopes* all granted",
      '*Channel* <#C0OPS00001>: I am in it',
      '*Redis* keeps what it is told',
      'takes my API key',
      '*Workers* one is at work',
      '<!subteam^S0ONCALL01> has 2 members',
      'production',
    ])
      expect(text).toContain(well)
    expect(text).not.toContain(world.accountApi.key.slice(-5))
  })

  test('a Redis that keeps nothing on disk and evicts', async () => {
    const redis = await startRedis({ settings: ['maxmemory-policy allkeys-lru'] })
    onTestFinished(() => redis.stop())
    const world = await startWorld({ env: { REDIS_URL: redis.url } })
    const text = await diagnosis(world)
    expect(text).toMatch(/^\*1 of \d+ need mending\*/)
    expect(text).toMatch(/:x: \*Redis\* .*evicts keys.*appendonly yes/)
  })

  test('its two tests prove that clicks and pickers arrive, and it remembers', async () => {
    const world = await startWorld()
    expect(await diagnosis(world)).toContain('no click has ever reached me')
    const answer = world.slack.ephemerals(people.ben).at(-1)
    if (!answer) throw new Error('no answer')

    await world.ben.click(answer, 'Test the buttons')
    await untilWhisper(world.slack, people.ben, /Buttons work/)
    const { options } = await world.ben.search(answer, 'doctor-picker', '')
    expect(options).toHaveLength(1)

    await expect
      .poll(() => world.ben.command('/infra doctor', { channel: ops }).then(() => world.slack.ephemerals(people.ben).at(-1)?.text))
      .toMatch(/\*Buttons\* last worked/)
    await untilWhisper(world.slack, people.ben, /\*Pickers\* last worked/)
  })

  test('a channel that it is not in', async () => {
    const world = await startWorld()
    expect(await diagnosis(world, general)).toMatch(/:x: \*Channel\* <#C0GENERAL1>: I am not in it.*\/invite @Lockkeeper/)
  })

  test('a key that is rejected, and an account API that is away', async () => {
    const world = await startWorld()
    const rejected = world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'status', status: 401, times: 5 })
    expect(await diagnosis(world)).toContain('rejects my API key (401)')
    expect(rejected.fired).toBeGreaterThan(0)
    world.accountApi.faults.clear()

    world.accountApi.faults.add({ path: '/auth/api_keys', kind: 'drop-before', times: 10 })
    await world.ben.command('/infra doctor', { channel: ops })
    await untilWhisper(world.slack, people.ben, /The account API\* cannot be reached/)
  })

  test('no worker, where only the web part runs', async () => {
    const world = await startWorld({ env: { ROLE: 'web' } })
    expect(await diagnosis(world)).toContain('none is at work')
  })

  test('a user group that Slack does not tell of', async () => {
    const world = await startWorld()
    const fault = world.slack.faults.add({ method: 'usergroups.users.list', kind: 'error', error: 'no_such_subteam', times: 3 })
    expect(await diagnosis(world)).toMatch(/:x: \*User group\* <!subteam\^S0ONCALL01> \(`S0ONCALL01`\) cannot be read/)
    expect(fault.fired).toBeGreaterThan(0)
  })

  test('a Home tab that is off in the app tells of an old manifest', async () => {
    const world = await startWorld()
    world.slack.faults.add({ method: 'views.publish', kind: 'error', error: 'not_enabled', times: 1 })
    expect(await diagnosis(world)).toMatch(/:x: \*The app's manifest\* is older than I am: its Home tab is off/)
  })
})
