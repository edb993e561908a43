import { readFileSync, statSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { secretVariables } from './given.ts'

/** Bits of a file's mode: its group or all others may read or write it. */
const openToOthers = 0o066

/** Returns a warning if the file holds a secret and other users of this machine can read or change it. Windows has no such modes. */
export function openEnvFileWarning(path: string): string | undefined {
  if (process.platform === 'win32') return undefined
  try {
    const mode = statSync(path).mode & 0o777
    const values = parseEnv(readFileSync(path, 'utf8'))
    if ((mode & openToOthers) === 0 || !secretVariables.some((name) => values[name])) return undefined
    return `${path} holds secrets, and other users of this machine can read or change it (mode ${mode.toString(8)}). Run: chmod 600 ${path}`
  } catch {
    // The file does not exist, or this process may not read it.
    return undefined
  }
}
