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

const policyText = 'rules: [{name: everything, approve: [S0ONCALL01]}]'
const withPolicy = { ...required, APPROVERS: '', POLICY_FILE: 'policy.yml' }

/** What the policy file and the files of secrets hold. */
const files =
  (policy = policyText, secrets: Record<string, string> = {}) =>
  (path: string) => {
    if (path === 'policy.yml') return policy
    const text = secrets[path]
    if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
    return text
  }

const ofAlerts = `
rules: [{name: r, changes: ip.evacuate, request: [alerts], approve: [S0ONCALL01]}]
alerts: [{name: a, match: {alertname: A}, server: instance, to: standby, channel: C0OPS00001}]`
const alertsOn = { ALERTS_PORT: '9465', ALERTS_TOKEN: `${alertsToken},${newKey}` }

const ofMachines = (first = 'CI_TOKEN', second = 'BOT_TOKEN') => `
machines: [{name: ci, token: ${first}, channel: C0OPS00001}, {name: bot, token: ${second}, channel: C0OPS00001}]
rules: [{name: r, request: ['machine:ci', 'machine:bot'], approve: [S0ONCALL01]}]`
const machinesOn = { ...withPolicy, MACHINES_PORT: '9466', CI_TOKEN: `${oldKey},${newKey}`, BOT_TOKEN: alertsToken }

type Start = [env: Record<string, string | undefined>, readFile?: (path: string) => string]

/** Starts that cannot be, or of which operators are warned, and some beside them of which nothing is to say. */
const starts: Record<string, Start> = {
  'nothing set': [{ SLACK_BOT_TOKEN: '', APPROVERS: '  ' }],
  'nobody to tell': [{ ...required, WATCH_CHANGES: 'true', KEY_REVIEW: 'true' }],
  ...Object.fromEntries(
    ['https://ada:pw@x.com', 'https://:pw@x.com', 'https://x.com?key=1', 'ftp://x.com', 'http://127.0.0.1.x.com'].map(
      (url): [string, Start] => [`the account API at ${url}`, [{ ...required, INFRA_API_URL: url }]],
    ),
  ),
  ...Object.fromEntries(
    ['http://x.com', 'redis:', 'redis://x.com/jobs', 'x.com:6379'].map((url): [string, Start] => [
      `Redis at ${url}`,
      [{ ...required, REDIS_URL: url }],
    ]),
  ),
  'alerts without a token': [{ ...required, ...alertsOn, ALERTS_TOKEN: '' }],
  'alerts with one token of 31 characters': [{ ...required, ...alertsOn, ALERTS_TOKEN: `${alertsToken},${'x'.repeat(31)}` }],
  'alerts without a policy': [{ ...required, ...alertsOn }],
  'alerts with a policy': [{ ...withPolicy, ...alertsOn }, files(ofAlerts)],
  'a policy of alerts without a port': [withPolicy, files(ofAlerts)],
  'a policy of alerts without a port, in a worker': [{ ...withPolicy, ROLE: 'worker' }, files(ofAlerts)],
  'machines with a policy': [machinesOn, files(ofMachines())],
  'machines without a policy': [{ ...required, MACHINES_PORT: '9466' }],
  'a policy of machines without a port': [{ ...machinesOn, MACHINES_PORT: '' }, files(ofMachines())],
  'a policy of machines without a port, in a worker': [{ ...machinesOn, MACHINES_PORT: '', ROLE: 'worker' }, files(ofMachines())],
  'a machine without a token': [{ ...machinesOn, CI_TOKEN: '' }, files(ofMachines())],
  'a machine with a short token': [{ ...machinesOn, CI_TOKEN: `${oldKey},short` }, files(ofMachines())],
  'machines with the same token': [{ ...machinesOn, BOT_TOKEN: newKey }, files(ofMachines())],
  'a machine with a token of alerts': [{ ...machinesOn, ALERTS_PORT: '0', ALERTS_TOKEN: oldKey }, files(ofMachines())],
  'machines with variables of Lockkeeper': [machinesOn, files(ofMachines('STATE_KEY', 'ALERTS_TOKEN_FILE'))],
  'a machine with a token and a file of it': [{ ...machinesOn, CI_TOKEN_FILE: '/run/secrets/ci' }, files(ofMachines())],
  'the public and the operations port are one': [{ ...required, OPS_PORT: '3000' }],
  'they are one, by the port of the other': [{ ...required, PORT: '9464' }],
  'the public port and that of alerts are one': [{ ...required, ...alertsOn, ALERTS_PORT: '3000' }],
  'the operations port and that of alerts are one': [{ ...required, ...alertsOn, ALERTS_PORT: '9464' }],
  'any free ports': [{ ...required, PORT: '0', OPS_PORT: '0' }],
  'the operations port is the default of a public one that Socket Mode does not open': [
    { ...required, OPS_PORT: '3000', SLACK_APP_TOKEN: 'xapp-1-A0LOCKKEEP-99' },
  ],
  'a policy file beside its variables': [
    { ...withPolicy, APPROVERS: 'U0BEN00001', OPERATORS: 'U0ADA00001', CHANNELS: 'C0OPS00001', NO_APPROVAL: 'vm.rename' },
    files(),
  ],
  'a policy file beside a variable that is not valid': [{ ...withPolicy, APPROVERS: 'ben' }, files()],
  'a policy file that is not there': [{ ...withPolicy, POLICY_FILE: 'ops/policy.yml' }, files()],
  'a secret and a file of it': [{ ...required, INFRA_API_KEY_FILE: '/run/secrets/key' }, files('', { '/run/secrets/key': oldKey })],
  'an empty file of a secret': [{ ...required, INFRA_API_KEY: '', INFRA_API_KEY_FILE: '/empty' }, files('', { '/empty': '\n' })],
  'a file of a secret with two words': [{ ...required, INFRA_API_KEY: '', INFRA_API_KEY_FILE: '/bad' }, files('', { '/bad': 'two words' })],
  'a secret in place of its file': [{ ...required, INFRA_API_KEY: '', INFRA_API_KEY_FILE: 'lk_9f2c1b7e4d' }, files()],
  'a file that is not there, beside a bad secret': [
    { ...required, SLACK_SIGNING_SECRET: '', SLACK_SIGNING_SECRET_FILE: '/nowhere', INFRA_API_KEY: 'k' },
    files(),
  ],
}

