import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Writes a policy for `POLICY_FILE` into a file that is removed when the test ends. Returns its path. */
export function policyInFile(yaml: string, onEnd: (remove: () => void) => void = onTestFinished): string {
  const directory = mkdtempSync(join(tmpdir(), 'lockkeeper-policy-'))
  onEnd(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'policy.yml')
  writeFileSync(path, yaml)
  return path
}
