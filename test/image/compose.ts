import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { issueCertificate } from '../deploy/certificates.ts'
import { people } from '../journeys/world.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { findProgram } from '../sandbox/find-program.ts'
import { freePort } from '../sandbox/free-port.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import type { Engine } from './engine.ts'

const run = promisify(execFile)

/** The names of the stand-ins inside of the containers. Plain http is for loopback alone, so each has a proxy with TLS in front. */
const hosts = { slack: 'slack.test', account: 'account.test' }

/**
 * Prepares a folder for docker-compose.yml as docs/install.md says, with stand-ins that the containers reach over TLS. Returns a function
 * that runs compose there. Everything ends with the test.
 */
export async function prepareCompose(engine: Engine, { image, project }: { image: string; project: string }) {
  const certificates = join(project, 'certificates')
  await mkdir(certificates)
  const authority = await issueCertificate(
    certificates,
    'stand-ins',
    Object.values(hosts).map((name) => `DNS:${name}`),
  )
  const gateway = await engine.docker('network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}')
  const [slackPort, accountPort, port] = [await freePort(), await freePort(), await freePort()]
  const slack = await startSlack({ publicUrl: `https://${hosts.slack}:${slackPort}`, port: await freePort() })
  const accountApi = await startAccountApi({ moveTakes: { min: 300, max: 300 } })
  onTestFinished(async () => void (await Promise.all([slack.close(), accountApi.close()])))
  await startTlsProxy(certificates, { host: gateway, port: slackPort, target: Number(new URL(slack.url).port) })
  await startTlsProxy(certificates, { host: gateway, port: accountPort, target: Number(new URL(accountApi.url).port) })

  await writeSecrets(project, { slack_bot_token: slack.botToken, slack_signing_secret: slack.signingSecret, infra_api_key: accountApi.key })
  const settings = {
    SLACK_API_URL: slack.apiUrl,
    INFRA_API_URL: `https://${hosts.account}:${accountPort}`,
    APPROVERS: people.ben,
    MOVE_POLL_INTERVAL: '200ms',
    NODE_EXTRA_CA_CERTS: '/ca.crt',
    // Published on 127.0.0.1. The bot keeps 3000 inside.
    PORT: String(port),
  }
  await writeFile(
    join(project, '.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  await cp(authority, join(project, 'ca.crt'))
  const own = { image, volumes: ['./ca.crt:/ca.crt:ro'], extra_hosts: Object.values(hosts).map((name) => `${name}:host-gateway`) }
  await writeFile(join(project, 'test.yml'), stringify({ services: { bot: own } }))

  const program = findProgram(['docker-compose'])
  const [command, first] = program ? [program, []] : ['docker', ['compose']]
  const environment = { ...engine.environment, COMPOSE_PROJECT_NAME: `lockkeeper${randomBytes(4).toString('hex')}` }
  async function compose(...args: string[]): Promise<string> {
    const files = ['--file', 'docker-compose.yml', '--file', 'test.yml']
    const { stdout } = await run(command, [...first, ...files, ...args], { cwd: project, env: environment })
    return stdout.trim()
  }
  onTestFinished(async () => void (await compose('down', '--volumes')))
  return { compose, slack, accountApi, slackUrl: `http://127.0.0.1:${port}/slack/events` }
}

/** Writes the secrets as docs/install.md says: readable files in a folder that only the owner may enter. */
async function writeSecrets(project: string, given: Record<string, string>): Promise<void> {
  const password = randomBytes(32).toString('hex')
  const made = { redis_password: password, redis_url: `redis://:${password}@redis:6379`, state_key: randomBytes(32).toString('hex') }
  for (const [name, value] of Object.entries({ ...given, ...made })) {
    const file = join(project, 'secrets', name)
    await writeFile(file, `${value}\n`)
    await chmod(file, 0o644)
  }
  await chmod(join(project, 'secrets'), 0o700)
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
