import { findProgram } from './find-program.ts'
import { canInstallWithApt, installWithApt } from './install-with-apt.ts'

export interface WantedProgram {
  /** Any of these programs. */
  names: string[]
  /** The packages that provide it on Debian and Ubuntu. */
  packages: string[]
  /** Printed before the installation: `There is no Redis on this machine.` */
  missing: string
  /** What a person can do if it cannot be installed automatically. */
  advice: string
}

/** Returns the path of a program. Installs it first if that needs no permission. Throws the advice if there is none. */
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
