import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { commandBlocks, composeCommands, composePrints } from '../docs/command-blocks.ts'
import { ops, people, untilCard, untilReport } from '../journeys/world.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botVariables } from '../sandbox/bot-process.ts'
import { freePort } from '../sandbox/programs.ts'
import type { Slack } from '../sandbox/slack/slack.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { prepareCompose } from './compose.ts'
import { canary, copyProject, type Engine, startEngine, versionOf } from './engine.ts'

type AccountApi = Awaited<ReturnType<typeof startAccountApi>>

const image = 'lockkeeper:test'
/** An image to test in place of a new one, with its digest: the one that a release has pushed. */
const given = process.env.TESTED_IMAGE
const locked = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true', '--tmpfs', '/tmp']
/** On a machine that does much else, one run of Compose takes ten seconds. */
const healthyWithinMs = 180_000
let engine: Engine
let project: string

beforeAll(async () => {
  engine = await startEngine()
  project = await copyProject(engine)
  if (given !== undefined) {
    await engine.docker('pull', given)
    await engine.docker('tag', given, image)
    return
  }
  const labels = ['--build-arg', `VERSION=${await versionOf()}`, '--build-arg', 'REVISION=0123abc']
  await engine.docker('build', '--network', 'host', '--tag', image, ...labels, project)
}, 1_800_000)

afterAll(async () => {
  await rm(project, { recursive: true, force: true })
  await engine?.stop()
}, 300_000)

/** Starts the stand-ins, closed with the test. */
async function startStandIns() {
  const slack = await startSlack()
  const accountApi = await startAccountApi({ moveTakes: { min: 300, max: 300 } })
  onTestFinished(async () => void (await Promise.all([slack.close(), accountApi.close()])))
  return { slack, accountApi }
}

/** Has the movable Elastic IP moved, from the command to the report. */
async function move({ slack, accountApi }: { slack: Slack; accountApi: AccountApi }): Promise<void> {
  const { elasticIp, target } = accountApi.world.movable()
  await slack.as(people.ada).command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /needs approval from/)
  await slack.as(people.ben).click(card, 'Approve')
  await untilReport(slack, card.ts, /Done/)
}

const inspect = async (name: string, format: string) => engine.docker('inspect', '--format', format, name)

test('the image makes a move, read-only and without capabilities, is healthy, and ends with 0 on SIGTERM', async () => {
  const standIns = await startStandIns()
  const [port, opsPort] = [await freePort(), await freePort()]
  const variables = {
    ...botVariables({ ...standIns, redisUrl: inject('redisUrl') }),
    ALLOW_VOLATILE_REDIS: 'true',
    MOVE_POLL_INTERVAL: '200ms',
    PORT: String(port),
    OPS_PORT: String(opsPort),
    OPS_HOST: '127.0.0.1',
  }
  const name = `lockkeeper-${randomBytes(4).toString('hex')}`
  const env = Object.entries(variables).flatMap(([variable, value]) => ['--env', `${variable}=${value}`])
  await engine.docker('run', '--detach', '--name', name, '--network', 'host', ...locked, ...env, image)
  onTestFinished(async () => void (await engine.docker('rm', '--force', name)))
  const page = (path: string) =>
    fetch(`http://127.0.0.1:${opsPort}${path}`).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(() => page('/readyz'), { timeout: 30_000 }).toBe(200)
  standIns.slack.connectBot(`http://127.0.0.1:${port}/slack/events`)

  await move(standIns)
  await expect.poll(() => inspect(name, '{{.State.Health.Status}}'), { timeout: 40_000 }).toBe('healthy')
  await engine.docker('stop', '--time', '15', name)

  expect(await inspect(name, '{{.State.ExitCode}}')).toBe('0')
}, 180_000)

test('the image runs as a user without rights, has no package manager, and says what it is', async () => {
  const inside = (script: string) => engine.docker('run', '--rm', ...locked, '--entrypoint', 'sh', image, '-c', script)

  expect(
    await inside(
      'id -u; id -g; ulimit -c >/dev/null; for p in npm npx yarn corepack; do command -v $p; done; ls /usr/local/lib/node_modules; true',
    ),
  ).toBe('1000\n1000')
  expect(await inside('find /app -not -path "*/.compile-cache*" -writable | head -3')).toBe('')
  expect(JSON.parse(await inspect(image, '{{json .Config.Labels}}'))).toMatchObject({
    'org.opencontainers.image.title': 'Lockkeeper',
    'org.opencontainers.image.version': await versionOf(),
    'org.opencontainers.image.revision': given === undefined ? '0123abc' : process.env.GITHUB_SHA,
  })
}, 60_000)

