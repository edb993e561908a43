import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Folders with programs that a usual PATH leaves out. */
const otherFolders = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/snap/bin', '/opt/homebrew/bin', '/opt/local/bin']

/** Returns the first of these programs that exists, on PATH or in other usual folders. A name can also be a whole path. */
export function findProgram(names: string[], path = process.env.PATH ?? ''): string | undefined {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ''), ...otherFolders]
  const candidates = names.flatMap((name) => (/[\\/]/.test(name) ? [name] : folders.map((folder) => join(folder, name))))
  return candidates.find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
