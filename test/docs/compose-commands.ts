import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pages } from './command-blocks.ts'

const root = join(import.meta.dirname, '../..')

/** Finds the commands of Docker Compose in blocks and in code spans, in their order. A command that pages repeat is found once. */
export function composeCommands(texts = pages.map((page) => readFileSync(join(root, page), 'utf8'))): string[] {
  const found = texts.flatMap((text) => [...text.matchAll(/`(docker compose [^`]+)`|^ *(docker compose .+)$/gm)])
  return [...new Set(found.map(([, inText, inBlock]) => inText ?? inBlock ?? ''))]
}

/** What a command prints that works, and that does not end or whose result matters. */
export const composePrints: Record<string, string> = {
  'docker compose logs --follow bot': '"Lockkeeper is ready"',
}
