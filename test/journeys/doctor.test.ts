import { describe, expect, onTestFinished, test } from 'vitest'
import { neededScopes } from '../../src/checks/slack.ts'
import { projectId } from '../sandbox/account-api/data.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { policyInFile } from './policy-in-file.ts'
import { general, ops, people, type Slack, startWorld, untilShown, type World, type WorldOptions } from './world.ts'

// The words of every check are in test/features/doctor.test.ts.

/** Returns the doctor's answer to Ben, as a message that he can click. */
async function runDoctor({ slack }: { slack: Slack }, channel = ops) {
  const before = slack.ephemerals(people.ben).length
  await slack.as(people.ben).command('/infra doctor', { channel })
  const isAnswer = ({ text }: { text: string }) => /checks? (passed|failed)|No check failed/i.test(text)
  return slack.until(() => slack.ephemerals(people.ben).slice(before).find(isAnswer), { what: "the doctor's answer" })
}

/** Returns the lines about mistakes. */
async function complaints(world: { slack: Slack }, channel = ops): Promise<string> {
  const { text } = await runDoctor(world, channel)
  return text
    .split('\n')
    .filter((line) => line.startsWith(':x:'))
    .join('\n')
}

async function ownRedis(settings?: string[]) {
  const redis = await startRedis(settings ? { settings } : { appendonly: true })
  onTestFinished(() => redis.stop())
  return redis
}

describe('the doctor', () => {
  test('reports that all is well and what was never tested, and no secret', async () => {
    const redis = await ownRedis()
    const world = await startWorld({ env: { ENVIRONMENT: 'production', REDIS_URL: redis.url } })

    const { text } = await runDoctor(world)

    const passed = [...text.matchAll(/^:white_check_mark: \*(.+?):\*/gm)].map(([, name]) => name)
    expect(passed.join()).toBe('Slack,App manifest,Channels,People,Redis,Freeze,Account API,API key,Limits,Clock,Clock,Workers')
    expect([...text.matchAll(/^:grey_question: \*(.+?):\*/gm)].map(([, name]) => name)).toEqual(['Buttons', 'Pickers'])
    expect(text).toMatch(/^\*No check failed\*, 2 unknown\nLockkeeper .* {2}· {2}web and worker {2}· {2}HTTP {2}· {2}production {2}·/)
    const { slack, accountApi } = world
    const secrets = [accountApi.key, accountApi.key.slice(-5), redis.password, slack.botToken, slack.signingSecret]
    for (const secret of secrets) expect(text).not.toContain(secret)
  })

  test.each(['status', 'reset'] as const)('says that the account is away (%s) although the limit leaves it no read', async (kind) => {
    const world = await startWorld({ env: { INFRA_READS_PER_MINUTE: '10' } })
    const { faults, journal } = world.accountApi
    faults.add({ method: 'GET', kind, status: 503, times: 1_000 })
    let reads = -1
    // Until the doctor reads nothing any more.
    while (reads !== journal.length) {
      reads = journal.length
      expect(await complaints(world)).toMatch(/\*Account API:\*/)
    }
    expect(await complaints(world)).toMatch(
      kind === 'status' ? /Returned an error \(503\)\. Seen .* ago/ : /Not reachable: no answer\. Seen .* ago/,
    )
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
    const policy = (projects: string, freezes = '') =>
      policyInFile(`rules: [{ name: a, channels: [${ops}], projects: ${projects}, approve: [S0ONCALL01] }]\n${freezes}`)
    const shown = await startWorld({ env: { POLICY_FILE: policy(`[${storefront}]`) } })
    expect((await runDoctor(shown)).text).not.toContain('*Policy:*')
    expect(shown.accountApi.journal.filter(({ path }) => /^.(servers|virtual_machines)/.test(path))).toEqual([])

    const freeze = `freezes: [{ name: f, from: 2026-11-27T00:00, to: 2026-11-30T08:00, zone: UTC, projects: [${storefront}y] }]`
    const { text } = await runDoctor(await startWorld({ env: { POLICY_FILE: policy(`[${storefront}, ${storefront}x]`, freeze) } }))
    expect(text).toContain(`*Policy:* No server, Elastic IP or virtual machine shows \`${storefront}x\` and \`${storefront}y\`.`)
  })

  test('works over Socket Mode, and in a direct message, where the bot needs no invitation', async () => {
    const world = await startWorld({ socketMode: true })
    expect(world.slack.directMessages(people.ben)).toEqual([])
    const { text } = await runDoctor(world, 'D0BEN00001')
    expect(text).toContain('Socket Mode')
    expect(text).not.toContain('Request URL')
    expect(text).not.toContain('*Channels:*')
  })
})

