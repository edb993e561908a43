import { parseArgs } from 'node:util'
import { benchAcknowledge } from './acknowledge.ts'
import { benchDeciding } from './deciding.ts'
import { type Effort, full, quick } from './effort.ts'
import { benchEvacuation } from './evacuation.ts'
import { benchFewMoves } from './few-moves.ts'
import { benchFollow } from './follow.ts'
import { describeMachine } from './machine.ts'
import { benchRequests } from './requests.ts'
import { benchRoundTrips } from './round-trips.ts'
import { benchStartUp } from './start-up.ts'
import { benchTypedClient } from './typed-client.ts'

/** `npm run bench`: measures, and prints the tables of docs/performance.md. */
const benchmarks: Record<string, { title: string; run: (effort: Effort, print: (table: string) => void) => Promise<void> }> = {
  acknowledge: { title: 'Acknowledging a command', run: async (effort, print) => print(await benchAcknowledge(effort)) },
  deciding: { title: 'Deciding', run: async (effort, print) => print(await benchDeciding(effort)) },
  'typed-client': { title: 'Reading with the typed client', run: async (effort, print) => print(await benchTypedClient(effort)) },
  'start-up': { title: 'Starting', run: async (effort, print) => print(await benchStartUp(effort)) },
  requests: { title: 'Requests to the account API', run: async (_, print) => print(await benchRequests()) },
  'round-trips': { title: 'Round trips', run: async (_, print) => print(await benchRoundTrips()) },
  evacuation: { title: 'Evacuating a server', run: async (effort, print) => print(await benchEvacuation(effort)) },
  'few-moves': { title: 'Reporting few moves', run: benchFewMoves },
  following: { title: 'Tracking moves', run: benchFollow },
}

const usage = `npm run bench [-- <name>…] [-- --quick] [-- --tracking-rounds=<number>]. Benchmarks: ${Object.keys(benchmarks).join(', ')}.`

function stopWith(problem: string): never {
  process.stderr.write(`${problem}\n${usage}\n`)
  process.exit(1)
}

function readArguments() {
  try {
    return parseArgs({
      options: { quick: { type: 'boolean', default: false }, 'tracking-rounds': { type: 'string' } },
      allowPositionals: true,
    })
  } catch (error) {
    return stopWith(error instanceof Error ? error.message : String(error))
  }
}

const { values, positionals } = readArguments()
const unknown = positionals.filter((name) => !(name in benchmarks))
if (unknown.length > 0) stopWith(`There is no benchmark ${unknown.join(', ')}.`)
if (process.platform !== 'linux') stopWith('This needs Linux.')
const trackingRounds = values['tracking-rounds']
if (trackingRounds !== undefined && !/^[1-9]\d?$/.test(trackingRounds)) stopWith('--tracking-rounds must be a number from 1 to 99.')

// An orderly exit also ends the programs that were started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const basis = values.quick ? quick : full
const effort = trackingRounds === undefined ? basis : { ...basis, followRounds: Number(trackingRounds) }
const chosen = Object.entries(benchmarks).filter(([name]) => positionals.length === 0 || positionals.includes(name))
const print = (text: string) => void process.stdout.write(`${text}\n\n`)

print(
  `${await describeMachine()}. ${effort.rounds} rounds, ${effort.followRounds} of tracking${effort.quick ? ', quick: the figures mean little' : ''}.`,
)
for (const [, { title, run }] of chosen) {
  print(`## ${title}`)
  await run(effort, print)
}
process.exit(0)
