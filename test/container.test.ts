import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { variableNames } from '../src/config/config.ts'
import { secretVariables } from '../src/config/variables.ts'
import { pagePath } from '../src/features/passkeys/links.ts'
import { startHealth } from '../src/ops/health.ts'
import { endpoint } from '../src/slack/http-receiver.ts'

const root = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(resolve(root, file), 'utf8')

describe('docker-compose.yml', () => {
  const { services, volumes, secrets } = parse(read('docker-compose.yml'))
  const { bot, redis } = services

  it('runs a Redis that keeps every write on disk and evicts nothing', () => {
    expect(redis.command.join(' ')).toMatch(/redis-server - --appendonly yes --appendfsync always --maxmemory-policy noeviction <</)
    expect(redis.volumes).toEqual(['redis:/data'])
    expect(volumes).toHaveProperty('redis')
    expect(redis.image).toMatch(/^redis:(7\.4|8)/)
  })

  it('publishes the port for Slack on the loopback address, but not those for operators and for Redis', () => {
    expect(bot.environment).toMatchObject({ HOST: '0.0.0.0', PORT: 3000, OPS_HOST: '0.0.0.0', OPS_PORT: 9464 })
    expect(bot.ports).toEqual([`127.0.0.1:\${PORT:-3000}:${bot.environment.PORT}`])
    expect(redis.ports).toBeUndefined()
  })

  it('hands every secret over as a file, to the services that need it', () => {
    const inFiles = Object.entries(bot.environment).filter(([name]) => name.endsWith('_FILE'))

    expect(inFiles.map(([, path]) => path)).toEqual(bot.secrets.map((name: string) => `/run/secrets/${name}`))
    expect(Object.keys(bot.environment).filter((name) => (secretVariables as readonly string[]).includes(name))).toEqual([])
    expect([...bot.secrets, ...redis.secrets].toSorted()).toEqual(Object.keys(secrets).toSorted())
    for (const [name, { file }] of Object.entries<{ file: string }>(secrets)) expect(file).toBe(`secrets/${name}`)
    expect(read('.gitignore').split('\n')).toContain('secrets/')
  })

  it('runs both services with as few rights as they need', () => {
    for (const service of [bot, redis]) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    }
    expect(redis).toMatchObject({ user: 'redis', ulimits: { core: 0 } })
  })

  it('starts the bot without waiting for Redis, because the bot waits itself, and gives it time to stop', () => {
    expect(bot.depends_on).toEqual(['redis'])
    expect(redis.healthcheck.test.join(' ')).toContain('redis-cli ping')
    expect([bot.restart, redis.restart]).toEqual(['unless-stopped', 'unless-stopped'])
    expect(bot.stop_grace_period).toBe('15s')
  })

  it('sets only variables of the bot', () => {
    expect(bot.env_file).toBe('.env')
    expect(variableNames).toEqual(expect.arrayContaining(Object.keys(bot.environment)))
  })
})

describe('deploy/compose/caddy.yml', () => {
  const { services, volumes } = parse(read('deploy/compose/caddy.yml'))
  const { bot } = parse(read('docker-compose.yml')).services

  it('adds a proxy with TLS, with its certificates in a volume, and no right but to listen at its ports', () => {
    expect(Object.keys(services)).toEqual(['proxy'])
    expect(services.proxy).toMatchObject({
      environment: { LOCKKEEPER_UPSTREAM: `bot:${bot.environment.PORT}` },
      volumes: ['./deploy/compose/Caddyfile:/etc/caddy/Caddyfile:ro', 'caddy:/data'],
      read_only: true,
      cap_drop: ['ALL'],
      cap_add: ['NET_BIND_SERVICE'],
      security_opt: ['no-new-privileges:true'],
    })
    expect(volumes).toHaveProperty('caddy')
  })

  it('passes on the two paths of the bot, and uses the port of docker-compose.yml without another address', () => {
    const text = read('deploy/compose/Caddyfile')

    expect([...text.matchAll(/^\s*(?:@\w+ )?path (.*)$/gm)].map(([, path]) => path)).toEqual([endpoint, pagePath])
    expect(text).toContain(`{$LOCKKEEPER_UPSTREAM:bot:${bot.environment.PORT}}`)
  })
})

test('deploy/compose/socket-mode.yml replaces the signing secret, which is then no file that must exist', () => {
  const { services, secrets } = parse(read('deploy/compose/socket-mode.yml'))

  expect(services.bot.environment).toEqual({ SLACK_APP_TOKEN_FILE: '/run/secrets/slack_app_token', SLACK_SIGNING_SECRET_FILE: '' })
  expect(services.bot.secrets).toEqual(['slack_app_token'])
  expect(secrets).toEqual({ slack_app_token: { file: 'secrets/slack_app_token' }, slack_signing_secret: { file: '/dev/null' } })
})

test('deploy/compose/policy.yml mounts the file that it names', () => {
  const { bot } = parse(read('deploy/compose/policy.yml')).services

  expect(bot.volumes).toEqual([`./policy.yml:${bot.environment.POLICY_FILE}:ro`])
})

