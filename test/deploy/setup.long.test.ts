import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../sandbox/programs.ts'
import { findRedisServer, startRedis } from '../sandbox/redis/start-redis.ts'
import {
  accountApi,
  answers,
  folder,
  keys,
  openTerminal,
  posts,
  runSetup,
  setStage,
  slack,
  stage,
  written,
  wrongNow,
} from './setup-terminal.ts'

const { enter, tab, up, ctrlC, ctrlD, ctrlZ } = keys

setStage()

/** The questions in their order, each with the keys that answer it. */
const questions = (): [question: string, ...answer: string[]][] => [
  ['How does Slack reach Lockkeeper?', enter],
  ['Bot User OAuth Token', `${slack.botToken}${enter}`],
  ['App-level token', `${slack.appToken}${enter}`],
  ['Address of the account API', `${accountApi.url}${enter}`],
  ['Key with full access', `${accountApi.key}${enter}`],
  ['Which Redis stores the requests?', `${up}${enter}`],
  ['Address of Redis', `${inject('redisUrl')}${enter}`],
  ['Who may approve?', `oncall`, tab, enter],
  ['Write a policy.yml', `y`],
  ['Link or id of that channel', `C0OPS00001${enter}`],
]

test('the set-up asks for everything, says what is wrong with each answer and asks again, writes .env, and ends with the bot running', async () => {
  const volatile = await startRedis()
  onTestFinished(volatile.stop)
  const client = new Redis(volatile.url)
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
  client.disconnect()
  slack.workspace.userGroups.push({ id: 'S0EMPTY001', handle: 'empty', name: 'Empty', members: [] })
  onTestFinished(() => void slack.workspace.userGroups.pop())
  const readOnly = accountApi.world.data.apiKeys.find((key) => key.readOnly)?.token ?? ''
  const terminal = openTerminal()
  const tries = async (...wrong: [typed: string, says: string][]) => {
    for (const [typed, says] of wrong) {
      terminal.type(`${typed}${enter}`)
      await terminal.says(says)
    }
  }

  await terminal.answer('How does Slack reach Lockkeeper?', enter)
  await terminal.says('https://api.slack.com/apps?new_app=1&manifest_json=')
  await terminal.says('Bot User OAuth Token')
  terminal.type(keys.escape)
  await wait(300)
  await tries(
    ['', 'Type an answer'],
    ['xapp-of-an-app', 'which begins with xoxb-'],
    ['xoxb-of-another', 'Rejected the bot token (invalid_auth)'],
  )
  terminal.type(`${slack.botToken}${enter}`)
  await terminal.says('@lockkeeper in the workspace')
  await terminal.says('App-level token')
  await tries([slack.botToken, 'which begins with xapp-'], ['xapp-of-another', "Slack doesn't open Socket Mode (invalid_auth)"])
  terminal.type(`${slack.appToken}${enter}`)
  await terminal.says('Address of the account API')
  await tries(['http://account.example.com', 'must be the base address'])
  terminal.type('\x15')
  await tries(['http://127.0.0.1:9', 'Not reachable: connection refused'])
  terminal.type(`\x15${accountApi.url}/v2${enter}`)
  await terminal.says('Key with full access')
  await tries(['of-another-account', 'Rejected (401). Create a key'])
  terminal.type(`export INFRA_API_KEY="${accountApi.key}"${enter}`)
  await terminal.says('Returned an error (404)')
  await terminal.answer('Address of the account API', `\x15${accountApi.url}${enter}`)
  await terminal.says('Key with full access')
  await tries([readOnly, "is read-only, so Lockkeeper can't make changes. Create a key"])
  terminal.type(enter)
  await terminal.says('The key "lockkeeper" of lockkeeper@nimbus.example can make changes.')
  await terminal.answer('Which Redis stores the requests?', `${up}${enter}`)
  await terminal.says('Address of Redis')
  await tries(
    ['127.0.0.1:6379', 'must be redis:// or rediss:// with a host'],
    ['redis://127.0.0.1:9', 'ECONNREFUSED'],
    [volatile.url.replace(volatile.password, 'another'), 'WRONGPASS'],
    [volatile.url, "Set maxmemory-policy noeviction. Redis doesn't write changes to disk (appendonly no). Set appendonly yes."],
  )
  terminal.type(`${inject('redisUrl')}${enter}`)
  await terminal.says('Who may approve? Tab selects.')
  await tries(['', 'Please select'])
  terminal.type('empty')
  await terminal.says('(1 match)')
  terminal.type(tab)
  await terminal.later(enter)
  await terminal.says('S0EMPTY001 is empty or disabled')
  await terminal.answer('Who may approve?', tab)
  await terminal.says('◻ @empty')
  terminal.type('oncall')
  await terminal.says('(1 match)')
  terminal.type(tab)
  await terminal.says('◼ @oncall')
  terminal.type(enter)
  await terminal.says('Approvers: @oncall')
  await terminal.answer('Write a policy.yml', enter)
  await terminal.says('Link or id of that channel')
  await tries(['#ops', 'must be a channel id'])
  terminal.type('\x15')
  await tries(['C0GENERAL1', "Lockkeeper isn't in C0GENERAL1"])
  const before = posts()
  terminal.type(`\x15https://nimbus-works.slack.com/archives/C0OPS00001${enter}`)
  await terminal.says('Wrote .env')
  expect(posts()).toBe(before + 1)
  await terminal.answer('Start Lockkeeper now?', enter)
  await terminal.says('Starting…')
  await terminal.says('Type /infra doctor in #ops')

  await slack.as('U0ADA00001').command('/infra doctor', { channel: 'ops' })
  await slack.until(() => slack.ephemerals('U0ADA00001').some(({ text }) => text.includes('No check failed')))
  terminal.type(ctrlC)
  expect(await terminal.ended()).toBe(0)

  expect(written()).toMatchObject({ ...answers(), ...stage(), STATE_KEY: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['.env'])
  expect(terminal.output()).not.toMatch(/IMPORTANT!|ALLOW_VOLATILE_REDIS/)
  const secrets = [
    slack.botToken,
    slack.appToken,
    accountApi.key,
    readOnly,
    inject('redisUrl'),
    volatile.password,
    'of-another',
    written().STATE_KEY,
  ]
  expect(secrets.filter((secret) => terminal.raw().includes(secret ?? ''))).toEqual([])

  // The bot has signed what is in Redis with a key that only its .env had.
  rmSync(join(folder, '.env'))
  const lost = { ...stage(), ...answers() }
  expect(await runSetup({ env: lost })).toMatchObject({
    code: 1,
    output: expect.stringContaining('Give all processes the same STATE_KEY, or set another REDIS_PREFIX to start over.'),
  })
  expect(await wrongNow(lost)).toContain('signs with a key that this process does not have')
  expect(readdirSync(folder)).toEqual([])
})

test('the set-up writes nothing if it is interrupted, at whatever question', async () => {
  for (const count of questions().keys()) {
    const terminal = openTerminal()
    for (const [question, ...answer] of questions().slice(0, count)) {
      for (const [index, text] of answer.entries()) await (index === 0 ? terminal.answer(question, text) : terminal.later(text))
    }
    await terminal.answer(questions()[count]?.[0] ?? '', ctrlC)

    await terminal.says('Stopped. No settings were written.')
    expect(await terminal.ended()).toBe(130)
    expect(readdirSync(folder)).toEqual([])
  }
})

test('the set-up ends at Ctrl-C during a check and at Ctrl-D, and Ctrl-Z leads to the shell and back', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const { INFRA_API_URL: _, ...others } = answers()

  const checking = openTerminal(others)
  await checking.answer('Address of the account API', `http://127.0.0.1:${(silent.address() as AddressInfo).port}${enter}`)
  await checking.answer('Validating', ctrlC)
  const closed = openTerminal(others)
  await closed.answer('Address of the account API', ctrlD)
  for (const terminal of [checking, closed]) {
    await terminal.says('Stopped. No settings were written.')
    expect(await terminal.ended()).toBe(130)
    expect(terminal.raw().lastIndexOf('\x1b[?25h')).toBeGreaterThan(terminal.raw().lastIndexOf('\x1b[?25l'))
  }

  const shell = openTerminal(others, { inShell: true })
  await shell.answer('Address of the account API', ctrlZ)
  await shell.says('Stopped')
  shell.type(`echo back $((1 + 1)); fg${enter}`)
  await shell.says('back 2')
  await shell.later(`http://127.0.0.1:9${enter}`)
  await shell.answer('connection refused', ctrlC)
  await shell.says('No settings were written.')
  expect(readdirSync(folder)).toEqual([])
})

