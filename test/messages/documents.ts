import { inspect, isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/** Puts times, which Slack shows in each reader's zone, in UTC: hours and minutes, seconds and the weekday where Slack shows them. */
export const steady = (text: string) =>
  text
    .replaceAll(/<!date\^(\d+)\^\{time_secs\}[^>]*>/g, (_, seconds) => new Date(seconds * 1_000).toISOString().slice(11, 19))
    .replaceAll(/<!date\^[^|]*date_long_pretty[^|]*\|([^>]*) UTC>/g, '$1')
    .replaceAll(/<!date\^[^|]*\|[^>]*? ?(\d\d:\d\d) UTC>/g, '$1')

/** Compares what people read with the document of this name, which `vitest -u` writes. Each situation has a heading and its words. */
export async function expectDocument(name: string, about: string, situations: [situation: string, words: string][]): Promise<void> {
  const parts = situations.map(([situation, words]) => `## ${situation}\n\n\`\`\`text\n${steady(words)}\n\`\`\``)
  await expect(`${[`# ${about}`, ...parts].join('\n\n')}\n`).toMatchFileSnapshot(name)
}

/** Returns a line for each member of an object that differs from that of the other one. */
export function membersOf(one: object, other: object = {}): string[] {
  const members = new Map(Object.entries(other))
  return Object.entries(one)
    .filter(([name, value]) => !isDeepStrictEqual(value, members.get(name)))
    .map(([name, value]) => `${name}: ${inspect(value, { depth: null, breakLength: Number.POSITIVE_INFINITY, compact: true })}`)
}
