/** Renders a table in Markdown: text in the first column, right-aligned figures in the others. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

export function fixed(value: number, digits = 2): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–'
}

/** Renders the last two cells of a row with a target. */
export function judged(value: number, most: number | undefined): [target: string, verdict: string] {
  return most === undefined ? ['', ''] : [`≤ ${most}`, value <= most ? 'met' : 'missed']
}
