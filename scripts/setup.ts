import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import type { Key } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import * as terminal from '@clack/prompts'
import { parse, stringify } from 'yaml'
import packageFile from '../package.json' with { type: 'json' }
import { variableNames } from '../src/config/config.ts'
import { isUserGroup } from '../src/domain/policy.ts'
import { cleanText } from '../src/domain/text.ts'
import {
  type Answers,
  answerOf,
  envText,
  formProblem,
  isGiven,
  type Name,
  otherVariables,
  readAnswers,
  refuseLink,
  setAnswer,
  writeWhole,
} from './setup/answers.ts'
import { slackAppFor } from './setup/slack-app.ts'

const root = join(import.meta.dirname, '..')

/** They load most of the bot, so only once there is something to check. */
let checks: typeof import('./setup/checks.ts')

/** Ends the set-up. What it says was not printed yet. */
class Stopped extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Without a terminal nothing can be asked: every answer is a variable. */
interface Setup extends Answers {
  folder: string
  hasTerminal: boolean
  /** The channel of an earlier run: it needs no second post. */
  earlierChannel: string | undefined
  /** Where Slack reaches Lockkeeper, if this run made the app for it. */
  address?: string | undefined
}

/** Every answer that is needed, with where a person finds it. */
const whereToFind: Partial<Record<Name, string>> = {
  SLACK_BOT_TOKEN: 'api.slack.com/apps, your app, OAuth & Permissions: Bot User OAuth Token (xoxb-…)',
  SLACK_APP_TOKEN: 'Basic Information, App-Level Tokens: a token with the scope connections:write (xapp-…)',
  SLACK_SIGNING_SECRET: 'Basic Information: Signing Secret',
  INFRA_API_URL: 'the base address of the account API',
  INFRA_API_KEY: "a key with full access, from the account's dashboard",
  REDIS_URL: 'redis://… or rediss://… of a Redis 7 or newer',
  APPROVERS: 'ids of the people (U…) and user groups (S…) who may approve, separated by commas',
  OPS_CHANNEL: 'the id or link of a channel that Lockkeeper is in',
}

const asked = Object.keys(whereToFind) as Name[]

const secrets = new Set<Name>([
  'SLACK_BOT_TOKEN',
  'SLACK_APP_TOKEN',
  'SLACK_SIGNING_SECRET',
  'INFRA_API_KEY',
  'REDIS_URL',
  'REDIS_SENTINEL_PASSWORD',
  'STATE_KEY',
])

/** From the first question on, until .env is written. */
let isAsking = false

async function run([option, ...others]: string[]): Promise<void> {
  if ((option ?? '--check') !== '--check' || others.length > 0) throw new Stopped('Usage: npm run setup, or npm run setup -- --check')
  const folder = process.cwd()
  isAsking = option === undefined
  const answers = readAnswersIn(folder)
  const hasTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY)
  const setup: Setup = {
    ...answers,
    folder,
    hasTerminal,
    earlierChannel: isGiven(answers, 'OPS_CHANNEL') ? undefined : answers.values.OPS_CHANNEL,
  }
  if (!isAsking) {
    const hasAnswers = existsSync(setup.envFile) || asked.some((name) => isGiven(setup, name))
    if (!hasAnswers) throw new Stopped('No .env here. Run npm run setup.')
    checks = await import('./setup/checks.ts')
    return checkOnly(setup)
  }

  terminal.intro('Set up Lockkeeper')
  if (!hasTerminal) requireVariables(setup)
  checks = await import('./setup/checks.ts')
  const { POLICY_FILE: policyFile = '', ...values } = setup.values
  const problem = checks.othersProblem(existsSync(resolve(folder, policyFile)) ? setup.values : values, asked)
  if (problem !== undefined) throw new Stopped(problem)
  // A key that is set later would invalidate the requests that the one derived from the account's key has signed.
  const mayHaveSigned = ['INFRA_API_KEY', 'INFRA_API_KEY_FILE', 'STATE_KEY', 'STATE_KEY_FILE'].some((name) => setup.kept.has(name))
  if (!mayHaveSigned && !isGiven(setup, 'STATE_KEY')) setAnswer(setup, 'STATE_KEY', randomBytes(32).toString('hex'))
  if (hasTerminal && existsSync(answers.envFile)) say('info', 'Enter keeps the answers that are already there.')
  await askForSlack(setup)
  await askForAccount(setup)
  await askForRedis(setup)
  const policy = await askWhoApproves(setup)
  await askForPublicUrl(setup)
  await askForChannel(setup)
  write(setup, policy)
  await start(setup)
}

