import { readFileSync } from 'node:fs'

/** Licences of what a release contains, by SPDX name. They ask for no more than their text, and never for the source of what uses them. */
const released = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'Unlicense']

/** Licences of what only runs on a developer's machine. MPL-2.0 asks for the source of changed files, and nothing is changed. */
const development = [...released, 'CC-BY-3.0', 'CC0-1.0', 'MPL-2.0', 'Python-2.0']

const lockfiles = ['package-lock.json', 'tools/sbom/package-lock.json']

interface LockedPackage {
  version?: string
  license?: string
  link?: boolean
  dev?: boolean
}

/** Returns a line for each package of a lockfile whose licence is not on the list. */
export function refusedLicences(file: string, lockfile: string): string[] {
  const { packages } = JSON.parse(lockfile) as { packages: Record<string, LockedPackage> }
  return Object.entries(packages)
    .filter(([path, { link, license, dev }]) => path !== '' && !link && !isAllowed(license ?? '', dev ? development : released))
    .map(([path, { version, license }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return `${file}: ${name}@${version} has ${license === undefined ? 'no licence' : `the licence ${license}`}, which is not on the list in scripts/check-licences.ts.`
    })
}

/** Judges an SPDX expression: of alternatives one has to be on the list, of licences that apply together each. */
function isAllowed(expression: string, allowed: string[]): boolean {
  const alternatives = expression.replace(/[()]/g, '').split(' OR ')
  return alternatives.some((alternative) => alternative.split(' AND ').every((licence) => allowed.includes(licence)))
}

if (process.argv[1] === import.meta.filename) {
  const lines = lockfiles.flatMap((file) => refusedLicences(file, readFileSync(file, 'utf8')))
  for (const line of lines) process.stderr.write(`${line}\n`)
  if (lines.length > 0) process.exitCode = 1
}
