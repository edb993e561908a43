import { type ReadFile, readText } from './text-file.ts'
import { Variables } from './variables.ts'

export type Environment = Record<string, string | undefined>

/** Variables that hold secrets. `takeConfig` removes them from the environment, and each can be read from a file instead. */
export const secretVariables = [
  'SLACK_BOT_TOKEN',
  'SLACK_SIGNING_SECRET',
  'SLACK_APP_TOKEN',
  'INFRA_API_KEY',
  'INFRA_READ_KEY',
  'REDIS_URL',
  'STATE_KEY',
  'ALERTS_TOKEN',
] as const
type SecretVariable = (typeof secretVariables)[number]

/** The names of all variables, in the order of the documentation, then those that name the file of a secret. */
export const variableNames = [...Object.keys(Variables.shape), ...secretVariables.map(fileVariable)]

/** Returns the variable that names the file of a secret. */
function fileVariable<Name extends SecretVariable>(name: Name) {
  return `${name}_FILE` as const
}

export interface Given {
  /** The variables without those that are empty, and with the secrets that came from files. */
  values: Environment
  /** A line for each file that gave no secret. */
  lines: string[]
  /** The variables that these lines are about. They may be absent from `values`. */
  reported: string[]
  /** Returns how errors name a variable: with the one that names its file, where the value is from a file. */
  nameOf: (variable: string) => string
}

/** Trims the given variables, and reads those of `secrets` for which the environment names a file. Never throws. */
export function givenVariables(env: Environment, secrets: readonly SecretVariable[], readFile: ReadFile): Given {
  const values: Environment = Object.fromEntries(variableNames.map((name) => [name, env[name]?.trim() || undefined]))
  const fromFiles = new Set<string>()
  const problems: { name: string; line: string }[] = []
  for (const name of secrets) {
    const path = values[fileVariable(name)]
    if (path === undefined) continue
    fromFiles.add(name)
    const found = values[name] === undefined ? readSecret(fileVariable(name), path, readFile) : { line: bothGiven(name) }
    if ('line' in found) problems.push({ name, line: found.line })
    else values[name] = found.secret
  }
  return {
    values,
    lines: problems.map(({ line }) => line),
    reported: problems.map(({ name }) => name),
    nameOf: (variable) => (fromFiles.has(variable) ? `${variable} (from ${variable}_FILE)` : variable),
  }
}

/** The line never contains the path, because a secret may have been entered in its place. */
function readSecret(variable: string, path: string, readFile: ReadFile): { secret: string } | { line: string } {
  const read = readText(path, readFile)
  if ('why' in read) return { line: `${variable} must be the path of a file that can be read: the path ${read.why}` }
  const secret = read.text.trim()
  return secret === '' ? { line: `${variable} names an empty file: write the secret into it` } : { secret }
}

function bothGiven(name: SecretVariable): string {
  return `${name} and ${fileVariable(name)} are both set: keep one`
}
