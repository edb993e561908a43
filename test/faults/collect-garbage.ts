/**
 * Preloaded into a bot (`node --expose-gc --import`): collects garbage every other second, so that the memory which is measured is the
 * memory that is held. Left alone the heap of a young process grows for minutes before it is worth collecting.
 */
const { gc } = globalThis
if (!gc) throw new Error('start with --expose-gc')
setInterval(() => gc(), 2_000).unref()
