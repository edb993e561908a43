import { execFile } from 'node:child_process'
import { inspect, promisify } from 'node:util'
import { describe, expect, it, test } from 'vitest'
import { ConfigError, readAuditConfig, readConfig, takeConfig, variableNames } from '../../src/config/config.ts'
import { readPolicy } from '../../src/config/policy-file.ts'
import { secretVariables } from '../../src/config/variables.ts'
import { bundles, changeKinds, neverExempt } from '../../src/features/index.ts'
import { expectDocument, membersOf } from '../messages/documents.ts'
import { botProgram } from '../sandbox/bot-process.ts'
import { systemEnvironment } from '../sandbox/programs.ts'

const required = {
  SLACK_BOT_TOKEN: 'xoxb-203-113-botbotbot',
  SLACK_SIGNING_SECRET: '8f742231b10e8888abcd99yyyzzz85a5',
  INFRA_API_URL: 'https://api.example.com/v1',
  INFRA_API_KEY: 'lk_9f2c1b7e4d',
  REDIS_URL: 'rediss://default:correct-horse@redis.example.com:6380/2',
  APPROVERS: 'U0BEN00001,S0ONCALL01',
}

const oldKey = 'an-old-key-of-at-least-32-characters'
const newKey = 'a-new-key-of-at-least-32-characters!'
const alertsToken = 'a-token-of-alerts-of-at-least-32-chars'

/** Reads variables where the kinds of change are those of the bot. */
function read(env: Record<string, string | undefined>, readFile?: (path: string) => string) {
  return readConfig(env, { kinds: changeKinds, bundles, neverExempt, ...(readFile ? { readFile } : {}) })
}

function linesFor(env: Record<string, string | undefined>, readFile?: (path: string) => string): string[] {
  try {
    read(env, readFile)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.lines
    throw error
  }
}

const withOne = (name: string, value: string) => linesFor({ ...required, [name]: value })

test('what a valid configuration means, with the documented defaults', async () => {
  const all = {
    ...required,
    SLACK_SIGNING_SECRET: `${required.SLACK_SIGNING_SECRET}, the-one-before`,
    SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99',
    SLACK_API_URL: 'http://127.0.0.1:4010/api/',
    REDIS_SENTINEL_PASSWORD: 'p4ss-of-the-sentinels',
    STATE_KEY: `${oldKey}, ${newKey},${oldKey}`,
    HOST: '::1',
    PORT: '0',
    OPS_HOST: '10.0.0.5',
    OPS_PORT: '0',
    ROLE: 'worker',
    APPROVERS: ' U0BEN00001, W0CHI00001 ,S0ONCALL01,,U0BEN00001',
    OPERATORS: 'S0PLATFORM1',
    CHANNELS: 'C0OPS00001,G0SECRET01',
    NO_APPROVAL: 'vm.rename, ip.move',
    APPROVAL_TTL: '2d',
    OPEN_REQUESTS_PER_PERSON: '3',
    MOVE_POLL_INTERVAL: '500ms',
    MOVE_TIMEOUT: '90s',
    OPS_CHANNEL: 'C0OPS00001',
    WATCH_CHANGES: 'true',
    KEY_REVIEW: 'true',
    DOCS_URL: 'https://wiki.example.com/lockkeeper/',
    ENVIRONMENT: 'production eu',
    REDIS_PREFIX: 'lockkeeper-2',
    ALLOW_VOLATILE_REDIS: 'true',
    LOG_LEVEL: 'debug',
  }

  const [fewest, most] = [required, all].map((env) => JSON.parse(JSON.stringify(read(env))))
  await expectDocument('settings.md', 'What the variables of a start mean', [
    ['only what must be set', membersOf(fewest).join('\n')],
    ['what as many as can be set otherwise', membersOf(most, fewest).join('\n')],
  ])
  expect(read(all).signingSecrets.map((key) => key.reveal())).toEqual([oldKey, newKey])
  expect(read(all).slack.signingSecrets?.map((key) => key.reveal())).toEqual([required.SLACK_SIGNING_SECRET, 'the-one-before'])
})

