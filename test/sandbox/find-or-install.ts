import { findProgram } from './find-program.ts'
import { canInstallWithApt, installWithApt } from './install-with-apt.ts'

export interface WantedProgram {
  /** Any of these will do. */
  names: string[]
  /** What brings it on Debian and Ubuntu. */
  packages: string[]
  /** Said before it is installed: `There is no Redis on this machine.` */
  missing: string
  /** What a person can do where it cannot be installed without asking. */
  advice: string
}

/** A program of this machine; installed first where nobody has to be asked. Throws with the advice where there is none. */
export async function findOrInstall(
  { names, packages, missing, advice }: WantedProgram,
  { find = findProgram, canInstall = canInstallWithApt, install = installWithApt } = {},
): Promise<string> {
  const found = find(names)
  if (found) return found
  if (canInstall()) await install(packages, missing)
  const installed = find(names)
  if (installed) return installed
  throw new Error(advice)
}
