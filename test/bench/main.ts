import { parseArgs } from 'node:util'
import { benchAcknowledge } from './acknowledge.ts'
import { benchHome } from './home.ts'
import { benchLimits } from './limits.ts'
import { describeMachine, type Effort, full, quick } from './measure.ts'
import { benchMoves } from './moves.ts'
import { benchRequests } from './requests.ts'
import { benchStartUp } from './start-up.ts'
import { benchTypedClient } from './typed-client.ts'

/** The parts of `npm run bench`, each of which returns its table in Markdown. README.md explains them. */
export const benchmarks: Record<string, { title: string; run: (effort: Effort) => Promise<string> }> = {
  acknowledge: { title: 'Acknowledging a command', run: benchAcknowledge },
  home: { title: 'Opening the Home tab', run: benchHome },
  'typed-client': { title: 'Reading with the typed client', run: benchTypedClient },
  'start-up': { title: 'Starting', run: benchStartUp },
  requests: { title: 'Requests to the account API', run: benchRequests },
  limits: { title: "The account's limits", run: benchLimits },
  moves: { title: 'Many moves', run: benchMoves },
}

const usage = `npm run bench [-- <name>…] [-- --quick]. Benchmarks: ${Object.keys(benchmarks).join(', ')}.`

function stopWith(problem: string): never {
  process.stderr.write(`${problem}\n${usage}\n`)
  process.exit(1)
}

function readArguments() {
  try {
    return parseArgs({ options: { quick: { type: 'boolean', default: false } }, allowPositionals: true })
  } catch (error) {
    return stopWith(error instanceof Error ? error.message : String(error))
  }
}

if (process.argv[1] === import.meta.filename) await main()

async function main(): Promise<never> {
  const { values, positionals } = readArguments()
  const unknown = positionals.filter((name) => !(name in benchmarks))
  if (unknown.length > 0) stopWith(`There is no benchmark ${unknown.join(', ')}.`)
  if (process.platform !== 'linux') stopWith('This needs Linux.')

  // An orderly exit also ends the programs that were started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

  const effort = values.quick ? quick : full
  const chosen = Object.entries(benchmarks).filter(([name]) => positionals.length === 0 || positionals.includes(name))
  const print = (text: string) => void process.stdout.write(`${text}\n\n`)

  print(`${await describeMachine()}. ${effort.rounds} rounds${effort.quick ? ', quick: the figures mean little' : ''}.`)
  for (const [, { title, run }] of chosen) {
    print(`## ${title}`)
    print(await run(effort))
  }
  return process.exit(0)
}