/** Also checks that .env can be replaced. */
function readAnswersIn(folder: string) {
  try {
    const answers = readAnswers(folder, process.env)
    if (!isAsking) return answers
    refuseLink(answers.envFile)
    accessSync(folder, constants.W_OK)
    return answers
  } catch (error) {
    throw new Stopped(`.env in ${folder} must be a file that you can read and replace (${Object(error).code ?? Object(error).message}).`)
  }
}

// --- Slack ---

async function askForSlack(setup: Setup): Promise<void> {
  const hadSocketMode = answerOf(setup, 'SLACK_APP_TOKEN') !== undefined
  const socketMode = await askTransport(setup)
  const hasApp = answerOf(setup, 'SLACK_BOT_TOKEN') !== undefined
  const isRight = hasApp && (hadSocketMode === socketMode || isGiven(setup, 'SLACK_BOT_TOKEN'))
  if (setup.hasTerminal && !isRight) await showSlackApp(setup, { socketMode, hasApp })
  await ask(setup, 'SLACK_BOT_TOKEN', 'Bot User OAuth Token, under OAuth & Permissions (xoxb-…)', checks.botTokenProblem)
  say('success', await checks.describeBot(withSecrets(setup)))
  if (socketMode) {
    return ask(setup, 'SLACK_APP_TOKEN', 'App-level token, under Basic Information (xapp-…)', checks.appTokenProblem)
  }
  setAnswer(setup, 'SLACK_APP_TOKEN', undefined)
  await ask(setup, 'SLACK_SIGNING_SECRET', 'Signing Secret, under Basic Information')
}

async function askTransport(setup: Setup): Promise<boolean> {
  const knows = (name: Name) => answerOf(setup, name) !== undefined
  if (isGiven(setup, 'SLACK_APP_TOKEN') || isGiven(setup, 'SLACK_SIGNING_SECRET')) return isGiven(setup, 'SLACK_APP_TOKEN')
  if (!setup.hasTerminal) return knows('SLACK_APP_TOKEN')
  return answered(
    terminal.select({
      message: 'How does Slack reach Lockkeeper?',
      initialValue: knows('SLACK_APP_TOKEN') || !knows('SLACK_SIGNING_SECRET'),
      options: [
        { value: true, label: 'Socket Mode', hint: 'Lockkeeper connects to Slack. No public address' },
        { value: false, label: 'HTTP', hint: 'Slack sends requests to your public https address' },
      ],
    }),
  )
}

/** An app that exists gets the manifest of the other transport, and keeps its tokens. */
async function showSlackApp(setup: Setup, { socketMode, hasApp }: { socketMode: boolean; hasApp: boolean }): Promise<void> {
  const typed = socketMode
    ? undefined
    : await answered(
        terminal.text({
          message: 'Public address of Lockkeeper',
          placeholder: 'https://lockkeeper.your-company.com',
          validate: addressProblem,
        }),
      )
  const address = typed && new URL(typed).origin
  setup.address = address
  const options = { address, command: setup.values.SLACK_COMMAND ?? '/infra' }
  const made = slackAppFor(options, hasApp ? 0 : undefined)
  const create =
    'link' in made
      ? ['Open the link above.', 'Choose your workspace. Press Next, then Create.']
      : ['Open https://api.slack.com/apps?new_app=1, choose From a manifest,\n   and paste the lines above.', 'Press Next, then Create.']
  const change = ['Open api.slack.com/apps, your app, App Manifest.', 'Choose YAML, paste the lines above, and press Save Changes.']
  const steps = [
    ...(hasApp ? change : [...create, 'Press Install to Workspace.']),
    socketMode
      ? 'Under Basic Information, App-Level Tokens: create a token with the\n   scope connections:write.'
      : `Let your proxy forward ${address}/slack/events\n   to port ${setup.values.PORT ?? '3000'}.`,
  ]
  // Without a frame, so that it can be opened or copied as one piece. It fills a screen, so the steps are below it.
  process.stdout.write(`\n${'link' in made ? made.link : made.manifest}\n`)
  say('step', `${hasApp ? 'Change' : 'Create'} the Slack app:\n${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}`)
}

