import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { issueCertificate } from '../deploy/redis-examples.ts'
import { cleanCopy, commandBlocks } from '../docs/command-blocks.ts'
import { people } from '../journeys/world.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { findProgram, freePort } from '../sandbox/programs.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { type Engine, unpinBases } from './engine.ts'

/** The names of the stand-ins inside of the containers. Plain http is for loopback alone, so each has a proxy with TLS in front. */
const hosts = { slack: 'slack.test', account: 'account.test' }

/**
 * Prepares a clean copy for docker-compose.yml with the commands of docs/install.md, and stand-ins that the containers reach over TLS. What
 * a test needs comes from a second compose file, which a variable names. So `run` runs every command as the docs write it. Everything ends
 * with the test.
 */
export async function prepareCompose(engine: Engine, image: string, { socketMode = false } = {}) {
  const gateway = await engine.docker('network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}')
  const [slackPort, accountPort, port] = [await freePort(), await freePort(), await freePort()]
  const slack = await startSlack({ publicUrl: `https://${hosts.slack}:${slackPort}`, port: await freePort() })
  const accountApi = await startAccountApi({ moveTakes: { min: 300, max: 300 } })
  onTestFinished(async () => void (await Promise.all([slack.close(), accountApi.close()])))

  const besides = await mkdtemp(join(tmpdir(), 'lockkeeper-compose-'))
  const copy = cleanCopy({
    ...environmentOf(engine),
    PATH: await pathWithCompose(join(besides, 'programs')),
    COMPOSE_FILE: ['docker-compose.yml', ...(socketMode ? ['deploy/compose/socket-mode.yml'] : []), join(besides, 'test.yml')].join(':'),
    COMPOSE_PROJECT_NAME: `lockkeeper${randomBytes(4).toString('hex')}`,
  })
  await unpinBases(engine, copy.folder)
  const authority = await issueCertificate(
    besides,
    'stand-ins',
    Object.values(hosts).map((name) => `DNS:${name}`),
  )
  await startTlsProxy(besides, { host: gateway, port: slackPort, target: Number(new URL(slack.url).port) })
  await startTlsProxy(besides, { host: gateway, port: accountPort, target: Number(new URL(accountApi.url).port) })
  const own = {
    image,
    build: { network: 'host' },
    volumes: [`${authority}:/ca.crt:ro`],
    extra_hosts: Object.values(hosts).map((name) => `${name}:host-gateway`),
  }
  await writeFile(join(besides, 'test.yml'), stringify({ services: { bot: own } }))

  let runs = 0

  /** Runs a command as it is written, in a terminal. Returns what it printed. Each run has its file, because bash reads it line by line. */
  async function run(command: string, runsUntil?: string): Promise<string> {
    runs += 1
    const script = join(besides, `command-${runs}`)
    await writeFile(script, `set -euo pipefail\n${command}\n`)
    return copy.run({ commands: `script --quiet --return --command 'bash ${script}' /dev/null`, runsUntil })
  }

  onTestFinished(async () => {
    await run('docker compose down --volumes')
    await copy.close()
    await rm(besides, { recursive: true, force: true })
  }, 300_000)
  await takeSteps(copy, {
    secrets: {
      slack_bot_token: slack.botToken,
      infra_api_key: accountApi.key,
      ...(socketMode ? { slack_app_token: slack.appToken } : { slack_signing_secret: slack.signingSecret }),
    },
    settings: {
      SLACK_API_URL: slack.apiUrl,
      INFRA_API_URL: `https://${hosts.account}:${accountPort}`,
      APPROVERS: people.ben,
      MOVE_POLL_INTERVAL: '200ms',
      NODE_EXTRA_CA_CERTS: '/ca.crt',
      // Published on 127.0.0.1. The bot keeps 3000 inside.
      PORT: String(port),
    },
  })
  return { run, slack, accountApi, slackUrl: `http://127.0.0.1:${port}/slack/events` }
}

interface Written {
  secrets: Record<string, string>
  settings: Record<string, string>
}

/** Takes the steps of docs/install.md before the start: its commands, and in between what a person writes with an editor. */
async function takeSteps(copy: ReturnType<typeof cleanCopy>, { secrets, settings }: Written): Promise<void> {
  const steps = commandBlocks('docs/install.md').filter(({ section, notRun }) => section === 'Docker Compose' && notRun === undefined)
  const [createSecrets, ...others] = steps
  if (createSecrets) await copy.run(createSecrets)
  for (const [name, value] of Object.entries(secrets)) await writeFile(join(copy.folder, 'secrets', name), `${value}\n`, { mode: 0o600 })
  for (const step of others) await copy.run(step)
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  await appendFile(join(copy.folder, '.env'), lines.join(''))
}

/** Returns the variables by which docker finds the engine. */
function environmentOf({ environment }: Engine): Record<string, string> {
  const given: Record<string, string | undefined> = environment
  const names = ['DOCKER_HOST', 'DOCKER_BUILDKIT']
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
}

/** Returns a PATH on which `docker compose` works, also where Compose is a separate program, as on Debian 12. */
async function pathWithCompose(folder: string): Promise<string> {
  const path = process.env.PATH ?? ''
  const [docker, compose] = [findProgram(['docker']), findProgram(['docker-compose'])]
  if (!docker || !compose) return path
  await mkdir(folder)
  const program = join(folder, 'docker')
  await writeFile(program, `#!/bin/sh\nif [ "$1" = compose ]; then shift; exec ${compose} "$@"; fi\nexec ${docker} "$@"\n`)
  await chmod(program, 0o755)
  return `${folder}:${path}`
}

/** Accepts TLS at an address that containers reach, and passes everything on to a port on loopback. */
async function startTlsProxy(certificates: string, { host, port, target }: { host: string; port: number; target: number }): Promise<void> {
  const [cert, key] = await Promise.all(['stand-ins.crt', 'stand-ins.key'].map((file) => readFile(join(certificates, file))))
  const server = createServer({ cert, key }, (secured) => {
    const plain = connect(target, '127.0.0.1')
    secured.pipe(plain).pipe(secured)
    for (const [socket, other] of [
      [secured, plain],
      [plain, secured],
    ] as const)
      socket.on('error', () => other.destroy())
  })
  server.listen(port, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
}
