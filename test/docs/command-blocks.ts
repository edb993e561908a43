import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** README, and every page in docs but the decisions, which have no commands to follow. */
export const pages = ['README.md', ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))]

/** A block of commands on a page. */
export interface CommandBlock {
  page: string
  /** The heading of the second level above it. */
  section: string
  line: number
  commands: string
  /** Why a test cannot run it. */
  notRun: string | undefined
  /** The commands do not end by themselves. They have worked when they print this. */
  runsUntil: string | undefined
  /** What the page says below the block: ``It prints `…` ``. */
  prints: string | undefined
}

const marked = (mark: string, text: string) => new RegExp(`<!-- ${mark}: (.+) -->`).exec(text)?.[1]

/** Finds the blocks of shell commands on a page. A comment above a block says if it does not run, or until when. */
export function commandBlocks(page: string, text = readFileSync(join(root, page), 'utf8')): CommandBlock[] {
  const forPage = marked('not run on this page', text)
  const blocks = [...text.matchAll(/^( *)(<!--.*-->\n *)?```sh\n([\s\S]*?)^ *```\n\n?(.*)$/gm)]
  return blocks.map(({ index, 1: indent = '', 2: comment = '', 3: commands = '', 4: below = '' }) => {
    const above = text.slice(0, index)
    return {
      page,
      section: [...above.matchAll(/^## (.*)$/gm)].at(-1)?.[1] ?? '',
      line: above.split('\n').length,
      commands: commands.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      notRun: marked('not run', comment) ?? forPage,
      runsUntil: marked('runs until', comment),
      prints: /^ *It prints `([^`]+)`/.exec(below)?.[1],
    }
  })
}
