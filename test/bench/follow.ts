import type { Effort } from './effort.ts'
import { type Followed, follow } from './following.ts'
import { fixed, judged, table } from './table.ts'

const intervalMs = 5_000
const meanMs = 60_000
const ways = ['job per move', 'bot'] as const

/** What it costs to follow so many moves, for the bot's one sweep and for one job per move. One round of each: it takes minutes. */
export async function benchFollow({ quick }: Effort): Promise<string> {
  const options = quick ? { intervalMs: 1_000, meanMs: 6_000 } : { intervalMs, meanMs }
  const parts: string[] = []
  for (const count of quick ? [200] : [1_000, 10_000]) {
    const found = { 'job per move': undefined as Followed | undefined, bot: undefined as Followed | undefined }
    for (const how of ways) found[how] = await follow(how, { count, ...options })
    if (found.bot && found['job per move']) parts.push(describe(count, options, found.bot, found['job per move']))
  }
  return parts.join('\n\n')
}

function describe(count: number, options: { intervalMs: number; meanMs: number }, bot: Followed, jobs: Followed): string {
  const requests = ({ lists, gets }: Followed) => lists + gets
  // All are in flight for half the mean and end evenly over the next mean, so that they are for the mean on average.
  const lists = (Math.ceil(count / 100) * options.meanMs) / options.intervalMs
  const mostLateMs = options.intervalMs + (count <= 1_000 ? 250 : 1_000)
  const least = (ratio: number, wanted: number) => [`≥ ${wanted} × fewer`, `${fixed(ratio, 1)} ×, ${ratio >= wanted ? 'met' : 'missed'}`]
  const allowed = fixed(requests(bot) / (lists + count))
  const rows = [
    ['requests to the account API', `${requests(jobs)}`, `${requests(bot)}`, ...least(requests(jobs) / requests(bot), 8)],
    ['… for each that is needed', fixed(requests(jobs) / (lists + count)), allowed, ...judged(Number(allowed), 1.1)],
    ['Redis commands', `${jobs.redisCommands}`, `${bot.redisCommands}`, ...least(jobs.redisCommands / bot.redisCommands, 8)],
    ['CPU of the bot, s', fixed(jobs.botCpuSeconds, 1), fixed(bot.botCpuSeconds, 1), ...least(jobs.botCpuSeconds / bot.botCpuSeconds, 4)],
    ['CPU of Redis, s', fixed(jobs.redisCpuSeconds, 1), fixed(bot.redisCpuSeconds, 1), '', ''],
    ['told after the end, p50, ms', fixed(jobs.toldP50, 0), fixed(bot.toldP50, 0), '', ''],
    ['told after the end, p99, ms', fixed(jobs.toldP99, 0), fixed(bot.toldP99, 0), ...judged(bot.toldP99, mostLateMs)],
    ['told', `${jobs.told}`, `${bot.told}`, `${count}`, bot.told === count ? 'met' : 'missed'],
    ['memory at most, MB', fixed(jobs.memoryMb, 0), fixed(bot.memoryMb, 0), '', ''],
  ]
  const head = [`N = ${count}`, 'one job per move', 'Lockkeeper', 'target', '']
  const about = `An interval of ${options.intervalMs / 1_000} s, and moves that take ${options.meanMs / 1_000} s on average.`
  return `${table(head, rows)}\n\n${about}`
}
