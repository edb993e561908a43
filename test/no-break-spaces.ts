import type { SnapshotSerializer } from 'vitest'

const noBreakSpace = '\u00a0'

/** Writes a no-break space as a space in snapshots, because nobody sees the difference in a file. The tests of durations look for it. */
// biome-ignore lint/style/noDefaultExport: Vitest takes the default export of a serializer.
export default {
  test: (value) => typeof value === 'string' && value.includes(noBreakSpace),
  serialize: (value: string, config, indentation, depth, refs, printer) =>
    printer(value.replaceAll(noBreakSpace, ' '), config, indentation, depth, refs),
} satisfies SnapshotSerializer
