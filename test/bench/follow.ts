import type { Effort } from './effort.ts'
import { type Followed, type FollowOptions, follow } from './following.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, judged, table } from './table.ts'

const ways = ['job per move', 'bot'] as const
type Figures = Record<(typeof ways)[number], Followed[]>

const intervalMs = 5_000

/** What it costs to follow so many moves, for the bot's one sweep and for one job per move. */
export async function benchFollow({ quick, followRounds }: Effort): Promise<string> {
  const ending = quick ? { intervalMs: 1_000, meanMs: 6_000 } : { intervalMs, meanMs: 60_000 }
  const few = quick ? ending : { intervalMs, meanMs: 15_000 }
  const many = quick ? 200 : 10_000
  const measure = (options: FollowOptions) => interleave(ways, followRounds, (how) => follow(how, options))

  const lasting = { count: many, intervalMs: ending.intervalMs, lastingMs: quick ? 3_000 : 15_000 }
  const parts = [
    describeLasting(lasting, await measure(lasting)),
    describeEnding({ ...few, count: quick ? 100 : 1_000 }, await measure({ ...few, count: quick ? 100 : 1_000 })),
    describeEnding({ ...ending, count: many }, await measure({ ...ending, count: many })),
    await acknowledgeMeanwhile({ quick, followRounds }, many, ending),
  ]
  return parts.join('\n\n')
}

const head = (about: string) => [about, 'one job per move', 'Lockkeeper', 'target', '']

const least = (value: number, wanted: number) => [`≥ ${wanted} × less`, `${fixed(value, 1)} ×, ${value >= wanted ? 'met' : 'missed'}`]

/** Nothing ends: what following itself costs. */
function describeLasting(
  { count, intervalMs: every, lastingMs }: { count: number; intervalMs: number; lastingMs: number },
  found: Figures,
) {
  const of = columns(found)
  const less = (figure: (followed: Followed) => number) => ratio(found['job per move'], found.bot, figure)
  const rows = [
    ['requests to the account API', ...of(requests, 0), ...least(less(requests), 8)],
    ['Redis commands', ...of(redisCommands, 0), ...least(less(redisCommands), 8)],
    ['CPU of the follower and of Redis, s', ...of(cpu, 2), ...least(less(cpu), 4)],
    ['memory at most, MB', ...of(memory, 0), ...most(median(found.bot.map(memory)), 250)],
  ]
  const about = `N = ${count}, none ends, ${lastingMs / 1_000} s`
  return `${table(head(about), rows)}\n\nAn interval of ${every / 1_000} s.`
}

/** Moves end, and are told: cards are updated and reports posted. */
function describeEnding({ count, intervalMs: every, meanMs }: { count: number; intervalMs: number; meanMs: number }, found: Figures) {
  const of = columns(found)
  const less = (figure: (followed: Followed) => number) => ratio(found['job per move'], found.bot, figure)
  // All are in flight for half the mean and end evenly over the next mean, so that they are for the mean on average.
  const needed = (Math.ceil(count / 100) * meanMs) / every + count
  const eachNeeded = (followed: Followed) => requests(followed) / needed
  const isMany = count > 1_000
  const mostLateMs = every + (isMany ? 1_000 : 250)
  const rows = [
    ['requests to the account API', ...of(requests, 0), ...(isMany ? least(less(requests), 8) : ['', ''])],
    ['… for each that is needed', ...of(eachNeeded, 2), ...most(median(found.bot.map(eachNeeded)), 1.1)],
    ['Redis commands', ...of(redisCommands, 0), ...(isMany ? least(less(redisCommands), 8) : ['', ''])],
    ['CPU of the follower and of Redis, s', ...of(cpu, 1), '', `${fixed(less(cpu), 1)} × less`],
    ['told after the end, p50, ms', ...of(({ toldP50 }) => toldP50, 0), '', ''],
    [
      'told after the end, p99, ms',
      ...of(({ toldP99 }) => toldP99, 0),
      ...most(median(found.bot.map(({ toldP99 }) => toldP99)), mostLateMs),
    ],
    ['told', ...of(({ told }) => told, 0), `${count}`, found.bot.every(({ told }) => told === count) ? 'met' : 'missed'],
    ['memory at most, MB', ...of(memory, 0), ...(isMany ? most(median(found.bot.map(memory)), 250) : ['', ''])],
  ]
  const about = `N = ${count}, moves of ${meanMs / 1_000} s`
  return `${table(head(about), rows)}\n\nAn interval of ${every / 1_000} s; all end evenly over ${meanMs / 1_000} s.`
}

/** Commands while so many moves end, beside commands to a bot that follows nothing. */
async function acknowledgeMeanwhile({ quick, followRounds }: Pick<Effort, 'quick' | 'followRounds'>, count: number, ending: Ending) {
  const commands = quick ? 100 : 1_000
  const idle = { count: 0, intervalMs: ending.intervalMs, lastingMs: quick ? 3_000 : 22_000, commands }
  const found = await interleave(['idle', 'busy'] as const, Math.min(followRounds, 3), (name) =>
    follow('bot', name === 'idle' ? idle : { ...ending, count, commands }),
  )
  const p50 = (followed: Followed) => followed.acknowledged?.p50 ?? Number.NaN
  const p99 = (followed: Followed) => followed.acknowledged?.p99 ?? Number.NaN
  const row = (name: string, figure: (followed: Followed) => number, target?: number) => {
    const times = ratio(found.busy, found.idle, figure)
    return [
      name,
      fixed(median(found.idle.map(figure)), 1),
      fixed(median(found.busy.map(figure)), 1),
      fixed(times, 1),
      ...judged(times, target),
    ]
  }
  const rows = [row('acknowledged, p50, ms', p50), row('acknowledged, p99, ms', p99, 5)]
  return `${table([`${commands} commands, one in 20 ms`, 'nothing in flight', `${count} moves that end`, 'times', 'target', ''], rows)}`
}

type Ending = Pick<FollowOptions, 'intervalMs' | 'meanMs'>

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
