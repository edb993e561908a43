import { type Sandbox, startSandbox } from './sandbox.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

function portOf(name: string, value: string, least = 0): number {
  if (/^\d{1,5}$/.test(value) && Number(value) >= least && Number(value) <= 65_535) return Number(value)
  return fail(`${name} must be a port from ${least}${least === 0 ? ' (any free one)' : ''} to 65535, not "${value}".`)
}

function startFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken on this machine. Set SANDBOX_PORT to another one, such as SANDBOX_PORT=${port + 1}.`
  if (code === 'EACCES') return `This machine does not allow port ${port}. Set SANDBOX_PORT to another one, such as SANDBOX_PORT=4000.`
  return message
}

/** Formats a line of the bot's log for people: `05:12:01 info  Lockkeeper is ready  role=all`. Other lines stay as they are. */
function readableLine(line: string): string {
  if (!line.startsWith('{"level"')) return line
  const { level, time, msg, ...rest } = JSON.parse(line)
  const details = Object.entries(rest).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return `${new Date(time).toTimeString().slice(0, 8)} ${level.padEnd(5)} ${msg} ${details.join('')}`
}

const port = portOf('SANDBOX_PORT', process.env.SANDBOX_PORT ?? '4000')
/** Of a debugger of the bot. Undefined if none is wanted. */
const inspectPort = process.env.SANDBOX_INSPECT ? portOf('SANDBOX_INSPECT', process.env.SANDBOX_INSPECT, 1) : undefined
const { SANDBOX_TRANSPORT: transport = 'http' } = process.env
if (transport !== 'http' && transport !== 'socket') fail(`SANDBOX_TRANSPORT must be http or socket, not "${transport}".`)

let sandbox: Sandbox | undefined
let ending = false

async function end(code: number): Promise<void> {
  // A second signal ends this process at once. The watchdogs end the rest.
  if (ending) process.exit(code)
  ending = true
  say('\nStopping the bot, Redis and the stand-ins …')
  await sandbox?.close()
  process.exit(code)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0))

// npm passes a signal to its shell, and the shell does not pass it on. Without this, the sandbox would outlive "npm run sandbox".
const parent = process.ppid
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && void end(0), 500).unref()

say('Starting Redis, the stand-ins for Slack and the account API, and the bot …')
try {
  sandbox = await startSandbox({
    port,
    transport,
    ...(inspectPort === undefined ? {} : { env: { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectPort}` } }),
    // If the start fails, the error contains the earlier output.
    botOutput: (line) => sandbox && say(`bot │ ${readableLine(line)}`),
    botEnded: (how) => {
      if (sandbox && !ending)
        say(`\nThe bot ${how}. The page stays open, but nothing answers there: press Ctrl+C and start the sandbox again.\n`)
    },
  })
} catch (error) {
  fail(startFailure(error))
}

say(`
Lockkeeper's sandbox is ready. Open it in a browser:

    ${sandbox.url}

You are Ada, who may request changes. The page says what to do next, beginning with a move.
Everything is invented and stays on this machine (Slack by ${transport === 'socket' ? 'Socket Mode' : 'HTTP'}).
Ctrl+C stops everything.
`)
say(`The machine “ci” can request changes, as docs/machines.md says:

    LOCKKEEPER=${sandbox.machine.url} TOKEN=${sandbox.machine.token}
`)
say(`Another bot of yours can use the same stand-ins. Their tokens are invented:

    SLACK_API_URL=${sandbox.slack.apiUrl} SLACK_BOT_TOKEN=${sandbox.slack.botToken}
    SLACK_SIGNING_SECRET=${sandbox.slack.signingSecret} SLACK_APP_TOKEN=${sandbox.slack.appToken}
    INFRA_API_URL=${sandbox.accountApi.url} INFRA_API_KEY=${sandbox.accountApi.key}
    REDIS_URL=${sandbox.redis.url} (this bot's keys: {${sandbox.redisPrefix}}:*)
`)
if (inspectPort !== undefined) say(`Debugger of the bot: 127.0.0.1:${inspectPort}\n`)