const saidOf = (start: Start) =>
  linesFor(...start).join('\n') ||
  read(...start)
    .warnings.map((one) => `Warning: ${one}`)
    .join('\n') ||
  'nothing'

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
  it('reports every missing and every bad variable at once, as in configuration-errors.md', async () => {
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
      PUBLIC_URL: 'http://lockkeeper.example.com/path',
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

    await expectDocument('configuration-errors.md', 'What a start says of its variables', [
      ['nothing valid', linesFor(env, policy).join('\n')],
      ...Object.entries(starts).map(([what, start]): [string, string] => [what, saidOf(start)]),
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

  it('ends the start with these lines, exit code 1 and no stack trace', async () => {
    const env = { ...systemEnvironment(), SLACK_BOT_TOKEN: 'xoxp-203-113-userusers' }

    const run = await promisify(execFile)(process.execPath, [botProgram('main')], { env }).catch((error) => error)

    expect(run).toMatchObject({ code: 1, stdout: '', stderr: `${linesFor(env).join('\n')}\n` })
  })
})

test('alerts have a port and several tokens, and are off without a port', () => {
  expect(read({ ...required, ...alertsOn }).alerts).toMatchObject({ host: '127.0.0.1', port: 9465 })
  expect(read({ ...required, ...alertsOn }).alerts?.tokens.map((token) => token.reveal())).toEqual([alertsToken, newKey])
  expect(read({ ...required, ...alertsOn, ALERTS_PORT: '' }).alerts).toBeUndefined()
})

test('a machine has the tokens of the variable that the policy names, or of its file', () => {
  const tokensOf = ({ machines }: ReturnType<typeof read>) =>
    [...(machines?.tokens ?? [])].map(([name, tokens]) => [name, ...tokens.map((token) => token.reveal())])
  const inFile = { ...machinesOn, BOT_TOKEN: '', BOT_TOKEN_FILE: '/run/secrets/bot' }

  for (const env of [machinesOn, inFile])
    expect(tokensOf(read(env, files(ofMachines(), { '/run/secrets/bot': `${alertsToken}\n` })))).toEqual([
      ['machine:ci', oldKey, newKey],
      ['machine:bot', alertsToken],
    ])
  expect(read({ ...machinesOn, MACHINES_PORT: '', CI_TOKEN: '' }, files(ofMachines())).machines).toBeUndefined()
})

describe('the policy', () => {
  it('comes from the policy file if there is one, and then needs no APPROVERS', () => {
    const { policy, warnings } = read({ ...withPolicy, APPROVAL_TTL: '1h' }, files())

    expect({ policy }).toEqual(readPolicy(policyText, 'policy.yml', { kinds: changeKinds, bundles, expiresMs: 3_600_000 }))
    expect(policy.rules).toMatchObject([{ name: 'everything', expiresMs: 3_600_000 }])
    expect(warnings).toEqual([])
  })

  it('from a file replaces the policy variables', () => {
    const { policy } = read({ ...withPolicy, OPERATORS: 'U0ADA00001', CHANNELS: 'C0OPS00001', NO_APPROVAL: 'vm.rename' }, files())

    expect(policy).toMatchObject({ rules: [{ name: 'everything', channels: undefined, request: undefined }] })
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

  it('are removed even if the configuration is invalid, and so are those of machines', () => {
    const env: NodeJS.ProcessEnv = { INFRA_API_KEY: 'lk_9f2c1b7e4d' }
    expect(() => takeConfig(env, { kinds: changeKinds, bundles })).toThrow(ConfigError)
    expect(env).toEqual({})

    for (const wrong of [{}, { PORT: 'x' }]) {
      const ofBoth: NodeJS.ProcessEnv = { ...machinesOn, ...wrong }
      const take = () => takeConfig(ofBoth, { kinds: changeKinds, bundles, readFile: files(ofMachines()) })
      if ('PORT' in wrong) expect(take).toThrow(ConfigError)
      else take()
      expect(Object.keys(ofBoth)).not.toContain('CI_TOKEN')
      expect(Object.keys(ofBoth)).not.toContain('BOT_TOKEN')
    }
  })
})