function addressProblem(text = ''): string | undefined {
  return URL.parse(text.trim())?.protocol === 'https:' ? undefined : 'Type an https address, such as https://lockkeeper.your-company.com.'
}

// --- The account ---

async function askForAccount(setup: Setup): Promise<void> {
  for (;;) {
    await ask(setup, 'INFRA_API_URL', 'Address of the account API', checks.accountProblem, { example: 'https://api.latitude.sh' })
    await ask(setup, 'INFRA_API_KEY', "Key with full access, from the account's dashboard", checks.accountKeyProblem)
    const problem = await checks.accountProblem(withSecrets(setup))
    if (problem === undefined) break
    say('error', problem)
  }
  say('success', await checks.describeKey(withSecrets(setup)))
}

// --- Redis ---

/** On this machine. */
const redisPort = Number(process.env.REDIS_PORT ?? 6379)
const localRedis = `redis://127.0.0.1:${redisPort}`

async function askForRedis(setup: Setup): Promise<void> {
  if (!setup.hasTerminal || isGiven(setup, 'REDIS_URL')) return ask(setup, 'REDIS_URL', 'Address of Redis', checks.redisProblem)
  const known = answerOf(setup, 'REDIS_URL')
  const compose = findCompose()
  for (;;) {
    const isFound = await answersAt(redisPort)
    const choice = await answered(
      terminal.select({
        message: 'Which Redis stores the requests? (Redis 7 or Valkey 8)',
        options: [
          ...(known === undefined ? [] : [{ value: 'keep', label: `The one of the last set-up (${URL.parse(known)?.host})` }]),
          ...(isFound ? [{ value: 'found', label: `The one on this machine (${localRedis})` }] : []),
          ...(compose && !isFound ? [{ value: 'compose', label: 'Start one with Docker Compose' }] : []),
          ...(isFound
            ? []
            : [{ value: 'again', label: `Look again: none answers on port ${redisPort}`, hint: 'docs/redis.md starts one' }]),
          { value: 'other', label: 'Type its address' },
        ],
      }),
    )
    if (choice === 'other')
      return ask(setup, 'REDIS_URL', 'Address of Redis (redis://user:password@host:6379)', checks.redisProblem, { keep: false })
    if (choice === 'again') continue
    const url = choice === 'keep' ? known : choice === 'found' ? localRedis : await startRedis(setup, compose ?? [])
    if (url === undefined) continue
    const problem = await checks.redisProblem({ ...withSecrets(setup), REDIS_URL: url })
    if (problem === undefined) return setAnswer(setup, 'REDIS_URL', url)
    say('error', problem)
  }
}

function answersAt(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 })
    const end = (isThere: boolean) => {
      socket.destroy()
      done(isThere)
    }
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false))
  })
}

/** The client alone does not suffice: an engine has to answer. */
function findCompose(): string[] | undefined {
  const env = otherVariables(process.env)
  const works = ([program = '', ...words]: string[]) => spawnSync(program, words, { env, stdio: 'ignore', timeout: 5_000 }).status === 0
  if (!works(['docker', 'info'])) return undefined
  return [['docker', 'compose'], ['docker-compose']].find((command) => works([...command, 'version']))
}

