import { subscribe } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'

/**
 * Preloaded into a bot (`node --import`): after SIGUSR2, it does not run for BLOCK_MS at the next call that fits STALL_CALL (`PATCH /elastic_ips`):
 * when the call is made, before it has a connection, or once its connection is open and before its bytes leave (STALL_AT).
 */
const { BLOCK_MS, STALL_CALL = '', STALL_AT } = process.env
let isArmed = false
let isMade = false

process.on('SIGUSR2', () => {
  isArmed = true
})

function stall(): void {
  isArmed = false
  isMade = false
  writeSync(2, 'the call is stalled\n')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(BLOCK_MS))
}

subscribe('undici:request:create', (message) => {
  const { method, path } = (message as { request: { method: string; path: string } }).request
  if (!isArmed || !`${method} ${path}`.includes(STALL_CALL)) return
  if (STALL_AT === 'made') stall()
  else isMade = true
})
subscribe('undici:client:connected', () => {
  if (isMade) stall()
})