test('the set-up leads to a bot over HTTP, with the manifest for its address', async () => {
  const terminal = openTerminal({
    INFRA_API_URL: accountApi.url,
    INFRA_API_KEY: accountApi.key,
    REDIS_URL: inject('redisUrl'),
    APPROVERS: 'S0ONCALL01',
  })
  await terminal.answer('How does Slack reach Lockkeeper?', `${keys.down}${enter}`)
  await terminal.answer('Public address of Lockkeeper', `http://bot.example.org${enter}`)
  await terminal.says('Type an https address')
  terminal.type(`\x15https://bot.example.org/${enter}`)
  await terminal.says('https://bot.example.org/slack/events')
  await terminal.answer('Bot User OAuth Token', `${slack.botToken}${enter}`)
  await terminal.says('Signing Secret')
  for (const wrong of ['two words', slack.botToken]) {
    terminal.type(`${wrong}${enter}`)
    await terminal.says('must be the signing secret')
  }
  terminal.type(`${slack.signingSecret}${enter}`)
  await terminal.answer('Write a policy.yml', enter)
  await terminal.answer('Link or id of that channel', `C0OPS00001${enter}`)
  await terminal.answer('Start Lockkeeper now?', 'n')

  expect(await terminal.ended()).toBe(0)
  expect(written()).toMatchObject({ SLACK_SIGNING_SECRET: slack.signingSecret })
  expect(decodeURIComponent(terminal.output())).toContain('"request_url":"https://bot.example.org/slack/events"')
  expect(terminal.raw()).not.toContain(slack.signingSecret)
})

