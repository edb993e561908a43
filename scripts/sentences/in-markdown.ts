import { hasLetters, oneLine, type Sentence } from './sentence.ts'

const startsBlock = /^\s*(?:#|\||[-*] |\d+\. |>)/

/** Collects the headings, paragraphs, items and table rows of a page. Blocks of code are left out. */
export function sentencesInMarkdown(path: string, markdown: string): Sentence[] {
  const blocks: { line: number; lines: string[] }[] = []
  let current: string[] | undefined
  let inCode = false
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^\s*(?:```|~~~)/.test(line)
    if (fence) inCode = !inCode
    if (fence || inCode || line.trim() === '') {
      current = undefined
    } else if (current === undefined || startsBlock.test(line)) {
      current = [line]
      blocks.push({ line: index + 1, lines: current })
    } else {
      current.push(line)
    }
  }
  return blocks
    .map(({ line, lines }): Sentence => ({ path, line, sort: 'page', text: oneLine(lines.join(' ')) }))
    .filter(({ text }) => hasLetters(text))
}
