import { readFileSync } from 'node:fs'
import { table } from '../test/bench/measure.ts'

/** Runs differ by about this much by themselves. */
const usual = 0.15

interface Figure {
  section: string
  row: string
  column: string
  value: number
}

/** Compares the tables of two runs of `npm run bench`. Returns Markdown: the figures that changed by more than runs usually differ. */
export function compareBenchmarks(last: string, now: string): string {
  const before = new Map(figuresIn(last).map((figure) => [keyOf(figure), figure.value]))
  const figures = figuresIn(now)
  if (figures.length === 0) throw new Error('The second file has no table of npm run bench.')
  const rows = figures.flatMap((figure) => {
    const earlier = before.get(keyOf(figure))
    if (earlier === undefined || earlier === 0) return []
    const change = figure.value / earlier - 1
    if (Math.abs(change) <= usual) return []
    const sign = change > 0 ? '+' : ''
    return [[`${figure.section}: ${figure.row}`, figure.column, `${earlier}`, `${figure.value}`, `${sign}${Math.round(change * 100)} %`]]
  })
  if (rows.length === 0) return `No figure of ${figures.length} changed by more than ${usual * 100} %.`
  return table(['', 'figure', 'last night', 'now', 'change'], rows)
}

const keyOf = ({ section, row, column }: Figure) => JSON.stringify([section, row, column])

/** Reads all figures in Markdown tables. A title or a line that ends with a colon names the tables below it. */
function figuresIn(text: string): Figure[] {
  const figures: Figure[] = []
  let title = ''
  let part = ''
  let head: string[] | undefined
  for (const line of text.split('\n')) {
    const cells = line.startsWith('| ') ? line.slice(2, -2).split(' | ') : undefined
    if (line.startsWith('## ')) [title, part] = [line.slice(3), '']
    else if (/^\S.*:$/.test(line)) part = `, ${line.slice(0, -1)}`
    if (!cells) head = undefined
    else if (!head) head = cells
    else figures.push(...figuresOf(cells, head, `${title}${part}`))
  }
  return figures
}

function figuresOf([row = '', ...cells]: string[], [, ...columns]: string[], section: string): Figure[] {
  return cells.flatMap((cell, index) => {
    const column = columns[index]?.trim()
    const value = Number(cell.replaceAll(',', ''))
    return column && cell.trim() !== '' && Number.isFinite(value) ? [{ section, row, column, value }] : []
  })
}

if (process.argv[1] === import.meta.filename) {
  const [last = '', now = ''] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'))
  process.stdout.write(`${compareBenchmarks(last, now)}\n`)
}
