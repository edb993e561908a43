import { readFileSync } from 'node:fs'

const page = readFileSync(new URL('../../docs/alerts.md', import.meta.url), 'utf8')

/** Returns the block of the page on alerts that begins with the name of its file: `# alertmanager.yml`. */
export function documented(file: string): string {
  const blocks = [...page.matchAll(/^( *)```yaml\n([\s\S]*?)\n *```$/gm)]
  const [, indent = '', block] = blocks.find(([, , text = '']) => text.trimStart().startsWith(`# ${file}\n`)) ?? []
  if (block === undefined) throw new Error(`docs/alerts.md has no block that begins with # ${file}`)
  return `${block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')}\n`
}

/** Replaces what depends on the machine or takes too long for a test. Throws if the page says it in other words by now. */
export function replaced(text: string, changes: [from: string, to: string][]): string {
  return changes.reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`docs/alerts.md no longer has ${JSON.stringify(from)}`)
    return before.replaceAll(from, to)
  }, text)
}
