import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where programs are that an ordinary PATH leaves out. */
const otherFolders = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/snap/bin', '/opt/homebrew/bin', '/opt/local/bin']

/** The first of these programs that is there, looked for on PATH and in the usual places beside it. A name may also be a whole path. */
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
