import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { envText, readAnswers, writeWhole } from '../../scripts/setup/answers.ts'
import * as checks from '../../scripts/setup/checks.ts'
import { longestLink, manifestFor, type SlackAppOptions, slackAppFor } from '../../scripts/setup/slack-app.ts'
import { slackManifest } from '../slack-manifest-schema.ts'
import { accountApi, answers, folder, posts, runSetup, setStage, slack, stage, written, wrongNow } from './setup-terminal.ts'

setStage()

/** A web site that answers 200 to everything, with HTML, as Slack does, or with an empty list. */
const page = { url: '', keys: [] as unknown[] }

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  page.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => void server.close())

const server = createServer((request, response) => {
  page.keys.push(request.headers.authorization)
  const [, path = ''] = request.url?.split('/') ?? []
  const json = { slack: '{"ok":false,"error":"unknown_method"}', open: '{"data":[]}' }[path]
  response.setHeader('content-type', json ? 'application/json' : 'text/html')
  response.end(json ?? '<h1>Welcome</h1>')
})

describe('npm run setup, without a terminal', () => {
  test('names the variables that it needs, and writes nothing', async () => {
    const { code, output } = await runSetup({ env: { SLACK_BOT_TOKEN: slack.botToken } })

    expect(code).toBe(1)
    expect([...output.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name)).toEqual(Object.keys(answers()).slice(1))
    expect(readdirSync(folder)).toEqual([])
  })

  test('needs PUBLIC_URL only if a rule of the policy asks for a passkey', async () => {
    const { APPROVERS: _, ...others } = answers()
    const policy = 'rules:\n  - {name: addresses, approve: [U0BEN00001]'
    const runUnder = (text: string, env = {}) => {
      writeWhole(join(folder, 'rules.yml'), text, 0o600)
      return runSetup({ env: { ...stage(), ...others, STATE_KEY: 'k'.repeat(32), POLICY_FILE: 'rules.yml', ...env } })
    }

    expect((await runUnder(`${policy}}\n`)).code).toBe(0)
    expect(written().PUBLIC_URL ?? '').toBe('')
    rmSync(join(folder, '.env'))
    const asked = await runUnder(`${policy}, confirm: passkey}\n`)
    expect(asked).toMatchObject({ code: 1, output: expect.stringContaining('PUBLIC_URL is missing') })
    expect(readdirSync(folder)).toEqual(['rules.yml'])
    await runUnder(`${policy}, confirm: passkey}\n`, { PUBLIC_URL: 'https://lockkeeper.example.com' })
    expect(written().PUBLIC_URL).toBe('https://lockkeeper.example.com')
  })

  test('takes every answer from variables, and secrets also from files', async () => {
    nameHostilely()
    const { INFRA_API_KEY: key, ...others } = answers()
    writeWhole(join(folder, 'key'), `${key}\n`, 0o600)
    const { code, output } = await runSetup({ env: { ...stage(), ...others, INFRA_API_KEY_FILE: 'key' } })

    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('Type /infra doctor in #ops') })
    expect(written()).toMatchObject({ ...others, INFRA_API_KEY_FILE: 'key', INFRA_API_KEY: '' })
    expect([slack.botToken, slack.appToken, key].filter((secret) => output.includes(secret))).toEqual([])

    // Names from Slack and the account change no colour, title or link of the terminal, no order of letters, and forge no line.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
    expect(output).not.toMatch(/\x1b\]|\x1b\[2J|[\x07\x80-\x9f\u202a-\u202e\u2066-\u2069]/)
    expect(output).toContain('"lockkeeper]0;title[2J31mgnihton INFRA_API_KEY is right."')
    expect(output).toMatch(/in #ops.*gnihton INFRA_API_KEY is right\./)
  })

  test('sends no key to a page that answers everything, and writes nothing', async () => {
    const made = await runSetup({ env: { ...stage(), ...answers(), INFRA_API_URL: page.url } })

    expect(made).toMatchObject({ code: 1, output: expect.stringContaining("INFRA_API_URL doesn't answer like the account API.") })
    expect(made.output).toContain('No settings were written.')
    expect(readdirSync(folder)).toEqual([])
    expect(page.keys).not.toContain(accountApi.key)
    page.keys.length = 0
  })
})

