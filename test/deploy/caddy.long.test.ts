import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startMachineWorld, token } from '../features/machines/machines-world.ts'
import { people, startWorld } from '../journeys/world.ts'
import { freePort } from '../sandbox/programs.ts'
import { signatureOf } from '../sandbox/slack/transport.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'

const caddyfile = (name: string) => resolve(import.meta.dirname, '../../deploy/compose', name)

/** Unpacks a package of this Debian into a folder that is removed with the test. Installs nothing. Returns the folder. */
async function unpackPackage(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-package-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  process.stderr.write(`Downloading Debian's package ${name} with apt-get. It is unpacked for this test and not installed …\n`)
  // An unreachable source may be irrelevant for this package.
  await promisify(execFile)('apt-get', ['update']).catch(() => {})
  await promisify(execFile)('apt-get', ['download', name], { cwd: folder })
  const [archive = ''] = await readdir(folder)
  await promisify(execFile)('dpkg', ['-x', archive, '.'], { cwd: folder })
  return folder
}

/** Starts Caddy with a Caddyfile, in front of a bot. Its certificate comes from its own authority, which no system trusts. */
async function startCaddy(file: string, hostVariable: string, upstreams: Record<string, string>) {
  const program = join(await unpackPackage('caddy'), 'usr/bin/caddy')
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-caddy-'))
  const port = await freePort()
  const config = join(folder, 'Caddyfile')
  await writeFile(config, `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\nimport ${caddyfile(file)}\n`)
  const child = endsWithUs(
    spawn(program, ['run', '--config', config, '--adapter', 'caddyfile'], {
      env: { HOME: folder, XDG_DATA_HOME: folder, [hostVariable]: `localhost:${port}`, ...upstreams },
      stdio: 'ignore',
    }),
  )
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const authority = join(folder, 'caddy/pki/authorities/local/root.crt')
  await expect.poll(() => existsSync(authority), { timeout: 20_000 }).toBe(true)
  const ca = await readFile(authority)

  return async function send(path: string, { method = 'POST', headers = {}, body = '' } = {}) {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>()
    request({ host: 'localhost', port, path, method, headers, ca, agent: false }, async (response) =>
      resolve({ status: response.statusCode, body: await text(response) }),
    )
      .on('error', reject)
      .end(body)
    return promise
  }
}

test('Caddy passes on what Slack signed, over TLS, and nothing else', async () => {
  const world = await startWorld()
  const send = await startCaddy('Caddyfile', 'LOCKKEEPER_HOST', { LOCKKEEPER_UPSTREAM: `127.0.0.1:${world.bots[0]?.slackPort}` })
  await expect.poll(() => send('/').catch(() => undefined), { timeout: 20_000 }).toMatchObject({ status: 404 })
  const timestamp = Math.floor(Date.now() / 1000)
  const command = { command: '/infra', text: 'help', user_id: people.ada, trigger_id: '1.2', response_url: `${world.slack.url}/response/x` }
  const body = new URLSearchParams({ ...command, team_id: 'T0NIMBUS01', channel_id: 'C0OPS00001' }).toString()
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': String(timestamp),
    'x-slack-signature': signatureOf(world.slack.signingSecret, timestamp, body),
  }

  expect(await send('/slack/events', { headers, body })).toMatchObject({ status: 200 })
  expect(await send('/slack/events', { headers, body: `${body}&text=keys` })).toMatchObject({ status: 401 })
  expect(await send('/slack/events', { method: 'GET' })).toEqual({ status: 404, body: '' })
  expect(await send('/metrics')).toEqual({ status: 404, body: '' })
  // Older versions of Caddy answer 502 when they stop reading.
  expect((await send('/slack/events', { headers, body: 'a'.repeat(1_100_000) })).status).toBeOneOf([413, 502])
}, 300_000)

test('Caddy passes on the calls of machines and alerts, over TLS, and nothing else', async () => {
  const alertsToken = 'a-token-of-alerts-of-at-least-32-characters'
  const world = await startMachineWorld({ env: { ALERTS_PORT: '0', ALERTS_TOKEN: alertsToken } })
  const [bot] = world.bots
  const send = await startCaddy('machines.Caddyfile', 'LOCKKEEPER_MACHINES_HOST', {
    LOCKKEEPER_MACHINES_UPSTREAM: `127.0.0.1:${bot?.machinesPort}`,
    LOCKKEEPER_ALERTS_UPSTREAM: `127.0.0.1:${bot?.alertsPort}`,
  })
  await expect.poll(() => send('/').catch(() => undefined), { timeout: 20_000 }).toMatchObject({ status: 404 })
  const bearer = (sent: string) => ({ authorization: `Bearer ${sent}`, 'content-type': 'application/json' })

  expect(await send('/v1/plans', { method: 'GET', headers: bearer(token) })).toMatchObject({ status: 200 })
  expect(await send('/v1/plans', { method: 'GET', headers: bearer(alertsToken) })).toMatchObject({ status: 401 })
  expect(await send('/mcp', { headers: bearer(token), body: '[]' })).toMatchObject({ status: 400 })
  const alerts = '/alerts/alertmanager'
  expect(await send(alerts, { headers: bearer(alertsToken), body: '{"alerts":[]}' })).toMatchObject({ status: 200 })
  expect(await send(alerts, { headers: bearer(token), body: '{"alerts":[]}' })).toMatchObject({ status: 401 })
  for (const path of ['/slack/events', '/metrics', '/status', '/alerts'])
    expect(await send(path, { headers: bearer(token), body: '{}' })).toEqual({ status: 404, body: '' })
}, 300_000)