test('deploy/compose/ports.yml publishes the ports of machines and alerts on the loopback address', () => {
  const { bot } = parse(read('deploy/compose/ports.yml')).services

  expect(bot.environment).toEqual({ MACHINES_HOST: '0.0.0.0', ALERTS_HOST: '0.0.0.0' })
  expect(bot.ports).toEqual(['127.0.0.1:9466:9466', '127.0.0.1:9465:9465'])
})

test('deploy/compose/machines.yml lets the proxy reach the ports of machines and alerts, but opens neither by itself', () => {
  const lines = read('deploy/compose/machines.yml')
  const { bot, proxy } = parse(lines).services
  const text = read('deploy/compose/machines.Caddyfile')

  // A port without its token stops the start, and few need both.
  expect(bot.environment).toEqual({ MACHINES_HOST: '0.0.0.0', ALERTS_HOST: '0.0.0.0' })
  expect(text).toContain(`{$LOCKKEEPER_MACHINES_UPSTREAM:bot:${/MACHINES_PORT=(\d+)/.exec(lines)?.[1]}}`)
  expect(text).toContain(`{$LOCKKEEPER_ALERTS_UPSTREAM:bot:${/ALERTS_PORT=(\d+)/.exec(lines)?.[1]}}`)
  expect(proxy.volumes).toEqual(['./deploy/compose/machines.Caddyfile:/etc/caddy/machines.Caddyfile:ro'])
  expect(proxy).not.toHaveProperty('ports')
})

test('the heap fits the memory that Lockkeeper gets, with a quarter of it to spare, wherever it runs', () => {
  const limits = [
    /^ +mem_limit: (\d+)m$/m.exec(read('docker-compose.yml')),
    /^MemoryMax=(\d+)M$/m.exec(read('deploy/systemd/lockkeeper.service')),
    ...['web', 'worker'].map((role) => /limits:\n +memory: (\d+)Mi$/m.exec(read(`deploy/kubernetes/base/${role}.yaml`))),
  ].map((found) => Number(found?.[1]))
  const heaps = ['Dockerfile', 'package.json', 'deploy/systemd/lockkeeper.service'].map((file) =>
    Number(/--max-old-space-size=(\d+)/.exec(read(file))?.[1]),
  )

  expect(limits).toEqual([512, 512, 512, 512])
  expect(heaps).toEqual(heaps.map(() => 0.75 * 512))
})

describe('Dockerfile', () => {
  const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n')
  const last = (instruction: string) =>
    lines
      .findLast((line) => line.startsWith(`${instruction} `))
      ?.slice(instruction.length + 1)
      .trim() ?? ''
  const commandOf = (text: string) => JSON.parse(text.slice(text.indexOf('['))) as string[]

  it('runs the TypeScript without a build step, on the required version of Node, and not as root', () => {
    const wanted = JSON.parse(read('package.json')).engines.node.replace(/\D/g, '')

    const bases = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1])

    expect(bases).toEqual([bases[0], bases[0]])
    expect(bases[0]?.split('@')[0]).toBe(`node:${wanted}-slim`)
    // A number, because Kubernetes cannot see from a name that it is not root.
    expect(last('USER')).toBe('1000:1000')
    expect(last('STOPSIGNAL')).toBe('SIGTERM')
    expect(commandOf(last('CMD'))).toEqual([
      'node',
      '--report-exclude-env',
      '--disable-sigusr1',
      '--max-semi-space-size=4',
      '--max-old-space-size=384',
      'src/main.ts',
    ])
  })

  it('allows no core dump to whatever it runs', async () => {
    const [program = '', ...args] = commandOf(last('ENTRYPOINT'))
    const { stdout } = await promisify(execFile)(program, [...args, 'sh', '-c', 'ulimit -c; ulimit -H -c; echo "$0"', 'an argument'])

    expect(stdout).toBe('0\n0\nan argument\n')
  })

  it('checks whether the bot is alive, so that a bot that waits for Slack is not replaced', async () => {
    const [, ...args] = commandOf(last('HEALTHCHECK'))
    const health = await startHealth({ port: 0, whyNotReady: async () => 'starting: waiting for Slack' })
    const run = promisify(execFile)
    const env = { ...process.env, OPS_PORT: String(health.port) }

    await expect(run(process.execPath, args, { env })).resolves.toMatchObject({ stdout: '', stderr: '' })
    await health.close()
    await expect(run(process.execPath, args, { env })).rejects.toMatchObject({ code: 1 })
  })

  it('copies only the source and the list of packages, which hold no secrets', () => {
    expect(lines.filter((line) => /^(COPY|ADD) /.test(line))).toEqual([
      'COPY package.json package-lock.json .npmrc ./',
      'COPY --from=packages /app/node_modules ./node_modules',
      'COPY package.json ./',
      'COPY src ./src',
    ])
    expect(read('.dockerignore').split('\n')).toContain('*')
  })
})
