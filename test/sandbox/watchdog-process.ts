import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** The process behind `endsWithUs` and `temporaryFolder`. It reads `+` and `-` with an id or a folder. The end of its input is the signal to act. */
const guarded = new Set<string>()

for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith('+')) guarded.add(line.slice(1))
  else guarded.delete(line.slice(1))
}

const isId = (one: string) => /^\d+$/.test(one)
for (const id of [...guarded].filter(isId)) {
  try {
    process.kill(Number(id), 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
for (const one of guarded) if (!isId(one)) rmSync(one, { recursive: true, force: true, maxRetries: 5 })
