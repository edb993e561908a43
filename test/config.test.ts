import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { inspect, parseEnv, promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig, secretVariables, takeConfig, variableNames } from '../src/config.ts'

const root = resolve(import.meta.dirname, '..')

const required = {
  SLACK_BOT_TOKEN: 'xoxb-203-113-botbotbot',
  SLACK_SIGNING_SECRET: '8f742231b10e8888abcd99yyyzzz85a5',
  INFRA_API_URL: 'https://api.example.com/v1',
  INFRA_API_KEY: 'lk_9f2c1b7e4d',
  REDIS_URL: 'rediss://default:correct-horse@redis.example.com:6380/2',
  APPROVERS: 'U0BEN00001,S0ONCALL01',
}

function linesFor(env: Record<string, string | undefined>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.lines
    throw error
  }
}

const withOne = (name: string, value: string) => linesFor({ ...required, [name]: value })

describe('a good configuration', () => {
  it('has the documented defaults', () => {
    expect(readConfig(required)).toMatchInlineSnapshot(`
      {
        "approvalTtlMs": 14400000,
        "environment": undefined,
        "infra": {
          "key": "[redacted]",
          "url": "https://api.example.com/v1",
        },
        "logLevel": "info",
        "movePollIntervalMs": 5000,
        "moveTimeoutMs": 900000,
        "opsChannel": undefined,
        "opsPort": 9464,
        "redis": {
          "allowVolatile": false,
          "prefix": "lockkeeper",
          "url": "[redacted]",
        },
        "role": "all",
        "rules": {
          "approvers": {
            "userGroups": [
              "S0ONCALL01",
            ],
            "users": [
              "U0BEN00001",
            ],
          },
          "channels": undefined,
          "noApproval": [],
          "operators": undefined,
        },
        "slack": {
          "apiUrl": "https://slack.com/api/",
          "appToken": undefined,
          "botToken": "[redacted]",
          "port": 3000,
          "signingSecret": "[redacted]",
        },
      }
    `)
  })

  it('is read from every variable', () => {
    const config = readConfig({
      ...required,
      SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99',
      SLACK_API_URL: 'http://127.0.0.1:4010/api/',
      PORT: '0',
      OPS_PORT: '0',
      ROLE: 'worker',
      APPROVERS: ' U0BEN00001, W0CHI00001 ,S0ONCALL01,,U0BEN00001',
      OPERATORS: 'S0ONCALL01',
      CHANNELS: 'C0OPS00001,G0SECRET01',
      NO_APPROVAL: 'vm.rename, ip.move',
      APPROVAL_TTL: '2d',
      MOVE_POLL_INTERVAL: '500ms',
      MOVE_TIMEOUT: '90s',
      OPS_CHANNEL: 'C0OPS00001',
      ENVIRONMENT: 'production eu',
      REDIS_PREFIX: 'lockkeeper-2',
      ALLOW_VOLATILE_REDIS: 'true',
      LOG_LEVEL: 'debug',
    })

    expect(config).toMatchObject({
      slack: { apiUrl: new URL('http://127.0.0.1:4010/api/'), port: 0 },
      redis: { prefix: 'lockkeeper-2', allowVolatile: true },
      opsPort: 0,
      role: 'worker',
      rules: {
        approvers: { users: ['U0BEN00001', 'W0CHI00001'], userGroups: ['S0ONCALL01'] },
        operators: { users: [], userGroups: ['S0ONCALL01'] },
        channels: ['C0OPS00001', 'G0SECRET01'],
        noApproval: ['vm.rename', 'ip.move'],
      },
      approvalTtlMs: 172_800_000,
      movePollIntervalMs: 500,
      moveTimeoutMs: 90_000,
      opsChannel: 'C0OPS00001',
      environment: 'production eu',
      logLevel: 'debug',
    })
    expect(config.slack.appToken?.reveal()).toBe('xapp-1-A0LOCKKEEP-99')
  })

  it('ignores variables that it does not know, and white space around values', () => {
    const config = readConfig({ ...required, INFRA_API_KEY: ' lk_9f2c1b7e4d\n', PATH: '/usr/bin', PORT: ' 8080 ' })

    expect(config.infra.key.reveal()).toBe('lk_9f2c1b7e4d')
    expect(config.slack.port).toBe(8080)
  })

  it('needs no signing secret in Socket Mode', () => {
    const config = readConfig({ ...required, SLACK_SIGNING_SECRET: '', SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99' })

    expect(config.slack.signingSecret).toBeUndefined()
  })

  it.each(['http://localhost:8080', 'http://127.0.0.2', 'http://[::1]:8080/v1', 'https://api.example.com'])(
    'takes the address %s',
    (url) => {
      expect(withOne('INFRA_API_URL', url)).toEqual([])
    },
  )

  it.each(['redis://localhost', 'redis://:p%23w@[2001:db8::1]:6379/0', 'rediss://redis.example.com?family=6'])(
    'takes the Redis %s',
    (url) => {
      expect(withOne('REDIS_URL', url)).toEqual([])
    },
  )
})

describe('a bad configuration', () => {
  it('is told whole: every missing variable at once', () => {
    expect(linesFor({ SLACK_BOT_TOKEN: '', APPROVERS: '  ' })).toMatchInlineSnapshot(`
      [
        "SLACK_BOT_TOKEN is missing: it must be the bot's token, which begins with xoxb-",
        "INFRA_API_URL is missing: it must be the base address of the account API: https, or http on this machine only, without user, password or query",
        "INFRA_API_KEY is missing: it must be a key of the account API, in one word",
        "REDIS_URL is missing: it must be redis:// or rediss:// with a host; special characters of a password are percent-encoded",
        "APPROVERS is missing: it must be the people who may approve, as user ids (U…, W…) and user group ids (S…), separated by commas",
        "SLACK_SIGNING_SECRET is missing: it verifies requests from Slack (or set SLACK_APP_TOKEN to use Socket Mode)",
      ]
    `)
  })

  it('is told whole: every bad variable at once', () => {
    const env = {
      SLACK_BOT_TOKEN: 'xoxp-203-113-userusers',
      SLACK_SIGNING_SECRET: 'short',
      SLACK_APP_TOKEN: 'xoxb-203-113-botbotbot',
      SLACK_API_URL: 'slack.com',
      INFRA_API_URL: 'http://api.example.com',
      INFRA_API_KEY: 'two words',
      REDIS_URL: 'redis://:p#w@redis.example.com',
      PORT: 'http',
      OPS_PORT: '70000',
      ROLE: 'both',
      APPROVERS: 'ada,U0BEN00001,@oncall',
      OPERATORS: ',',
      CHANNELS: '#ops',
      NO_APPROVAL: 'ip.move,ip.delete',
      APPROVAL_TTL: '1 hour',
      MOVE_POLL_INTERVAL: '0s',
      MOVE_TIMEOUT: '99d',
      POLICY_FILE: '/etc/lockkeeper/policy.yml',
      OPS_CHANNEL: 'ops',
      ENVIRONMENT: 'production\u0007',
      REDIS_PREFIX: '{lockkeeper}',
      ALLOW_VOLATILE_REDIS: 'yes',
      LOG_LEVEL: 'verbose',
    }

    expect(linesFor(env)).toMatchInlineSnapshot(`
      [
        "SLACK_BOT_TOKEN must be the bot's token, which begins with xoxb-",
        "SLACK_SIGNING_SECRET must be the signing secret of the app's Basic Information, in one word",
        "SLACK_APP_TOKEN must be an app-level token, which begins with xapp-",
        "SLACK_API_URL must be the base address of Slack's Web API: https, or http on this machine only, without user, password or query",
        "INFRA_API_URL must be the base address of the account API: https, or http on this machine only, without user, password or query",
        "INFRA_API_KEY must be a key of the account API, in one word",
        "REDIS_URL must be redis:// or rediss:// with a host; special characters of a password are percent-encoded",
        "PORT must be a port from 0 (any free one) to 65535, not "http"",
        "OPS_PORT must be a port from 0 (any free one) to 65535, not "70000"",
        "ROLE must be all, web or worker, not "both"",
        "APPROVERS must be the people who may approve, as user ids (U…, W…) and user group ids (S…), separated by commas, not "ada", "@oncall"",
        "OPERATORS must be the people who may ask for changes, as user ids (U…, W…) and user group ids (S…), separated by commas, and at least one",
        "CHANNELS must be channel ids (C…, G…), separated by commas, not "#ops"",
        "NO_APPROVAL must be of vm.rename, ip.move, key.create, key.rotate, key.revoke, separated by commas, not "ip.delete"",
        "APPROVAL_TTL must be a duration such as 500ms, 5s, 15m or 4h, at most 24d, not "1 hour"",
        "MOVE_POLL_INTERVAL must be a duration such as 500ms, 5s, 15m or 4h, at most 24d, not "0s"",
        "MOVE_TIMEOUT must be a duration such as 500ms, 5s, 15m or 4h, at most 24d, not "99d"",
        "POLICY_FILE must be unset: this version takes no policy file, only APPROVERS, OPERATORS, CHANNELS, NO_APPROVAL",
        "OPS_CHANNEL must be a channel id (C…, G…), not "ops"",
        "ENVIRONMENT must be a short name such as production: up to 30 letters, digits, spaces, dots, dashes, not "production\\u0007"",
        "REDIS_PREFIX must be up to 60 letters, digits, dots, dashes and underscores, not "{lockkeeper}"",
        "ALLOW_VOLATILE_REDIS must be true or false, not "yes"",
        "LOG_LEVEL must be trace, debug, info, warn, error or fatal, not "verbose"",
      ]
    `)
    expect(Object.keys(env).toSorted()).toEqual(variableNames.toSorted())
  })

  it.each(secretVariables)('never shows the value of %s', (name) => {
    const value = 'very secret value'

    const lines = withOne(name, value)

    expect(lines.join('\n')).toContain(name)
    expect(lines.join('\n')).not.toContain(value)
  })

  it.each(['PORT', 'APPROVERS', 'LOG_LEVEL', 'OPS_CHANNEL'])('shows no token that was put into %s by mistake', (name) => {
    const lines = ['xoxb-203-113-botbotbot', 'xapp-1-A0LOCKKEEP-99', 'redis://:correct-horse@redis.example.com'].flatMap((value) =>
      withOne(name, value),
    )

    expect(lines).toHaveLength(3)
    expect(lines.join('\n')).not.toMatch(/botbotbot|LOCKKEEP|horse/)
  })

  it.each([
    'https://ada:pw@api.example.com',
    'https://:pw@api.example.com',
    'https://api.example.com?key=1',
    'ftp://api.example.com',
    'http://127.0.0.1.example.com',
  ])('has the address %s', (url) => {
    expect(withOne('INFRA_API_URL', url)).toHaveLength(1)
  })

  it.each(['http://redis.example.com', 'redis:', 'redis://redis.example.com/jobs', 'redis.example.com:6379'])('has the Redis %s', (url) => {
    expect(withOne('REDIS_URL', url)).toHaveLength(1)
  })

  it('has the operators’ port on the public one, which is told along with everything else', () => {
    const line = 'OPS_PORT must be another port than PORT, which is public'

    expect(withOne('OPS_PORT', '3000')).toEqual([line])
    expect(linesFor({ ...required, PORT: '9464', INFRA_API_KEY: '' })).toEqual([expect.stringContaining('INFRA_API_KEY'), line])
    expect(linesFor({ ...required, PORT: '0', OPS_PORT: '0' })).toEqual([])
    expect(linesFor({ ...required, OPS_PORT: '3000', SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99' })).toEqual([])
  })

  it.each([
    ['SLACK_BOT_TOKEN', 'xoxb-…'],
    ['SLACK_APP_TOKEN', 'xapp-…'],
    ['INFRA_API_KEY', 'lk_…'],
  ])('has an example in place of %s: no header can carry it', (name, value) => {
    expect(withOne(name, value)).toEqual([expect.stringContaining(`${name} must be `)])
  })

  it('stops the start with these lines, exit code 1 and no stack trace', async () => {
    const env = { PATH: process.env.PATH, SLACK_BOT_TOKEN: 'xoxp-203-113-userusers' }

    const run = await promisify(execFile)(process.execPath, ['src/main.ts'], { cwd: root, env }).catch((error) => error)

    expect(run).toMatchObject({ code: 1, stdout: '', stderr: `${linesFor(env).join('\n')}\n` })
  })
})

describe('secrets', () => {
  it('are taken out of the environment and print as [redacted]', () => {
    const env: NodeJS.ProcessEnv = { ...required, SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99', HOME: '/home/node' }

    const config = takeConfig(env)

    expect(env).toEqual({ HOME: '/home/node', INFRA_API_URL: required.INFRA_API_URL, APPROVERS: required.APPROVERS })
    expect(`${inspect(config, { depth: 9 })}${JSON.stringify(config)}`).not.toMatch(/botbotbot|zzz85a5|lk_9f2c|horse|A0LOCKKEEP/)
  })

  it('are taken out even when the configuration is bad', () => {
    const env: NodeJS.ProcessEnv = { INFRA_API_KEY: 'lk_9f2c1b7e4d' }

    expect(() => takeConfig(env)).toThrow(ConfigError)
    expect(env).toEqual({})
  })
})

describe('.env.example', () => {
  const text = readFileSync(resolve(root, '.env.example'), 'utf8')
  const shown = parseEnv(text.replace(/^# (?=[A-Z_]+=)/gm, ''))

  it('lists every variable once, and no other', () => {
    const names = [...text.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map((match) => match[1])

    expect(names.toSorted()).toEqual(variableNames.toSorted())
  })

  it('shows the defaults', () => {
    const defaults = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== ''))

    expect(defaults).toEqual({
      SLACK_API_URL: 'https://slack.com/api/',
      REDIS_PREFIX: 'lockkeeper',
      ALLOW_VOLATILE_REDIS: 'false',
      APPROVAL_TTL: '4h',
      MOVE_POLL_INTERVAL: '5s',
      MOVE_TIMEOUT: '15m',
      ROLE: 'all',
      PORT: '3000',
      OPS_PORT: '9464',
      LOG_LEVEL: 'info',
    })
    expect(readConfig({ ...required, ...defaults })).toEqual(readConfig(required))
  })

  it('has the required variables as lines to fill in, and only those', () => {
    const toFillIn = Object.keys(parseEnv(text))

    expect(toFillIn.toSorted()).toEqual(Object.keys(required).toSorted())
  })
})
