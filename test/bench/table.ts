/** A table in Markdown: the first column is text, the others are aligned to the right. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

export function fixed(value: number, digits = 2): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–'
}

/** The two last cells of a row with a target. */
export function judged(value: number, most: number | undefined): [target: string, verdict: string] {
  return most === undefined ? ['', ''] : [`≤ ${most}`, value <= most ? 'met' : 'missed']
}