test('the set-up starts the Redis of docker-compose.yml, with a password and a port for this machine alone', async () => {
  const port = await freePort()
  const programs = join(folder, 'bin')
  mkdirSync(programs)
  const redis = `"${await findRedisServer()}" --port ${port} --bind 127.0.0.1 --requirepass "$(cat secrets/redis_password)" --appendonly yes --daemonize yes --pidfile "$PWD/redis.pid"`
  // A container engine for this test: it keeps what it was given, and starts the Redis of this machine.
  const engine = `#!/bin/sh\ncase "$*" in *" up "*) echo "$@" > words; cat > compose.yml; ${redis} > redis.log;; esac\n`
  writeFileSync(join(programs, 'docker'), engine)
  chmodSync(join(programs, 'docker'), 0o755)
  onTestFinished(() => {
    // Redis does not end on SIGTERM once its folder is gone.
    if (existsSync(join(folder, 'redis.pid'))) process.kill(Number(readFileSync(join(folder, 'redis.pid'), 'utf8')), 'SIGKILL')
  })

  const terminal = openTerminal({
    PATH: `${programs}${delimiter}${process.env.PATH}`,
    REDIS_PORT: String(port),
    ...{ SLACK_BOT_TOKEN: slack.botToken, SLACK_APP_TOKEN: slack.appToken, OPS_CHANNEL: 'C0OPS00001' },
    ...{ INFRA_API_URL: accountApi.url, INFRA_API_KEY: accountApi.key, APPROVERS: 'S0ONCALL01' },
  })
  await terminal.says('Start one with Docker Compose')
  terminal.type(enter)
  await terminal.answer('Write a policy.yml', enter)
  await terminal.answer('Start Lockkeeper now?', 'n')
  expect(await terminal.ended()).toBe(0)

  const password = readFileSync(join(folder, 'secrets/redis_password'), 'utf8').trim()
  expect(written().REDIS_URL).toBe(`redis://:${password}@127.0.0.1:${port}`)
  expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(folder, 'words'), 'utf8')).toBe(`compose --project-directory ${folder} --file - up --detach redis\n`)
  const { services, volumes, secrets } = parse(readFileSync(join(folder, 'compose.yml'), 'utf8'))
  const shipped = parse(readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8'))
  expect(services).toEqual({ redis: { ...shipped.services.redis, ports: [`127.0.0.1:${port}:6379`] } })
  expect([volumes, secrets]).toEqual([shipped.volumes, { redis_password: { file: 'secrets/redis_password' } }])
  expect(terminal.raw()).not.toContain(password)
})

test('the set-up asks only for what no variable answers, and for those that are wrong', async () => {
  const terminal = openTerminal({ ...answers(), INFRA_API_KEY: 'of-another-account', POLICY_FILE: 'policy.yml' })
  await terminal.says('INFRA_API_KEY: Rejected (401)')
  await terminal.answer('Key with full access', `${accountApi.key}${enter}`)
  await terminal.says('Unset INFRA_API_KEY, APPROVERS in this shell: the shell overrides .env.')
  await terminal.answer('Start Lockkeeper now?', ctrlC)
  expect(await terminal.ended()).toBe(0)

  expect(written()).toMatchObject({ INFRA_API_KEY: accountApi.key, POLICY_FILE: 'policy.yml' })
  expect(written().APPROVERS ?? '').toBe('')
  expect(readFileSync(join(folder, 'policy.yml'), 'utf8')).toContain('approve: [S0ONCALL01]')
  expect(await runSetup({ args: ['--check'], env: {} })).toMatchObject({ code: 0 })
})

test.each([
  ['SLACK_BOT_TOKEN', 'xoxb-of-another', 'Rejected the bot token (invalid_auth)'],
  ['INFRA_API_URL', 'account.example.com', '\nINFRA_API_URL must be the base address'],
  ['INFRA_API_KEY', 'of-another-account', 'INFRA_API_KEY: Rejected (401). Create a key with full access.\n'],
  ['APPROVERS', 'U0DOV00001', "U0DOV00001 is a guest, so it can't approve"],
  ['APPROVERS', 'S0NOPE0001', 'APPROVERS names S0NOPE0001, and Slack has no user group with this id.'],
])('the set-up says what is wrong with %s, and writes nothing', async (name, value, says) => {
  const { code, output } = await runSetup({ env: { ...stage(), ...answers(), [name]: value } })

  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining(says) })
  expect(readdirSync(folder)).toEqual([])
})