/** The Redis of docker-compose.yml, with its volume and its password, and with a port that only this machine reaches. */
async function startRedis(setup: Setup, [program = '', ...words]: string[]): Promise<string | undefined> {
  const secretsFolder = join(setup.folder, 'secrets')
  const passwordFile = join(secretsFolder, 'redis_password')
  for (const path of [secretsFolder, passwordFile]) refuseLink(path)
  mkdirSync(secretsFolder, { recursive: true, mode: 0o700 })
  // The container runs as another user, and the folder keeps other people out.
  if (!existsSync(passwordFile)) writeWhole(passwordFile, `${randomBytes(32).toString('hex')}\n`, 0o644)
  const { services, volumes, secrets } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'))
  const redis = { ...services.redis, ports: [`127.0.0.1:${redisPort}:6379`] }
  const input = stringify({ services: { redis }, volumes, secrets: { redis_password: secrets.redis_password } })
  say('step', 'Starting the Redis of docker-compose.yml')
  const command = [...words, '--project-directory', setup.folder, '--file', '-', 'up', '--detach', 'redis']
  const { status } = spawnSync(program, command, {
    cwd: setup.folder,
    env: otherVariables(process.env),
    input,
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  if (status !== 0) {
    say('error', 'Docker Compose did not start Redis. Its reason is above.')
    return undefined
  }
  const url = `redis://:${readFileSync(passwordFile, 'utf8').trim()}@127.0.0.1:${redisPort}`
  for (let tries = 0; tries < 15 && (await checks.redisProblem({ ...withSecrets(setup), REDIS_URL: url })) !== undefined; tries += 1)
    await wait(1_000)
  return url
}

// --- People and the channel ---

async function askForPublicUrl(setup: Setup): Promise<void> {
  if (!checks.needsPublicUrl(withSecrets(setup))) return
  const message = "Address where people's browsers reach Lockkeeper, because a rule has confirm: passkey"
  if (setup.hasTerminal || isGiven(setup, 'PUBLIC_URL')) return ask(setup, 'PUBLIC_URL', message)
  if (answerOf(setup, 'PUBLIC_URL') === undefined) throw new Stopped(`PUBLIC_URL is missing. ${message}.`)
}

/** Returns the text of a new policy file, if one is wanted. One that exists is never replaced. */
async function askWhoApproves(setup: Setup): Promise<string | undefined> {
  const { POLICY_FILE: named } = setup.values
  const policyFile = named ?? 'policy.yml'
  const isThere = existsSync(resolve(setup.folder, policyFile))
  const confirmed = async (message: string, initialValue = false) =>
    setup.hasTerminal && (await answered(terminal.confirm({ message, initialValue })))
  const isItOne = () => confirmed(`Does the ${policyFile} in this folder say who may approve?`, setup.values.APPROVERS === undefined)
  while (isThere && (named !== undefined || (await isItOne()))) {
    const problem = checks.othersProblem({ ...setup.values, POLICY_FILE: policyFile }, asked)
    if (problem !== undefined && named === undefined) {
      say('error', `${problem}\nCorrect the file, and answer again.`)
      continue
    }
    setAnswer(setup, 'POLICY_FILE', policyFile)
    setAnswer(setup, 'APPROVERS', undefined)
    say('success', `${policyFile} says who may request and approve.`)
    return undefined
  }
  await chooseApprovers(setup)
  const isWanted = named !== undefined || (!isThere && (await confirmed('Write a policy.yml, for rules by kind, project and channel?')))
  if (!isWanted) return undefined
  const approvers = idsIn(setup.values.APPROVERS)
  setAnswer(setup, 'POLICY_FILE', policyFile)
  setAnswer(setup, 'APPROVERS', undefined)
  return firstPolicy(approvers)
}

const idsIn = (list = '') => list.split(',').flatMap((id) => id.trim() || [])

async function chooseApprovers(setup: Setup): Promise<void> {
  const found = setup.hasTerminal ? await checks.readApprovers(withSecrets(setup)).catch(() => []) : []
  if (found.length === 0) await ask(setup, 'APPROVERS', `Who may approve: ${whereToFind.APPROVERS}`, checks.approversProblem)
  else if (!(await takeGiven(setup, 'APPROVERS', checks.approversProblem))) await pickApprovers(setup, found)
  const [only = '', ...others] = idsIn(setup.values.APPROVERS)
  const name = found.find(({ id }) => id === only)?.name ?? only
  if (others.length === 0 && !isUserGroup(only)) say('warn', `Nobody can approve ${name}'s requests.`)
}

async function pickApprovers(setup: Setup, found: Awaited<ReturnType<typeof checks.readApprovers>>): Promise<void> {
  // What a variable names is wrong, if it comes to this.
  let earlier = isGiven(setup, 'APPROVERS') ? [] : idsIn(setup.values.APPROVERS)
  // A large workspace has more people than are read.
  const others = earlier.filter((id) => !found.some((each) => each.id === id)).map((id) => ({ id, name: id, hint: 'as in .env' }))
  const listed = [...found, ...others]
  for (;;) {
    const chosen = await answered(
      terminal.autocompleteMultiselect<string>({
        message: 'Who may approve? Tab selects. Nobody approves their own request.',
        options: listed.map(({ id, name, hint }) => ({ value: id, label: name, hint })),
        initialValues: earlier,
        maxItems: 8,
        required: true,
      }),
    )
    // The library ignores `validate` here.
    const problem = await checks.approversProblem({ ...withSecrets(setup), APPROVERS: chosen.join(',') })
    if (problem === undefined) {
      setAnswer(setup, 'APPROVERS', chosen.join(','))
      return say('success', `Approvers: ${listed.flatMap(({ id, name }) => (chosen.includes(id) ? name : [])).join(', ')}`)
    }
    say('error', problem)
    earlier = chosen
  }
}

function firstPolicy(approvers: string[]): string {
  return `# Who may request and approve which change. docs/policy.md explains every key and has recipes.\nrules:\n  - name: all changes\n    request: everyone\n    approve: [${approvers.join(', ')}]\n`
}

/** `https://nimbus.slack.com/archives/C0OPS00001/p1…` and `https://app.slack.com/client/T…/C0OPS00001`, or the id itself. */
function channelIn(text: string): string {
  return /^https:\/\/\S+?\/(?:archives|client\/[A-Z0-9]+)\/([CG][A-Z0-9]+)/.exec(text)?.[1] ?? text
}

async function askForChannel(setup: Setup): Promise<void> {
  const given = setup.values.OPS_CHANNEL
  if (given !== undefined) setAnswer(setup, 'OPS_CHANNEL', channelIn(given))
  if (setup.hasTerminal && setup.earlierChannel === undefined)
    say(
      'step',
      'In Slack, run /invite @Lockkeeper in the channel for operators.\nIt gets the notices that need a person. To find its id, right-click its name, and choose View channel details.',
    )
  const prove = (values: Record<string, string>) =>
    checks.opsChannelProblem(values, { proven: values.OPS_CHANNEL !== setup.earlierChannel })
  await ask(setup, 'OPS_CHANNEL', 'Link or id of that channel', prove, { read: channelIn })
}

// --- The end ---

function write(setup: Setup, policy: string | undefined): void {
  const { folder, envFile, values } = setup
  const text = envText(readFileSync(existsSync(envFile) ? envFile : join(root, '.env.example'), 'utf8'), values)
  const { POLICY_FILE: policyFile = '', ...others } = values
  // The policy has only checked answers, and is written just before .env, which names it.
  checks.configOf(policy === undefined ? values : { ...others, APPROVERS: 'U00' })
  if (policy !== undefined) writeWhole(resolve(folder, policyFile), policy, 0o644)
  writeWhole(envFile, text, 0o600)
  isAsking = false
  say('success', `Wrote .env, which only you can read${policy === undefined ? '' : `, and ${policyFile}`}.`)
  const { env } = process
  const differing = variableNames.filter((name) => env[name] !== undefined && env[name].trim() !== (values[name] ?? ''))
  if (differing.length > 0) say('warn', `Unset ${differing.join(', ')} in this shell: the shell overrides .env.`)
}

async function start(setup: Setup): Promise<void> {
  const channel = await checks.channelName(withSecrets(setup))
  const isRunning = await checks.isRunning(withSecrets(setup))
  const tryIt = `Type ${setup.values.SLACK_COMMAND ?? '/infra'} doctor in ${channel}`
  if (isRunning) {
    terminal.outro('Lockkeeper is running. Restart it, so that it uses these settings.')
    return
  }
  // Ctrl-C is a no here: the settings are written.
  if (!setup.hasTerminal || (await terminal.confirm({ message: 'Start Lockkeeper now?' })) !== true) {
    terminal.outro(`Start Lockkeeper with npm start. ${tryIt}`)
    return
  }
  // As `npm start` does, but with what was written alone: no variable of this shell. At a higher level, the log doesn't say that it is ready.
  const [, command = ''] = packageFile.scripts.start.split('exec node ')
  const flags = command.split(' ').filter((word) => word.startsWith('--'))
  const options = { cwd: setup.folder, env: { ...otherVariables(process.env), LOG_LEVEL: 'info' } }
  const bot = spawn(process.execPath, [...flags, join(root, 'src/main.ts')], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  say('step', 'Starting…')
  // Ctrl-C reaches both. The bot ends its work, and this process waits for it.
  process.off('SIGINT', stop).on('SIGINT', () => {})
  process.on('SIGTERM', () => bot.kill('SIGTERM'))
  const ended = new Promise<number>((done) => bot.once('close', (code) => done(code ?? 0)))
  let said = ''
  const ready = new Promise<'ready'>((done) => {
    const listen = (chunk: Buffer) => {
      said += chunk
      if (said.includes('"Lockkeeper is ready"')) done('ready')
    }
    for (const stream of [bot.stdout, bot.stderr]) stream.on('data', listen)
  })
  const state = await Promise.race([ready, ended, wait(patienceMs, 'late' as const, { ref: false })])
  if (state === 0) throw new Stopped('Stopped.', 130)
  if (typeof state === 'number') throw new Stopped(`Lockkeeper did not start:\n${saidPlainly(said)}`)
  if (state === 'late') say('warn', `Lockkeeper is not ready yet. It has said:\n${saidPlainly(said)}`)
  const unreached = setup.address === undefined ? undefined : await checks.unreachedBecause(setup.address)
  if (unreached !== undefined)
    say(
      'warn',
      `${setup.address}/slack/events doesn't reach Lockkeeper yet (${unreached}).\nLet your proxy forward it to port ${setup.values.PORT ?? '3000'}.`,
    )
  if (setup.address !== undefined) say('step', "Under Event Subscriptions, press Retry if Slack says that your URL didn't respond.")
  say('success', 'Lockkeeper runs here until you press Ctrl-C. Next time: npm start')
  terminal.outro(tryIt)
  for (const stream of [bot.stdout, bot.stderr]) {
    stream.removeAllListeners('data').setEncoding('utf8')
    stream.on('data', (text: string) => process.stdout.write(cleanText(text)))
  }
  process.exitCode = await ended
}

/** The messages of a log, without their other data. Its last line can be half of one. */
function saidPlainly(log: string): string {
  return log.trimEnd().replace(/^\{.*?"msg":("(?:[^"\\]|\\.)*").*$/gm, (_, message: string) => JSON.parse(message))
}

/** A bot that waits for Slack or Redis says so meanwhile. */
const patienceMs = 30_000

async function checkOnly(setup: Setup): Promise<void> {
  const found = await checks.checkAll(setup.values)
  for (const { what, is, text } of found) say(({ ok: 'success', unknown: 'warn', wrong: 'error' } as const)[is], `${what}: ${text}`, 0)
  const failed = found.filter(({ is }) => is === 'wrong').length
  if (failed > 0) throw new Stopped(`${failed} of ${found.length} checks failed. Run npm run setup to change the answers.`)
  terminal.outro('No check failed')
}

// --- Questions ---

/**
 * Without what a terminal would take for a command, or would show in another order: Slack, the account and the bot say what others wrote. Breaks
 * lines between words, which the library does only in questions.
 */
const wrapped = (text: string) => {
  const clean = cleanText(text)
  return process.stdout.isTTY ? clean.replace(/(?=.{77})(.{1,76}) /g, '$1\n') : clean
}

function say(is: 'success' | 'info' | 'step' | 'warn' | 'error', text: string, spacing = 1): void {
  terminal.log[is](wrapped(text), { spacing })
}

interface AskOptions {
  /** Default: Enter keeps what is there. */
  keep?: boolean
  /** Enter takes it, if nothing is there yet. */
  example?: string
  /** Finds the answer in what was typed. */
  read?: (text: string) => string
}

type Check = (values: Record<string, string>) => Promise<string | undefined>

async function problemWith(setup: Setup, name: Name, value: string, check: Check): Promise<string | undefined> {
  const problem = formProblem(name, value) ?? (await check({ ...withSecrets(setup), [name]: value }))
  return problem && cleanText(problem)
}

/** A variable of the environment is checked without a question. False: it has to be asked for. */
async function takeGiven(setup: Setup, name: Name, check: Check): Promise<boolean> {
  const known = answerOf(setup, name)
  if (known === undefined || (setup.hasTerminal && !isGiven(setup, name))) return false
  const problem = await problemWith(setup, name, known, check)
  if (problem === undefined) {
    say('success', `${name} is right.`)
    return true
  }
  const named = problem.startsWith(name) ? problem : `${name}: ${problem}`
  if (!setup.hasTerminal) throw new Stopped(named)
  say('error', named)
  return false
}

/** Asks until the answer has the right form and passes its check. */
async function ask(
  setup: Setup,
  name: Name,
  message: string,
  check: Check = async () => undefined,
  { keep = true, example, read = (text) => text }: AskOptions = {},
) {
  if (await takeGiven(setup, name, check)) return
  const kept = keep && !isGiven(setup, name) ? answerOf(setup, name) : undefined
  // People copy whole lines of other files.
  const pasted = (text: string) => text.replace(new RegExp(`^(?:export\\s+)?${name}\\s*=`), '').replace(/^\s*(['"`]?)(.*)\1\s*$/, '$2')
  const typedOrKept = (text = '') => read(pasted(text.trim())) || kept || example || ''
  const validate = (text: string | undefined) =>
    typedOrKept(text) === '' ? 'Type an answer.' : stoppable(problemWith(setup, name, typedOrKept(text), check))
  const typed = secrets.has(name)
    ? await answered(
        terminal.password({
          message: kept === undefined ? message : `${message}. Enter keeps it`,
          validate,
          clearOnError: true,
        }),
      )
    : await answered(terminal.text({ message, initialValue: kept, placeholder: example, validate }))
  setAnswer(setup, name, typedOrKept(typed))
}

async function answered<T>(prompt: Promise<T | typeof terminal.CANCEL_SYMBOL>): Promise<T> {
  const answer = await prompt
  if (terminal.isCancel(answer)) return stop()
  return answer
}

/** During a check, the library ignores Ctrl-C and Ctrl-D and fails after it. */
async function stoppable<T>(check: Promise<T>): Promise<T> {
  const onKey = (_: unknown, { ctrl, name }: Key) => (ctrl && (name === 'c' || name === 'd') ? stop() : undefined)
  process.stdin.on('keypress', onKey)
  return check.finally(() => process.stdin.off('keypress', onKey))
}

/** The answers, with the secrets that are in files. */
function withSecrets(setup: Setup): Record<string, string> {
  const read = [...secrets].map((name) => [name, answerOf(setup, name)] as const)
  return { ...setup.values, ...Object.fromEntries(read.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))) }
}

function requireVariables(setup: Setup): void {
  const hasPolicy = setup.values.POLICY_FILE !== undefined && existsSync(resolve(setup.folder, setup.values.POLICY_FILE))
  const needed = asked.filter((name) => {
    if (name === 'APPROVERS' && hasPolicy) return false
    if (name === 'SLACK_APP_TOKEN') return answerOf(setup, 'SLACK_SIGNING_SECRET') === undefined
    if (name === 'SLACK_SIGNING_SECRET') return false
    return true
  })
  const missing = needed.filter((name) => answerOf(setup, name) === undefined)
  if (missing.length === 0) return
  const lines = missing.map((name) => {
    const other = name === 'SLACK_APP_TOKEN' ? ` For HTTP, set SLACK_SIGNING_SECRET instead (${whereToFind.SLACK_SIGNING_SECRET})` : ''
    return `  ${name}: ${whereToFind[name]}${other}`
  })
  throw new Stopped(`There is no terminal to ask in. Set these variables, or run npm run setup in a terminal:\n${lines.join('\n')}`)
}

// --- Stopping ---

const showCursor = '\x1b[?25h'

function stop(): never {
  return end(new Stopped('Stopped.', 130))
}

function end(error: unknown): never {
  const text = error instanceof Error ? error.message : String(error)
  if (process.stdout.isTTY) process.stdout.write(showCursor)
  process.stderr.write(`${wrapped(text)}\n${isAsking ? 'No settings were written.\n' : ''}`)
  process.exit(error instanceof Stopped ? error.exitCode : 1)
}

// People press Escape to leave a list or to clear a line. It would end the set-up, and lose all answers.
terminal.settings.aliases.delete('escape')
// BullMQ warns of the eviction policy in the middle of a question, whose remains then stay on the screen. The check of Redis says the same.
console.warn = () => {}
process.on('uncaughtException', end)
process.once('SIGINT', stop)
// At a question, Ctrl-Z reaches this process alone, and npm would wait for it.
process.on('SIGTSTP', () => {
  process.stdout.write(showCursor)
  process.kill(0, 'SIGSTOP')
})
// Node pauses the input then.
process.on('SIGCONT', () => setImmediate(() => isAsking && process.stdin.resume()))
// Ctrl-D closes the terminal, so nothing is left to wait for.
process.once('beforeExit', stop)
run(process.argv.slice(2)).then(() => process.off('beforeExit', stop), end)
