import { LineCounter, parseAllDocuments, type Scalar, visit } from 'yaml'
import { hasLetters, oneLine, type Sentence } from './sentence.ts'

/** Collects the comments of a file in which `#` begins one. Comments on lines that follow each other are one text. */
export function sentencesInComments(path: string, content: string): Sentence[] {
  const blocks: { line: number; lines: string[] }[] = []
  let current: string[] | undefined
  for (const [index, line] of content.split('\n').entries()) {
    const [, words] = /(?:^|\s)#(?!!)\s*(.*)$/.exec(line) ?? []
    const alone = /^\s*#/.test(line)
    // "# NAME=value" is a setting that is switched off.
    if (words === undefined || !hasLetters(words) || /^\w+=\S*$/.test(words)) {
      current = undefined
    } else if (current === undefined || !alone) {
      current = [words]
      blocks.push({ line: index + 1, lines: current })
    } else {
      current.push(words)
    }
  }
  return blocks.map(({ line, lines }) => ({ path, line, sort: 'settings', text: oneLine(lines.join(' ')) }))
}

/** Collects the comments of a YAML file, and its values of several words. */
export function sentencesInYaml(path: string, content: string): Sentence[] {
  const lines = new LineCounter()
  const values: Sentence[] = []
  const add = ({ value, range }: Scalar) => {
    if (typeof value !== 'string' || !range || !/\p{L}\S*\s+\S*\p{L}/u.test(value)) return
    values.push({ path, line: lines.linePos(range[0]).line, sort: 'settings', text: oneLine(value) })
  }
  for (const document of parseAllDocuments(content, { lineCounter: lines })) {
    visit(document, { Scalar: (key, node) => (key === 'key' ? undefined : add(node)) })
  }
  return [...sentencesInComments(path, content), ...values].toSorted((a, b) => a.line - b.line)
}