test('a start warns of ids that Slack does not show because of a missing scope, and goes on', async () => {
  const world = await startWorld({ slack: { scopes: neededScopes.filter((scope) => scope !== 'usergroups:read') } })
  const warnings = world.log.map((line) => JSON.parse(line)).filter(({ code }) => code === 'configuration-warning')
  expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringMatching(/^S0ONCALL01 \(S0ONCALL01\) can't be read \(missing_scope\)/)])
})

describe('a mistake', () => {
  test.each<[what: string, options: WorldOptions & { policy?: string }, words: RegExp, change?: (world: World) => unknown]>([
    [
      'a missing scope, so that the manifest is old',
      { slack: { scopes: neededScopes.filter((scope) => scope !== 'usergroups:read') } },
      /\*App manifest:\* Older.*: `usergroups:read` is missing.*\n.*\*People:\* .* can't be read \(missing_scope\)/,
    ],
    ['a clock that is wrong', { slack: { clockSkewMs: 90_000 } }, /\*Clock:\* Lockkeeper's host is 1\smin (29|30|31)\ss behind Slack/],
    [
      'user groups that do not exist or are empty',
      {
        env: { OPERATORS: 'S0BRIEF001,U0BEN00001' },
        staff: ({ userGroups }) => void userGroups.push({ id: 'S0BRIEF001', handle: 'brief', name: 'Brief', members: [] }),
      },
      /The setting `OPERATORS` names `S0BRIEF001`, and Slack has no user group with this id\..*\n.*\(`S0ONCALL01`\) is empty or disabled/,
      ({ slack }) => {
        slack.workspace.userGroups.pop()
        slack.setUserGroup('S0ONCALL01', { disabled: true })
      },
    ],
    [
      'a user group without members to which a rule escalates',
      {
        policy: `rules: [{ name: a, approve: [S0ONCALL01], escalate: { after: 30m, to: [S0LEADS00] } }]`,
        staff: ({ userGroups }) => void userGroups.push({ id: 'S0LEADS00', handle: 'leads', name: 'Leads', members: [] }),
      },
      /\(`S0LEADS00`\) is empty or disabled/,
    ],
    [
      'a read-only key',
      {},
      /\*API key:\* lockkeeper is read-only, so Lockkeeper can't make changes\./,
      ({ accountApi: { world, key } }) => Object.assign(world.data.apiKeys.find(({ token }) => token === key) ?? {}, { readOnly: true }),
    ],
  ])('is shown: %s', async (_, { policy, ...options }, words, change) => {
    const world = await startWorld(policy ? { ...options, env: { POLICY_FILE: policyInFile(policy) } } : options)
    change?.(world)
    expect(await complaints(world)).toMatch(words)
  })

  test('is shown: the bot is missing in the channel of the command and in that of the operators, or a channel is archived', async () => {
    const world = await startWorld({ env: { OPS_CHANNEL: 'C0PRIVATE1', CHANNELS: ops } })
    expect(await complaints(world, general)).toMatch(
      /isn't in <#C0GENERAL1>, so it can't post.*\n.*isn't in <#C0PRIVATE1>, so nobody gets notices/,
    )
    world.slack.archive(ops)
    expect(await complaints(world, general)).toContain('Archived: <#C0OPS00001>')
  })

  test('is shown: a Redis that does not answer, with what could not be checked', async () => {
    const redis = await ownRedis()
    const world = await startWorld({ env: { REDIS_URL: redis.url } })
    await redis.kill()
    const { text } = await runDoctor(world)
    expect(text).toMatch(/^\*1 of 13 checks failed\*, 8 unknown\n.*\n:x: \*Redis:\* Not responding( \(\w+\))?, so nothing can be requested/)
    expect(text).not.toContain(redis.password)
    await redis.restart()
  })
})
