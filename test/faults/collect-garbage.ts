/**
 * Preloaded into a bot (`node --expose-gc --import`): collects garbage every two seconds, so that the measured memory is memory in use. The
 * heap of a young process grows for minutes before V8 collects it by itself.
 */
const { gc } = globalThis
if (!gc) throw new Error('start with --expose-gc')
setInterval(() => gc(), 2_000).unref()
