import { expect } from 'vitest'

/** Puts times, which Slack shows in each reader's zone, as hours and minutes in UTC, with the day where Slack shows the weekday. */
export const steady = (text: string) =>
  text.replaceAll(/<!date\^[^|]*date_long_pretty[^|]*\|([^>]*) UTC>/g, '$1').replaceAll(/<!date\^[^|]*\|[^>]*? ?(\d\d:\d\d) UTC>/g, '$1')

/** Compares what people read with the document of this name, which `vitest -u` writes. Each situation has a heading and its words. */
export async function expectDocument(name: string, about: string, situations: [situation: string, words: string][]): Promise<void> {
  const parts = situations.map(([situation, words]) => `## ${situation}\n\n\`\`\`text\n${steady(words)}\n\`\`\``)
  await expect(`${[`# ${about}`, ...parts].join('\n\n')}\n`).toMatchFileSnapshot(name)
}
