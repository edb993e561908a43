import { writeSync } from 'node:fs'

/** Preloaded into a bot (`node --import`): SIGUSR2 blocks its event loop for BLOCK_MS, like an endless computation. */
process.on('SIGUSR2', () => {
  writeSync(2, 'the event loop is blocked\n')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.env.BLOCK_MS))
})
