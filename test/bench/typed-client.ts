import type { ReadsDone, ReadsWanted } from './clients.ts'
import { type Effort, exchange, fixed, forkClient, interleave, judged, median, programOf, ratio, startProgram, table } from './measure.ts'

const variants = ['bare', 'typed'] as const
const lists = [
  { kind: 'elasticIps', name: '1,000 Elastic IPs, in pages of 100', items: 1_000, most: 1.25 },
  { kind: 'plans', name: '500 plans, in one answer', items: 500, most: 1.3 },
] as const

/**
 * Measures the cost of the typed client beside `undici.request` and `JSON.parse`. Each measurement runs in its own process, which has read
 * such lists before and does nothing else. Processes differ in speed with the same code, so there are twice as many rounds as elsewhere.
 */
export async function benchTypedClient({ quick, rounds }: Effort): Promise<string> {
  const answers = await startProgram(programOf('servers'), 'port', { args: ['account-api'] })
  const { port, page, plans } = JSON.parse(answers.line)
  const rows: string[][] = []
  for (const { kind, name, items, most } of lists) {
    const figures = await interleave(variants, quick ? rounds : 2 * rounds, async (variant) => {
      const reader = forkClient(variant, `http://127.0.0.1:${port}`)
      const read = (count: number) => exchange<ReadsDone>(reader, { kind, count } satisfies ReadsWanted)
      if (!quick) await read(150)
      const done = await read(quick ? 1 : 100)
      reader.disconnect()
      if (done.items !== items) throw new Error(`${done.items} items were read, and not ${items}`)
      return done
    })
    const cpu = ratio(figures.typed, figures.bare, ({ cpuMs }) => cpuMs)
    const wall = ratio(figures.typed, figures.bare, ({ wallMs }) => wallMs)
    const ms = variants.map((variant) => fixed(median(figures[variant].map(({ cpuMs }) => cpuMs))))
    rows.push([name, ...ms, fixed(cpu), ...judged(cpu, most), fixed(wall)])
  }
  answers.stop()
  const head = ['', 'bare, CPU ms', 'typed, CPU ms', 'CPU', 'target', '', 'wall time']
  const sizes = `A page has ${Math.round(page / 1_000)} KB, the list of plans ${Math.round(plans / 1_000)} KB.`
  return `${table(head, rows)}\n\n${sizes}`
}