test('the set-up uses a policy.yml that is there, replaces none, and says what is wrong with it', async () => {
  const { APPROVERS: _, ...others } = answers()
  const policy = join(folder, 'policy.yml')
  writeFileSync(policy, 'rules: []\n')
  const wrong = await runSetup({ env: { ...stage(), ...others, POLICY_FILE: 'policy.yml' } })
  expect(wrong.output).not.toContain('is right')
  expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining('POLICY_FILE policy.yml, line 1') })
  expect(readdirSync(folder)).toEqual(['policy.yml'])

  const text = 'rules:\n  - {name: all, request: everyone, approve: [S0ONCALL01]}\n'
  const terminal = openTerminal(others)
  await terminal.answer('Does the policy.yml in this folder say who may approve?', 'y')
  await terminal.says('POLICY_FILE policy.yml, line 1')
  writeFileSync(policy, text)
  await terminal.answer('Does the policy.yml in this folder say who may approve?', enter)
  await terminal.answer('Start Lockkeeper now?', enter)
  await terminal.answer('Starting…', ctrlC)
  await terminal.says('Stopped.')
  expect(await terminal.ended()).toBe(130)
  expect(written().POLICY_FILE).toBe('policy.yml')
  expect(readFileSync(policy, 'utf8')).toBe(text)
})

test('the set-up keeps what is there, and posts nothing a second time', async () => {
  expect(await runSetup({ env: { ...stage(), ...answers() } })).toMatchObject({ code: 0 })
  const [text, before] = [readFileSync(join(folder, '.env'), 'utf8'), posts()]

  const terminal = openTerminal()
  await terminal.says('Enter keeps the answers that are already there.')
  const questions = ['How does Slack', 'Bot User', 'App-level', 'Address of the account', 'Key with full access', 'Which Redis']
  for (const question of [...questions, 'Who may approve?', 'Write a policy.yml', 'Link or id']) await terminal.answer(question, enter)
  await terminal.answer('Start Lockkeeper now?', 'n')
  await terminal.says('Start Lockkeeper with npm start.')

  expect(await terminal.ended()).toBe(0)
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(text)
  expect(posts()).toBe(before)
  expect(terminal.output()).not.toContain('manifest_json')
})

test('the set-up changes the app that is there for another transport, keeps everything else, and says if the address does not reach Lockkeeper', async () => {
  expect(await runSetup({ env: { ...stage(), ...answers(), ENVIRONMENT: 'staging' } })).toMatchObject({ code: 0 })
  const { SLACK_APP_TOKEN: _, ...others } = written()

  const inShell = { PORT: String(await freePort()), LOG_LEVEL: 'warn' }
  const terminal = openTerminal({ ...inShell, APPROVERS: 'ada' })
  const address = `https://127.0.0.1:${await freePort()}`
  await terminal.answer('How does Slack', `${keys.down}${enter}`)
  await terminal.answer('Public address of Lockkeeper', `${address}${enter}`)
  await terminal.says(`request_url: ${address}/slack/events`)
  await terminal.says('Change the Slack app: 1. Open api.slack.com/apps, your app, App Manifest.')
  await terminal.answer('Bot User', enter)
  await terminal.answer('Signing Secret', `${slack.signingSecret}${enter}`)
  const questions = ['Address of the account', 'Key with full access', 'Which Redis']
  for (const question of questions) await terminal.answer(question, enter)
  await terminal.says('APPROVERS must be the people who may approve')
  await terminal.answer('Who may approve?', 'ada')
  await terminal.later(tab)
  await terminal.later(enter)
  await terminal.says("Nobody can approve Ada Okafor's requests.")
  for (const question of ['Write a policy.yml', 'Link or id']) await terminal.answer(question, enter)
  await terminal.says('Unset APPROVERS in this shell')
  await terminal.answer('Start Lockkeeper now?', enter)
  await terminal.says(`${address}/slack/events doesn't reach Lockkeeper yet (ECONNREFUSED).`)
  await terminal.says('press Retry')
  expect(terminal.output()).not.toContain('not ready yet')
  await terminal.says('Type /infra doctor in #ops')
  expect(written()).toEqual({ ...others, ...inShell, APPROVERS: 'U0ADA00001', SLACK_SIGNING_SECRET: slack.signingSecret })

  // A second run, while the first one's bot is there.
  const again = await runSetup()
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining('Lockkeeper is running. Restart it') })
  terminal.type(ctrlC)
  expect(await terminal.ended()).toBe(0)
})
