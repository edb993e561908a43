import type { Effort } from './effort.ts'
import { type Followed, type FollowOptions, follow } from './following.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, judged, table } from './table.ts'

const ways = ['job per move', 'bot'] as const
type Figures = Record<(typeof ways)[number], Followed[]>

const intervalMs = 5_000

/** Measures what it costs to track many moves: with the bot's one sweep, and with one job per move. */
export async function benchFollow({ quick, followRounds }: Effort, print: (table: string) => void): Promise<void> {
  const ending = quick ? { intervalMs: 1_000, meanMs: 6_000 } : { intervalMs, meanMs: 60_000 }
  const few = quick ? ending : { intervalMs, meanMs: 15_000 }
  const many = quick ? 200 : 10_000
  const measure = (options: FollowOptions) => interleave(ways, followRounds, (how) => follow(how, options))

  const lasting = { count: many, intervalMs: ending.intervalMs, lastingMs: quick ? 3_000 : 15_000 }
  const commands = quick ? 100 : 600
  const idle = { count: 0, intervalMs: ending.intervalMs, lastingMs: quick ? 3_000 : 14_000, commands }
  print(describeTracking(lasting, await measure(lasting)))
  const some = { ...few, count: quick ? 100 : 1_000 }
  print(describeEnding(some, await measure(some)))
  const all = await interleave([...ways, 'idle'] as const, followRounds, (name) =>
    name === 'idle' ? follow('bot', idle) : follow(name, { ...ending, count: many, ...(name === 'bot' ? { commands } : {}) }),
  )
  print(describeEnding({ ...ending, count: many }, all))
  print(describeAcknowledged(commands, many, all.idle, all.bot))
}

const head = (about: string) => [about, 'one job per move', 'Lockkeeper', 'target', '']

const least = (value: number, wanted: number) => [`≥ ${wanted} × less`, `${fixed(value, 1)} ×, ${value >= wanted ? 'met' : 'missed'}`]

/** No move ends: what tracking itself costs. */
function describeTracking(
  { count, intervalMs: every, lastingMs }: { count: number; intervalMs: number; lastingMs: number },
  found: Figures,
) {
  const of = columns(found)
  const less = (figure: (followed: Followed) => number) => ratio(found['job per move'], found.bot, figure)
  const rows = [
    ['requests to the account API', ...of(requests, 0), ...least(less(requests), 8)],
    ['Redis commands', ...of(redisCommands, 0), ...least(less(redisCommands), 8)],
    ['CPU of the tracking process and of Redis, s', ...of(cpu, 2), ...least(less(cpu), 4)],
    ['peak memory, MB', ...of(memory, 0), ...most(median(found.bot.map(memory)), 250)],
  ]
  const about = `N = ${count}, none ends, ${lastingMs / 1_000} s`
  return `${table(head(about), rows)}\n\nAn interval of ${every / 1_000} s.`
}

/** Moves end and are reported: cards are updated and reports posted. */
function describeEnding({ count, intervalMs: every, meanMs }: { count: number; intervalMs: number; meanMs: number }, found: Figures) {
  const of = columns(found)
  const less = (figure: (followed: Followed) => number) => ratio(found['job per move'], found.bot, figure)
  // Moves end evenly between half and one and a half of the mean, so they are in flight for the mean on average.
  const needed = (Math.ceil(count / 100) * meanMs) / every + count
  const eachNeeded = (followed: Followed) => requests(followed) / needed
  const isMany = count > 1_000
  const mostLateMs = every + (isMany ? 1_000 : 250)
  const rows = [
    ['requests to the account API', ...of(requests, 0), ...(isMany ? least(less(requests), 8) : ['', ''])],
    ['… for each that is needed', ...of(eachNeeded, 2), ...most(median(found.bot.map(eachNeeded)), 1.1)],
    ['Redis commands', ...of(redisCommands, 0), ...(isMany ? least(less(redisCommands), 8) : ['', ''])],
    ['CPU of the tracking process and of Redis, s', ...of(cpu, 1), '', `${fixed(less(cpu), 1)} × less`],
    ['reported after the end, p50, ms', ...of(({ reportedP50 }) => reportedP50, 0), '', ''],
    [
      'reported after the end, p99, ms',
      ...of(({ reportedP99 }) => reportedP99, 0),
      ...most(median(found.bot.map(({ reportedP99 }) => reportedP99)), mostLateMs),
    ],
    [
      'reported',
      ...of(({ reported }) => reported, 0),
      `${count}`,
      found.bot.every(({ reported }) => reported === count) ? 'met' : 'missed',
    ],
    ['peak memory, MB', ...of(memory, 0), ...(isMany ? most(median(found.bot.map(memory)), 250) : ['', ''])],
  ]
  const about = `N = ${count}, moves of ${meanMs / 1_000} s`
  return `${table(head(about), rows)}\n\nAn interval of ${every / 1_000} s; all end evenly over ${meanMs / 1_000} s.`
}

/** Compares commands while many moves end with commands to a bot that tracks nothing. */
function describeAcknowledged(commands: number, count: number, idle: Followed[], busy: Followed[]): string {
  const row = (name: string, figure: (followed: Followed) => number, target?: number) => {
    const times = ratio(busy, idle, figure)
    return [name, fixed(median(idle.map(figure)), 1), fixed(median(busy.map(figure)), 1), fixed(times, 1), ...judged(times, target)]
  }
  const rows = [
    row('acknowledged, p50, ms', ({ acknowledged }) => acknowledged?.p50 ?? Number.NaN),
    row('acknowledged, p99, ms', ({ acknowledged }) => acknowledged?.p99 ?? Number.NaN, 5),
  ]
  return table([`${commands} commands, one every 20 ms`, 'nothing in flight', `${count} moves that end`, 'times', 'target', ''], rows)
}

const requests = ({ lists, gets }: Followed) => lists + gets
const redisCommands = (followed: Followed) => followed.redisCommands
const cpu = ({ botCpuSeconds, redisCpuSeconds }: Followed) => botCpuSeconds + redisCpuSeconds
const memory = ({ memoryMb }: Followed) => memoryMb

function columns(found: Figures) {
  return (figure: (followed: Followed) => number, digits: number) => ways.map((way) => fixed(median(found[way].map(figure)), digits))
}

function most(value: number, limit: number): string[] {
  return [`≤ ${limit}`, value <= limit ? 'met' : 'missed']
}