/** Gives the key and the channel names that would command a terminal, until the test ends. */
function nameHostilely(): void {
  const hostile = (name: string) => `${name}\x1b]0;title\x07\x1b[2J\x9b31m\u202egnihton\u2066\n  INFRA_API_KEY is right.`
  const key = accountApi.world.data.apiKeys.find(({ token }) => token === accountApi.key)
  const channel = slack.workspace.channels.find(({ id }) => id === 'C0OPS00001')
  if (!key || !channel) throw new Error('no key or channel')
  const names = [key.name, channel.name] as const
  onTestFinished(() => {
    key.name = names[0]
    channel.name = names[1]
  })
  key.name = hostile('lockkeeper')
  channel.name = hostile('ops')
}

test.each([
  ['a page that answers everything', 'INFRA_API_URL', () => page.url, "INFRA_API_URL doesn't answer like the account API."],
  ["Slack's API", 'INFRA_API_URL', () => `${page.url}/slack`, "INFRA_API_URL doesn't answer like the account API."],
  ['an address without authentication', 'INFRA_API_URL', () => `${page.url}/open`, 'INFRA_API_URL accepts an invalid key'],
  ['a wrong path', 'INFRA_API_URL', () => `${accountApi.url}/v2/projects`, 'Returned an error (404)'],
  ['a database that is not there', 'REDIS_URL', () => `${inject('redisUrl')}/99`, "a database that Redis doesn't have"],
])('%s is refused, by --check as well', async (_, name, value, says) => {
  const values = { ...stage(), ...answers(), [name]: value() }
  const problem = await (name === 'REDIS_URL' ? checks.redisProblem(values) : checks.accountProblem(values))
  expect(page.keys).not.toContain(accountApi.key)
  const found = await wrongNow(values)
  page.keys.length = 0

  expect(problem).toContain(says)
  expect(found).toContain(says)
})

test('a link in place of .env is refused at the beginning, and what it points to stays', async () => {
  const other = join(folder, 'other')
  writeFileSync(other, 'precious\n')
  for (const name of ['.env', '.env.new']) symlinkSync(other, join(folder, name))

  const made = await runSetup({ env: { ...stage(), ...answers() } })
  expect(made).toMatchObject({ code: 1, output: expect.stringContaining('is a link. Put the file itself in its place.') })
  rmSync(join(folder, '.env'))
  writeWhole(join(folder, '.env'), 'A=1', 0o600)

  expect(readFileSync(other, 'utf8')).toBe('precious\n')
  symlinkSync(join(folder, 'nothing'), join(folder, 'policy.yml'))
  for (const name of ['policy.yml', '.env.new'])
    expect(() => writeWhole(join(folder, name), 'rules: []', 0o644)).toThrow(`${name} is a link.`)
  expect(readdirSync(folder).toSorted()).toEqual(['.env', '.env.new', 'other', 'policy.yml'])
})

test('what can be known at the beginning is said at the beginning', async () => {
  const { code, output } = await runSetup({ env: { ...stage(), ...answers(), ENVIRONMENT: '!' } })
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('ENVIRONMENT must be a short name') })
  expect(output).toContain('No settings were written.')
  expect(output).not.toContain('is right')

  const begun = { ...stage(), ...answers(), ALERTS_PORT: '9000' }
  expect(checks.othersProblem(begun, Object.keys(answers()))).toContain('ALERTS_TOKEN is missing')
  mkdirSync(join(folder, '.env'))
  expect(() => readAnswers(folder, {})).toThrow('EISDIR')
})

test.each([[['--help']], [['--check', 'all']]])('other words than --check are answered with how to use it: %s', async (args) => {
  expect(await runSetup({ args })).toEqual({ code: 1, output: 'Usage: npm run setup, or npm run setup -- --check\n' })
})

