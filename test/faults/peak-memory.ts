import { readFileSync } from 'node:fs'

/** Returns the most memory that this process has had, in MB. On Linux, `maxRSS` starts with what the process that started it had. */
export function peakMemoryMb(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
}
