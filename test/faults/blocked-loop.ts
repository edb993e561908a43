import { writeSync } from 'node:fs'

/** Preloaded into a bot (`node --import`): at SIGUSR2 its event loop stands still for BLOCK_MS, as under a computation without end. */
process.on('SIGUSR2', () => {
  writeSync(2, 'the event loop stands still\n')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.env.BLOCK_MS))
})
