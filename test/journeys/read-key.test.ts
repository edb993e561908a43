import { expect, onTestFinished, test } from 'vitest'
import { policyInFile } from './policy-in-file.ts'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown, type World, type WorldOptions } from './world.ts'

const signing = { STATE_KEY: 'a-state-key-that-has-more-than-32-characters' }
const policyFor = (changes: string) =>
  policyInFile(`rules:\n  - name: all\n    changes: [${changes}]\n    approve: {any_of: [S0ONCALL01], approvals: 1}\n`)

function keyCalled({ accountApi }: World, name: string) {
  const found = accountApi.world.data.apiKeys.find((key) => key.name === name)
  if (!found) throw new Error(`no key ${name}`)
  return found
}

/** Starts a world whose account has a read-only key of Lockkeeper's own user, `grafana read`. */
async function startWorldWithReadKey(options: WorldOptions = {}) {
  const world = await startWorld({ ...options, env: { ...signing, ...options.env } })
  const { token } = Object.assign(keyCalled(world, 'grafana read'), { user: keyCalled(world, 'lockkeeper').user })
  /** Starts another bot, to which Slack sends everything from now on. */
  async function startBotOfPeople(more: Record<string, string>) {
    const bot = await world.startBot(more)
    world.slack.connectBot(bot.slackUrl)
    onTestFinished(() => bot.stop())
  }
  return { world, token, startBotOfPeople }
}

test('a read-only key is accepted by the doctor, and neither rotated nor revoked', async () => {
  const { world, token, startBotOfPeople } = await startWorldWithReadKey()
  await startBotOfPeople({ INFRA_READ_KEY: token })

  await world.ben.command('/infra doctor', { channel: ops })
  const { text } = await untilShown(world.slack, people.ben, /checks? (passed|failed)|No check failed/i)
  expect(text).toContain(':white_check_mark: *Read-only key:* “grafana read” is accepted, for reads.')
  for (const verb of ['rotate', 'revoke']) {
    await world.ada.command(`/infra keys ${verb} grafana read`, { channel: ops })
    await untilShown(world.slack, people.ada, new RegExp(`Lockkeeper uses this key, so it can't ${verb} it\\..* INFRA_READ_KEY`))
  }
  expect(world.log.join('\n')).not.toContain('read-key-unsuitable')
})

test('a read-only key that has full access, is of another user or is unknown is told to the operators, and the bot starts', async () => {
  const { world } = await startWorldWithReadKey({ env: { OPS_CHANNEL: general } })
  world.slack.invite(general)
  const keys = [
    keyCalled(world, 'terraform').token,
    Object.assign(keyCalled(world, 'laptop of ada'), { readOnly: true }).token,
    'f'.repeat(36),
  ]

  for (const INFRA_READ_KEY of keys) await (await world.startBot({ INFRA_READ_KEY })).stop()

  const told = () => world.slack.messages(general).flatMap(({ text }) => /`INFRA_READ_KEY` [^.]+\./.exec(text) ?? [])
  await expect
    .poll(told)
    .toEqual([
      '`INFRA_READ_KEY` has full access.',
      '`INFRA_READ_KEY` belongs to another user than the key that makes changes.',
      "`INFRA_READ_KEY` isn't a key of the account.",
    ])
  expect(world.log.filter((line) => line.includes('"read-key-unsuitable"')).length).toBe(3)
})

test('a read-only key that the account rejects is named to people and operators', async () => {
  const { world, token, startBotOfPeople } = await startWorldWithReadKey()
  world.slack.invite(general)
  await startBotOfPeople({ INFRA_READ_KEY: token, OPS_CHANNEL: general })
  keyCalled(world, 'grafana read').token = 'revoked'

  await world.ada.command('/infra ip list', { channel: ops })

  await untilShown(world.slack, people.ada, /must set a valid INFRA_READ_KEY/)
  await untilCard(world.slack, /rejects `INFRA_READ_KEY` \(401, elasticIps\.list\)/, general)
})

test('a web process with the read-only key alone lists, and a worker makes the change', async () => {
  const policy = { POLICY_FILE: policyFor('ip.move'), APPROVERS: '' }
  const { world, token, startBotOfPeople } = await startWorldWithReadKey({ env: { ROLE: 'worker', ...policy } })
  await startBotOfPeople({ ROLE: 'web', INFRA_API_KEY: '', INFRA_READ_KEY: token })
  const { elasticIp, target } = world.accountApi.world.movable()

  await world.ada.command('/infra keys', { channel: ops })
  await untilShown(world.slack, people.ada, /terraform/)
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
})

test('a web process without the key that writes does not start if a button can create a token', async () => {
  const { world, token } = await startWorldWithReadKey()
  const start = (changes: string) =>
    world.startBot({ ROLE: 'web', INFRA_API_KEY: '', INFRA_READ_KEY: token, POLICY_FILE: policyFor(changes), APPROVERS: '' })

  for (const kind of ['key.create', 'key.rotate']) {
    await expect(start(`ip.move, ${kind}`)).rejects.toMatchObject({
      lines: [
        `INFRA_API_KEY is missing: with ROLE=web it can be left out only if the policy allows no change whose button creates a token. The policy allows ${kind}`,
      ],
    })
  }
  await (await start('ip.move, key.revoke')).stop()
})
