import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createAuditLog } from '../../../src/ops/log.ts'

function openInFolder(name: string, flags: string | number, prepare = (_: string) => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'audit-log-'))
  const path = join(folder, name)
  prepare(path)
  const destination = openSync(path, flags)
  onTestFinished(() => {
    closeSync(destination)
    rmSync(folder, { recursive: true })
  })
  return { path, destination }
}

/** Opens a pipe of limited size, like standard output when a collector reads the log. */
function openPipe() {
  return openInFolder('pipe', constants.O_RDWR | constants.O_NONBLOCK, (path) => void execFileSync('mkfifo', [path]))
}

function empty(pipe: number): string {
  const buffer = Buffer.alloc(1_000_000)
  return buffer.toString('utf8', 0, readSync(pipe, buffer))
}

test('a line is in the file when the write returns', () => {
  const { path, destination } = openInFolder('log', 'w')
  const write = createAuditLog({ destination })

  write('{"stream":"audit","what":"über"}')
  write('{"stream":"audit"}')

  expect(readFileSync(path, 'utf8')).toBe('{"stream":"audit","what":"über"}\n{"stream":"audit"}\n')
})

test('a write to a full pipe fails after its deadline, and the next line starts on a new line', () => {
  const { destination } = openPipe()
  const write = createAuditLog({ destination })

  expect(() => write('x'.repeat(300_000))).toThrow(/EAGAIN/)
  expect(empty(destination)).toMatch(/^x+$/)
  write('{"stream":"audit"}')

  expect(empty(destination)).toBe('\n{"stream":"audit"}\n')
})
