import { existsSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { type Environment, variableNames } from '../../src/config/config.ts'
import { readFromDisk, readText } from '../../src/config/notation.ts'
import { secretVariables, Variables } from '../../src/config/variables.ts'

/** A variable of the configuration. The file of a secret has a name of its own, which is not asked for. */
export type Name = keyof typeof Variables.shape

export interface Answers {
  envFile: string
  /** By the names of variables. They become the content of `.env`. */
  values: Record<string, string>
  /** The names in `.env`, as an earlier run or a person left it. */
  kept: ReadonlySet<string>
  /** The names in this process' environment: their values are taken without a question. */
  given: ReadonlySet<string>
}

const filled = (env: Environment): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])))

/** Reads what an earlier run left in `.env`. A variable of the environment counts more, and is written to the file. */
export function readAnswers(folder: string, env: Environment): Answers {
  const envFile = join(folder, '.env')
  const kept = existsSync(envFile) ? filled(parseEnv(readFileSync(envFile, 'utf8'))) : {}
  const given = filled(Object.fromEntries(variableNames.map((name) => [name, env[name]])))
  for (const name of secretVariables) {
    const file = `${name}_FILE`
    if (name in given) delete kept[file]
    if (file in given) delete kept[name]
  }
  return { envFile, values: { ...kept, ...given }, kept: new Set(Object.keys(kept)), given: new Set(Object.keys(given)) }
}

/** For other programs, which need none of the secrets, and for the tokens of machines, which only a policy names. */
export function otherVariables(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !variableNames.includes(name)))
}

/** A secret can also be in a file. Undefined also if that file cannot be read: the check of the configuration says why. */
export function answerOf({ values }: Answers, name: Name): string | undefined {
  const path = values[`${name}_FILE`]
  if (values[name] !== undefined || path === undefined) return values[name]
  const read = readText(path, readFromDisk)
  return 'text' in read ? read.text.trim() || undefined : undefined
}

export function isGiven({ given }: Answers, name: Name): boolean {
  return given.has(name) || given.has(`${name}_FILE`)
}

export function setAnswer(answers: Answers, name: Name, value: string | undefined): void {
  if (value !== undefined && value === answerOf(answers, name)) return
  delete answers.values[`${name}_FILE`]
  delete answers.values[name]
  if (value !== undefined) answers.values[name] = value
}

/** Checks an answer as the start does, and says what it must be. No sentence contains a secret. */
export function formProblem(name: Name, value: string | undefined): string | undefined {
  const [issue] = Variables.shape[name].safeParse(value).error?.issues ?? []
  return issue && `${name} ${issue.message}`
}

/** Changes lines in place, so that comments and all other lines stay. A variable that is gone becomes a comment. */
export function envText(base: string, values: Record<string, string>): string {
  const left = new Map(Object.entries(values))
  const lines = base.split('\n').flatMap((line) => {
    const [, mark, name = '', old = ''] = /^(#|\s*(?:export\s+)?)([A-Za-z_]\w*)\s*=(.*)/.exec(line) ?? []
    const value = left.get(name)
    if (value !== undefined) {
      left.delete(name)
      return [lineOf(name, value)]
    }
    if (mark === '#' || old.trim() === '') return [line]
    // A second line of the same name would count instead of the first.
    return name in values ? [] : [`#${name}=`]
  })
  const added = [...left].map(([name, value]) => lineOf(name, value))
  const text = added.length === 0 ? lines.join('\n') : `${lines.join('\n').trimEnd()}\n\n${added.join('\n')}\n`
  const read = filled(parseEnv(text))
  const lost = Object.keys({ ...values, ...read }).filter((name) => read[name] !== values[name])
  if (lost.length > 0) throw new Error(`.env can't hold ${lost.join(', ')} as it is. Remove line breaks and quotation marks.`)
  return text
}

function lineOf(name: string, value: string): string {
  if (/^[\w.:/@,%+~=?&!*;-]*$/.test(value)) return `${name}=${value}`
  const mark = ["'", '"', '`'].find((each) => !value.includes(each)) ?? "'"
  return `${name}=${mark}${value}${mark}`
}

/** Who may write into this folder could lead a secret, or what is replaced, to any place. */
export function refuseLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw new Error(`${path} is a link. Put the file itself in its place.`)
}

/** Writes a whole file or nothing: another program never sees a part of it, and a secret is never readable by others. */
export function writeWhole(path: string, text: string, mode: number): void {
  refuseLink(path)
  const draft = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(draft, text, { mode, flag: 'wx', flush: true })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