test('no secret that is beside the code is in the history or the layers', async () => {
  expect(await engine.docker('history', '--no-trunc', image)).not.toContain(canary)
  expect(await engine.docker('run', '--rm', '--entrypoint', 'sh', image, '-c', `ls -A /app`)).toBe(
    '.compile-cache\nnode_modules\npackage.json\nsrc',
  )

  const saved = spawn('docker', ['save', image], { env: engine.environment, stdio: ['ignore', 'pipe', 'inherit'] })
  let [rest, found, seen] = ['', 0, 0]
  for await (const chunk of saved.stdout) {
    const text = rest + (chunk as Buffer).toString('latin1')
    if (text.includes(canary)) found += 1
    if (text.includes('src/main.ts')) seen += 1
    rest = text.slice(-200)
  }
  if (saved.exitCode === null) await once(saved, 'close')
  // That the layers were readable is shown by the source in them.
  expect({ found, sourceSeen: seen > 0 }).toEqual({ found: 0, sourceSeen: true })
}, 180_000)

test('Compose with Socket Mode needs no signing secret, and a move is made', async () => {
  const standIns = await prepareCompose(engine, image, { socketMode: true })
  await standIns.run('docker compose up -d')
  const bot = (await standIns.run('docker compose ps --quiet bot')).trim().split(/\s+/).at(-1) ?? ''
  await expect.poll(() => engine.docker('logs', bot), { timeout: healthyWithinMs }).toContain('Lockkeeper is ready')

  await move(standIns)
}, 600_000)

test('the Compose commands of the docs work as they are written, and a move is made between stand-ins with TLS', async () => {
  const { run, slack, accountApi, slackUrl } = await prepareCompose(engine, image)
  const containerOf = async (service: string) => (await run(`docker compose ps --quiet ${service}`)).trim().split(/\s+/).at(-1) ?? ''
  const healthOf = async (service: string) => inspect(await containerOf(service), '{{.State.Health.Status}}')
  const commands = composeCommands()
  expect(commands[0]).toBe('docker compose up -d')

  slack.connectBot(slackUrl)
  const printed = new Map<string, string>()
  for (const command of commands) {
    if (command.endsWith('> bot.log')) {
      // The log of a container that was replaced is gone, so this one needs an entry to compare.
      await move({ slack, accountApi })
      await expect.poll(() => run('docker compose logs --no-log-prefix bot'), { timeout: 30_000 }).toContain('"act":"finish"')
    }
    printed.set(command, await run(command, composePrints[command]))
    for (const service of ['redis', 'bot']) await expect.poll(() => healthOf(service), { timeout: healthyWithinMs }).toBe('healthy')
    // The first command is the start. The verification of the audit needs an entry.
    if (printed.size === 1) await move({ slack, accountApi })
  }
  await move({ slack, accountApi })
  const [backUp, restore] = commandBlocks('docs/backup.md').filter(({ section }) => section === 'Docker Compose')
  await run(backUp?.commands ?? 'false')
  await move({ slack, accountApi })
  const today = (await run('date +%F')).trim()
  const restored = (restore?.commands ?? 'false').replaceAll('2026-11-28', today)
  const verified = () => run('docker compose exec -T bot node src/audit/verify.ts || true')
  await run(restored)
  await expect.poll(() => healthOf('redis'), { timeout: healthyWithinMs }).toBe('healthy')
  await expect.poll(verified, { timeout: healthyWithinMs }).toContain('Redis went back to an older state')
  // A new volume, as after the loss of the machine.
  await run('docker compose rm --stop --force redis && docker volume rm "$COMPOSE_PROJECT_NAME"_redis')
  await run(restored)
  await expect.poll(() => healthOf('redis'), { timeout: healthyWithinMs }).toBe('healthy')
  await expect.poll(verified, { timeout: healthyWithinMs }).toMatch(/The chain is whole: \d/)

  const containers = await Promise.all(['bot', 'redis'].map(containerOf))
  await run('docker compose stop')

  const ofEval = commands.find((command) => command.includes('/status')) ?? ''
  expect(printed.get(ofEval)).toContain('{"ok":true')
  for (const container of containers) expect(await inspect(container, '{{.State.ExitCode}}')).toBe('0')
}, 1_800_000)
