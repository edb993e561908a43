import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Effort } from './effort.ts'
import { startProgram } from './processes.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, judged, table } from './table.ts'
import type { Kind, ReadsDone, ReadsWanted } from './typed-client/serve-reads.ts'

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const variants = ['bare', 'typed'] as const
const lists: { kind: Kind; name: string; items: number; most: number; count: number }[] = [
  { kind: 'elasticIps', name: '1,000 Elastic IPs, in pages of 100', items: 1_000, most: 1.35, count: 60 },
  { kind: 'plans', name: '500 plans, in one answer', items: 500, most: 1.6, count: 60 },
]

/** What the typed client costs beside `undici.request` and `JSON.parse`, each in a process of its own that does nothing else. */
export async function benchTypedClient({ quick, rounds }: Effort): Promise<string> {
  const answers = await startProgram(place('./typed-client/answers.ts'), 'port')
  const { port, page, plans } = JSON.parse(answers.line)
  const url = `http://127.0.0.1:${port}`
  const readers = { bare: fork(place('./typed-client/bare.ts'), [url]), typed: fork(place('./typed-client/typed.ts'), [url]) }
  try {
    const rows: string[][] = []
    for (const { kind, name, items, most, count } of lists) {
      const wanted = { kind, count: quick ? 2 : count }
      const measure = (variant: (typeof variants)[number]) => read(readers[variant], wanted, items)
      await interleave(variants, quick ? 1 : 3, measure)
      const figures = await interleave(variants, rounds, measure)
      const cpu = ratio(figures.typed, figures.bare, ({ cpuMs }) => cpuMs)
      const wall = ratio(figures.typed, figures.bare, ({ wallMs }) => wallMs)
      const ms = variants.map((variant) => fixed(median(figures[variant].map(({ cpuMs }) => cpuMs))))
      rows.push([name, ...ms, fixed(cpu), ...judged(cpu, most), fixed(wall)])
    }
    const head = ['', 'bare, CPU ms', 'typed, CPU ms', 'CPU', 'target', '', 'wall time']
    const sizes = `A page has ${Math.round(page / 1_000)} KB, the list of plans ${Math.round(plans / 1_000)} KB.`
    return `${table(head, rows)}\n\n${sizes}`
  } finally {
    for (const variant of variants) readers[variant].disconnect()
    answers.stop()
  }
}

async function read(reader: ChildProcess, wanted: ReadsWanted, items: number): Promise<ReadsDone> {
  reader.send(wanted)
  const [done] = (await once(reader, 'message')) as [ReadsDone]
  if (done.items !== items) throw new Error(`${done.items} items were read, and not ${items}`)
  return done
}
