import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Effort } from './effort.ts'
import { exchange, startProgram } from './processes.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, judged, table } from './table.ts'
import type { Kind, ReadsDone, ReadsWanted } from './typed-client/serve-reads.ts'

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const programs = { bare: place('./typed-client/bare.ts'), typed: place('./typed-client/typed.ts') }
const variants = ['bare', 'typed'] as const
const lists: { kind: Kind; name: string; items: number; most: number }[] = [
  { kind: 'elasticIps', name: '1,000 Elastic IPs, in pages of 100', items: 1_000, most: 1.35 },
  { kind: 'plans', name: '500 plans, in one answer', items: 500, most: 1.6 },
]

/**
 * Measures the cost of the typed client beside `undici.request` and `JSON.parse`. Each measurement runs in its own process, which has read
 * such lists before and does nothing else. Processes differ in speed with the same code, so there are twice as many rounds as elsewhere.
 */
export async function benchTypedClient({ quick, rounds }: Effort): Promise<string> {
  const answers = await startProgram(place('./typed-client/answers.ts'), 'port')
  const { port, page, plans } = JSON.parse(answers.line)
  try {
    const rows: string[][] = []
    for (const { kind, name, items, most } of lists) {
      const figures = await interleave(variants, quick ? rounds : 2 * rounds, async (variant) => {
        const reader = fork(programs[variant], [`http://127.0.0.1:${port}`], { execArgv: [] })
        try {
          await exchange<ReadsDone>(reader, { kind, count: quick ? 2 : 150 } satisfies ReadsWanted)
          const done = await exchange<ReadsDone>(reader, { kind, count: quick ? 2 : 100 } satisfies ReadsWanted)
          if (done.items !== items) throw new Error(`${done.items} items were read, and not ${items}`)
          return done
        } finally {
          if (reader.connected) reader.disconnect()
        }
      })
      const cpu = ratio(figures.typed, figures.bare, ({ cpuMs }) => cpuMs)
      const wall = ratio(figures.typed, figures.bare, ({ wallMs }) => wallMs)
      const ms = variants.map((variant) => fixed(median(figures[variant].map(({ cpuMs }) => cpuMs))))
      rows.push([name, ...ms, fixed(cpu), ...judged(cpu, most), fixed(wall)])
    }
    const head = ['', 'bare, CPU ms', 'typed, CPU ms', 'CPU', 'target', '', 'wall time']
    const sizes = `A page has ${Math.round(page / 1_000)} KB, the list of plans ${Math.round(plans / 1_000)} KB.`
    return `${table(head, rows)}\n\n${sizes}`
  } finally {
    answers.stop()
  }
}