test('--check makes every check, changes nothing, and its exit code is the result', async () => {
  const text = envText('', { ...stage(), ...answers() })
  writeWhole(join(folder, '.env'), text, 0o600)
  const before = posts()
  const right = await runSetup({ args: ['--check'] })
  const wrong = await runSetup({ args: ['--check'], env: { SLACK_APP_TOKEN: 'xapp-of-another', OPS_CHANNEL: 'C0GENERAL1' } })
  mkdirSync(join(folder, 'empty'))
  const empty = await runSetup({ directory: join(folder, 'empty'), args: ['--check'], env: { PORT: '3000' } })

  expect(empty).toMatchObject({ code: 1, output: 'No .env here. Run npm run setup.\n' })
  expect({ code: right.code, output: right.output }).toMatchObject({ code: 0, output: expect.stringContaining('No check failed') })
  expect(wrong.code).toBe(1)
  expect(wrong.output).toContain("Socket Mode: Slack doesn't open Socket Mode (invalid_auth)")
  expect(wrong.output).toContain("Lockkeeper isn't in C0GENERAL1")
  await expect(checks.checkAll({ ...stage(), ...answers(), REDIS_URL: 'http://127.0.0.1' })).rejects.toThrow('REDIS_URL must be redis://')
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(text)
  expect(posts()).toBe(before)
})

describe("the link to Slack's Create an app", () => {
  const linked = (made: ReturnType<typeof slackAppFor>) =>
    JSON.parse(new URL('link' in made ? made.link : '').searchParams.get('manifest_json') ?? '')

  test.each<[string, SlackAppOptions]>([
    ['Socket Mode', { command: '/infra' }],
    ['HTTP', { command: '/ops', address: 'https://bot.example.org' }],
  ])('holds a manifest for %s that Slack takes', (_, options) => {
    const manifest = linked(slackAppFor(options))
    const text = JSON.stringify(manifest)

    expect(slackAppFor(options)).toEqual({ link: expect.not.stringContaining("'") })
    expect(slackManifest.safeParse(manifest).error?.issues ?? []).toEqual([])
    expect(manifest).toEqual(manifestFor(options))
    expect(manifest.settings.socket_mode_enabled).toBe(options.address === undefined)
    expect(manifest.features.slash_commands[0].command).toBe(options.command)
    expect(text.includes('https://bot.example.org/slack/events')).toBe(options.address !== undefined)
    expect(text).not.toContain('lockkeeper.example.com')
  })

  test('is left out where it would be too long, and the manifest is shown to paste', () => {
    const made = slackAppFor({ command: '/infra', address: `https://${'a'.repeat(longestLink / 4)}.example.org` })
    expect('manifest' in made && made.manifest).toMatch(/^_metadata:\n {2}major_version: 2\n/)
  })
})

describe('.env', () => {
  test('keeps its comments and lines, and holds every value as it is', () => {
    const base = '# A comment\nA=old\n#B=\nexport C=1\nC=2\n GONE = x\nEMPTY=\nown_name=1\n'
    const text = envText(base, { A: 'new', B: 'a b#c', C: '3', D: `it's "so"`, own_name: '1' })

    const held = ['# A comment', 'A=new', "B='a b#c'", 'C=3', '#GONE=', 'EMPTY=', 'own_name=1', '', 'D=`it\'s "so"`', '']
    expect(text.split('\n')).toEqual(held)
  })

  test('refuses a value that it cannot hold', () => {
    expect(() => envText('', { A: '\'"`' })).toThrow("can't hold A")
  })

  test('is replaced as a whole, readable by its owner alone, also where it was open to others', () => {
    const path = join(folder, '.env')
    writeFileSync(path, 'A=1\n', { mode: 0o644 })
    writeWhole(path, 'A=2\n', 0o600)

    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777, readdirSync(folder)]).toEqual(['A=2\n', 0o600, ['.env']])
  })

  test('counts less than the environment, and a secret less than the file that replaces it', () => {
    writeFileSync(join(folder, '.env'), 'PORT=1\nHOST=127.0.0.1\nSTATE_KEY=old\n')
    const { values, given, kept } = readAnswers(folder, { PORT: '2', STATE_KEY_FILE: 'key', PATH: '/bin', HOST: '' })

    expect(values).toEqual({ PORT: '2', HOST: '127.0.0.1', STATE_KEY_FILE: 'key' })
    expect(kept).toEqual(new Set(['PORT', 'HOST']))
    expect([...given]).toEqual(['PORT', 'STATE_KEY_FILE'])
  })
})
