import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** The process behind `startWatchdog`. It reads `+pid` and `-pid` line by line. The end of its input is the signal to act. */
const [folder] = process.argv.slice(2)
const guarded = new Set<number>()

for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1))
  if (line.startsWith('+')) guarded.add(pid)
  else guarded.delete(pid)
}

for (const pid of guarded) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