describe('an invalid configuration', () => {
  it('reports every missing and every bad variable at once', async () => {
    const env = {
      SLACK_BOT_TOKEN: 'xoxp-203-113-userusers',
      SLACK_SIGNING_SECRET: 'short',
      SLACK_APP_TOKEN: 'xoxb-203-113-botbotbot',
      SLACK_API_URL: 'slack.com',
      SLACK_COMMAND: 'infra',
      INFRA_API_URL: 'http://api.example.com',
      INFRA_API_KEY: 'two words',
      INFRA_READS_PER_MINUTE: '9',
      INFRA_WRITES_PER_MINUTE: 'many',
      REDIS_URL: 'redis://:p#w@redis.example.com',
      REDIS_SENTINEL_PASSWORD: 'two words',
      STATE_KEY: `${newKey},short`,
      HOST: 'localhost',
      PORT: 'http',
      OPS_HOST: '10.0.0',
      OPS_PORT: '70000',
      ALERTS_HOST: 'alerts.example.com',
      ALERTS_PORT: '-1',
      ALERTS_TOKEN: `${alertsToken},short`,
      MACHINES_HOST: 'machines.example.com',
      MACHINES_PORT: '65536',
      ROLE: 'both',
      APPROVERS: 'ada,U0BEN00001,@oncall',
      OPERATORS: ',',
      CHANNELS: '#ops',
      NO_APPROVAL: 'ip.move,ip.delete,ip.evacuate',
      APPROVAL_TTL: '1 hour',
      OPEN_REQUESTS_PER_PERSON: '0',
      MOVE_POLL_INTERVAL: '0s',
      MOVE_POLL_BUDGET: '-1',
      MOVE_TIMEOUT: '99d',
      POLICY_FILE: 'policy.yml',
      OPS_CHANNEL: 'ops',
      WATCH_CHANGES: 'on',
      KEY_REVIEW: 'weekly',
      DOCS_URL: 'docs/',
      ENVIRONMENT: 'production\u0007',
      REDIS_PREFIX: '{lockkeeper}',
      ALLOW_VOLATILE_REDIS: 'yes',
      LOG_LEVEL: 'verbose',
    }
    const policy = () => 'rules:\n  - name: API keys\n    approve: nobody\n    changes: key.*\n'

    await expectDocument('configuration-errors.md', 'What a start says that cannot use its variables', [
      ['nothing set', linesFor({ SLACK_BOT_TOKEN: '', APPROVERS: '  ' }).join('\n')],
      ['nothing valid', linesFor(env, policy).join('\n')],
      ['nobody to tell', linesFor({ ...required, WATCH_CHANGES: 'true', KEY_REVIEW: 'true' }).join('\n')],
    ])
    const ofSecretFiles = secretVariables.map((name) => `${name}_FILE`)
    expect([...Object.keys(env), ...ofSecretFiles].toSorted()).toEqual(variableNames.toSorted())
  })

  it.each(secretVariables)('never shows the value of %s', (name) => {
    const value = 'very secret value'

    const lines = withOne(name, value)

    expect(lines.join('\n')).toContain(name)
    expect(lines.join('\n')).not.toContain(value)
  })

  it.each(['PORT', 'APPROVERS', 'LOG_LEVEL', 'OPS_CHANNEL', 'POLICY_FILE'])(
    'does not show a token that was entered in %s by mistake',
    (name) => {
      const lines = ['xoxb-203-113-botbotbot', 'xapp-1-A0LOCKKEEP-99', 'redis://:correct-horse@redis.example.com'].flatMap((value) =>
        withOne(name, value),
      )

      expect(lines).toHaveLength(3)
      expect(lines.join('\n')).not.toMatch(/botbotbot|LOCKKEEP|horse/)
    },
  )

  it.each([
    ['INFRA_API_URL', 'https://ada:pw@api.example.com'],
    ['INFRA_API_URL', 'https://:pw@api.example.com'],
    ['INFRA_API_URL', 'https://api.example.com?key=1'],
    ['INFRA_API_URL', 'ftp://api.example.com'],
    ['INFRA_API_URL', 'http://127.0.0.1.example.com'],
    ['REDIS_URL', 'http://redis.example.com'],
    ['REDIS_URL', 'redis:'],
    ['REDIS_URL', 'redis://redis.example.com/jobs'],
    ['REDIS_URL', 'redis.example.com:6379'],
  ])('rejects as %s the address %s', (name, url) => {
    expect(withOne(name, url)).toHaveLength(1)
  })

  describe('of alerts', () => {
    const on = { ...required, ALERTS_PORT: '9465', ALERTS_TOKEN: `${alertsToken},${newKey}` }

    it('takes a port and several tokens, and is off without a port', () => {
      expect(read(on).alerts).toMatchObject({ host: '127.0.0.1', port: 9465 })
      expect(read(on).alerts?.tokens.map((token) => token.reveal())).toEqual([alertsToken, newKey])
      expect(read({ ...on, ALERTS_PORT: '' }).alerts).toBeUndefined()
    })

    it('needs a token that nobody can guess', () => {
      expect(linesFor({ ...on, ALERTS_TOKEN: '' })).toEqual([
        expect.stringMatching(/^ALERTS_TOKEN is missing: with ALERTS_PORT it must be/),
      ])
      expect(linesFor({ ...on, ALERTS_TOKEN: `${alertsToken},${'x'.repeat(31)}` })).toEqual([
        expect.stringMatching(/^ALERTS_TOKEN must be a token of at least 32 characters/),
      ])
    })

    it('warns if one half of it is missing', () => {
      const policy = () =>
        `rules: [{name: r, changes: ip.evacuate, request: [alerts], approve: [S0ONCALL01]}]
alerts: [{name: a, match: {alertname: A}, server: instance, to: standby, channel: C0OPS00001}]`
      const { APPROVERS: _, ...others } = on
      const withPolicy = { ...others, POLICY_FILE: 'policy.yml' }

      expect(read(on).warnings).toEqual(['ALERTS_PORT is set, and POLICY_FILE has no alerts, so no alert leads to a request'])
      expect(read({ ...withPolicy, ALERTS_PORT: '' }, policy).warnings).toEqual([
        'POLICY_FILE has alerts, and ALERTS_PORT is not set, so none are received',
      ])
      expect(read({ ...withPolicy, ALERTS_PORT: '', ROLE: 'worker' }, policy).warnings).toEqual([])
      expect(read(withPolicy, policy).warnings).toEqual([])
    })
  })

  describe('of machines', () => {
    const { APPROVERS: _, ...others } = required
    const on = { ...others, POLICY_FILE: 'policy.yml', MACHINES_PORT: '9466', CI_TOKEN: `${oldKey},${newKey}`, BOT_TOKEN: alertsToken }
    const policy = (first = 'CI_TOKEN', second = 'BOT_TOKEN') => `
machines: [{name: ci, token: ${first}, channel: C0OPS00001}, {name: bot, token: ${second}, channel: C0OPS00001}]
rules: [{name: r, request: ['machine:ci', 'machine:bot'], approve: [S0ONCALL01]}]`
    const files =
      (yaml: string, secrets: Record<string, string> = {}) =>
      (path: string) =>
        secrets[path] ?? yaml

    it('takes the tokens of each machine from the variable that the policy names, or from its file', () => {
      const tokensOf = ({ machines }: ReturnType<typeof read>) =>
        [...(machines?.tokens ?? [])].map(([name, tokens]) => [name, ...tokens.map((token) => token.reveal())])

      expect(tokensOf(read(on, files(policy())))).toEqual([
        ['machine:ci', oldKey, newKey],
        ['machine:bot', alertsToken],
      ])
      const inFile = { ...on, BOT_TOKEN: '', BOT_TOKEN_FILE: '/run/secrets/bot' }
      expect(tokensOf(read(inFile, files(policy(), { '/run/secrets/bot': `${alertsToken}\n` })))[1]).toEqual(['machine:bot', alertsToken])
      expect(read({ ...on, MACHINES_PORT: '', CI_TOKEN: '' }, files(policy())).machines).toBeUndefined()
    })

    it('needs a token of its own for each machine, and no line shows one', () => {
      const lines = (more: object, ...variables: string[]) => linesFor({ ...on, ...more }, files(policy(...variables)))

      expect(lines({ CI_TOKEN: '' })).toEqual([
        'CI_TOKEN is missing: it must be a token for the machine ci, of at least 32 characters without spaces, or several, separated by commas',
      ])
      expect(lines({ CI_TOKEN: `${oldKey},short` })).toEqual([
        'CI_TOKEN must be a token for the machine ci, of at least 32 characters without spaces, or several, separated by commas',
      ])
      expect(lines({ BOT_TOKEN: newKey })).toEqual(['BOT_TOKEN holds a token that CI_TOKEN holds, too: each machine needs its own'])
      expect(lines({ ALERTS_PORT: '0', ALERTS_TOKEN: oldKey })).toEqual([
        'CI_TOKEN holds a token that ALERTS_TOKEN holds, too: each machine needs its own',
      ])
      expect(lines({}, 'STATE_KEY', 'ALERTS_TOKEN_FILE')).toEqual([
        'STATE_KEY is a variable of Lockkeeper: name another one for a machine',
        'ALERTS_TOKEN_FILE is a variable of Lockkeeper: name another one for a machine',
      ])
      expect(lines({ CI_TOKEN_FILE: '/run/secrets/ci' })).toEqual(['CI_TOKEN and CI_TOKEN_FILE are both set: keep one'])
    })

    it('removes the tokens from the environment, also if the start fails', () => {
      for (const wrong of [{}, { PORT: 'x' }]) {
        const env: NodeJS.ProcessEnv = { ...on, ...wrong }
        try {
          takeConfig(env, { kinds: changeKinds, bundles, readFile: files(policy()) })
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError)
        }
        expect(Object.keys(env)).not.toContain('CI_TOKEN')
        expect(Object.keys(env)).not.toContain('BOT_TOKEN')
      }
    })

    it('warns if one half of it is missing', () => {
      expect(read({ ...required, MACHINES_PORT: '9466' }).warnings).toEqual([
        'MACHINES_PORT is set, and POLICY_FILE has no machines, so nobody can use it',
      ])
      const off = { ...on, MACHINES_PORT: '' }
      expect(read(off, files(policy())).warnings).toEqual([
        'POLICY_FILE has machines, and MACHINES_PORT is not set, so they can request nothing',
      ])
      expect(read({ ...off, ROLE: 'worker' }, files(policy())).warnings).toEqual([])
      expect(read(on, files(policy())).warnings).toEqual([])
    })
  })

  it('needs a separate port for each purpose', () => {
    const alerts = { ALERTS_PORT: '9465', ALERTS_TOKEN: alertsToken }
    const line = 'PORT, OPS_PORT, ALERTS_PORT and MACHINES_PORT must differ'

    for (const same of [{ OPS_PORT: '3000' }, { PORT: '9464' }, { ALERTS_PORT: '3000' }, { ALERTS_PORT: '9464' }])
      expect(linesFor({ ...required, ...alerts, ...same })).toEqual([line])
    expect(linesFor({ ...required, PORT: '0', OPS_PORT: '0' })).toEqual([])
    expect(linesFor({ ...required, OPS_PORT: '3000', SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99' })).toEqual([])
  })

  it('ends the start with these lines, exit code 1 and no stack trace', async () => {
    const env = { ...systemEnvironment(), SLACK_BOT_TOKEN: 'xoxp-203-113-userusers' }

    const run = await promisify(execFile)(process.execPath, [botProgram('main')], { env }).catch((error) => error)

    expect(run).toMatchObject({ code: 1, stdout: '', stderr: `${linesFor(env).join('\n')}\n` })
  })
})

const policyText = `
rules:
  - name: everything
    approve: [S0ONCALL01]
`

describe('the policy', () => {
  it('comes from the policy file if there is one, and then needs no APPROVERS', () => {
    const readPaths: string[] = []
    const readFile = (path: string) => {
      readPaths.push(path)
      return policyText
    }

    const config = read({ ...required, APPROVERS: '', POLICY_FILE: 'ops/policy.yml', APPROVAL_TTL: '1h' }, readFile)

    expect({ policy: config.policy }).toEqual(
      readPolicy(policyText, 'ops/policy.yml', { kinds: changeKinds, bundles, expiresMs: 3_600_000 }),
    )
    expect(config.policy.rules).toMatchObject([{ name: 'everything', expiresMs: 3_600_000 }])
    expect(config.warnings).toEqual([])
    expect(readPaths).toEqual(['ops/policy.yml'])
  })

  it('from a file replaces the policy variables, with a warning for each, and these must still be valid', () => {
    const env = { ...required, POLICY_FILE: 'policy.yml', OPERATORS: 'U0ADA00001', CHANNELS: 'C0OPS00001', NO_APPROVAL: 'vm.rename' }

    expect(read(env, () => policyText)).toMatchObject({
      policy: { rules: [{ name: 'everything', channels: undefined, request: undefined }] },
      warnings: ['APPROVERS', 'OPERATORS', 'CHANNELS', 'NO_APPROVAL'].map(
        (name) => `${name} has no effect: POLICY_FILE is the whole policy`,
      ),
    })
    expect(linesFor({ ...env, APPROVERS: 'ben' }, () => policyText)).toEqual([expect.stringMatching(/^APPROVERS must be /)])
  })

  it('in a file that cannot be read reports why', () => {
    const readFile = () => {
      throw Object.assign(new Error("EACCES: open '/run/secrets/policy.yml'"), { code: 'EACCES' })
    }

    expect(linesFor({ ...required, POLICY_FILE: 'ops/policy.yml' }, readFile)).toEqual([
      'POLICY_FILE "ops/policy.yml" cannot be read (EACCES). Relative paths start at the working directory',
    ])
  })
})

describe('the configuration of Redis alone', () => {
  it('needs no other variable and has a default prefix', () => {
    const { url, prefix } = readAuditConfig({ REDIS_URL: ` ${required.REDIS_URL}\n`, PORT: 'http' })

    expect(url.reveal()).toBe(required.REDIS_URL)
    expect(`${url}`).toBe('[redacted]')
    expect(prefix).toBe('lockkeeper')
    expect(readAuditConfig({ ...required, REDIS_PREFIX: 'lockkeeper-2' }).prefix).toBe('lockkeeper-2')
  })

  it('takes the keys of the signatures from STATE_KEY, or else from INFRA_API_KEY, and does without both', () => {
    const secrets = (env: Record<string, string>) => readAuditConfig({ REDIS_URL: required.REDIS_URL, ...env }).signingSecrets
    const both = { INFRA_API_KEY: required.INFRA_API_KEY, STATE_KEY: `${newKey},${oldKey}` }

    expect(secrets(both)?.map((each) => each.reveal())).toEqual([newKey, oldKey])
    expect(secrets({ INFRA_API_KEY: required.INFRA_API_KEY })?.map((each) => each.reveal())).toEqual([required.INFRA_API_KEY])
    expect(secrets({})).toBeUndefined()
  })
})

describe('secrets', () => {
  const files: Record<string, string> = {
    '/run/secrets/key': ' lk_9f2c1b7e4d\n',
    '/run/secrets/empty': '\n',
    '/run/secrets/bad': 'two words',
  }
  const readFile = (path: string) => {
    const text = files[path]
    if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
    return text
  }
  const { INFRA_API_KEY: _, ...withoutKey } = required

  it.each(secretVariables)('can come from a file: %s', (name) => {
    const values: Record<string, string> = {
      ...required,
      SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99',
      REDIS_SENTINEL_PASSWORD: 'p4ss-of-the-sentinels',
      STATE_KEY: newKey,
      ALERTS_PORT: '9465',
      ALERTS_TOKEN: alertsToken,
    }
    const { [name]: secret = '', ...others } = values

    const config = read({ ...others, [`${name}_FILE`]: '/run/secrets/one' }, () => `${secret}\n`)

    const { slack, infra, redis, signingSecrets, alerts } = config
    const all = [
      slack.botToken,
      ...(slack.signingSecrets ?? []),
      slack.appToken,
      infra.key,
      redis.url,
      redis.sentinelPassword,
      ...signingSecrets,
      ...(alerts?.tokens ?? []),
    ]
    expect(all.map((each) => each?.reveal()).toSorted()).toEqual(secretVariables.map((each) => values[each]).toSorted())
  })

  it('in files that cannot be used give one line each, without the secret', () => {
    const lines = [
      { INFRA_API_KEY: 'lk_9f2c1b7e4d', INFRA_API_KEY_FILE: '/run/secrets/key' },
      { INFRA_API_KEY_FILE: '/run/secrets/empty' },
      { INFRA_API_KEY_FILE: '/run/secrets/bad' },
      { INFRA_API_KEY_FILE: 'lk_9f2c1b7e4d' },
    ].flatMap((env) => linesFor({ ...withoutKey, ...env }, readFile))

    expect(lines).toMatchInlineSnapshot(`
      [
        "INFRA_API_KEY and INFRA_API_KEY_FILE are both set: keep one",
        "INFRA_API_KEY_FILE names an empty file: write the secret into it",
        "INFRA_API_KEY must be a key of the account API, in one word",
        "INFRA_API_KEY_FILE must be a path: the file cannot be read (ENOENT). Relative paths start at the working directory",
      ]
    `)
    expect(
      linesFor({ ...withoutKey, SLACK_SIGNING_SECRET: '', SLACK_SIGNING_SECRET_FILE: '/nowhere', INFRA_API_KEY: 'k' }, readFile),
    ).toEqual([expect.stringMatching(/^SLACK_SIGNING_SECRET_FILE must be /)])
  })

  it('are removed from the environment and print as [redacted]', () => {
    const alerts = { ALERTS_PORT: '9465', ALERTS_TOKEN: alertsToken }
    const env: NodeJS.ProcessEnv = {
      ...required,
      ...alerts,
      SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99',
      STATE_KEY: newKey,
      HOME: '/home/node',
    }

    const config = takeConfig(env, { kinds: changeKinds, bundles })

    expect(env).toEqual({ HOME: '/home/node', INFRA_API_URL: required.INFRA_API_URL, APPROVERS: required.APPROVERS, ALERTS_PORT: '9465' })
    expect(`${inspect(config, { depth: 9 })}${JSON.stringify(config)}`).not.toMatch(
      /botbotbot|zzz85a5|lk_9f2c|horse|A0LOCKKEEP|a-new-key|a-token-of-alerts/,
    )
  })

  it('are removed even if the configuration is invalid', () => {
    const env: NodeJS.ProcessEnv = { INFRA_API_KEY: 'lk_9f2c1b7e4d' }

    expect(() => takeConfig(env, { kinds: changeKinds, bundles })).toThrow(ConfigError)
    expect(env).toEqual({})
  })
})
