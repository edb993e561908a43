import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')
export const source = join(root, 'src')
/** The file that lists all features. */
export const list = 'features/index.ts'

export const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
export const textOf = new Map(files.map((file) => [file, readFileSync(join(source, file), 'utf8')]))
/** The features: a folder or a file each. */
export const features = [
  ...new Set(files.map((file) => file.split('/')).flatMap(([room, name = '']) => (room === 'features' ? [nameOf(name)] : []))),
]
  .filter((name) => name !== 'index')
  .toSorted()

function nameOf(entry: string): string {
  return entry.replace(/\.ts$/, '')
}

/** Fits relative imports, also those that are loaded only when they are needed. */
export const specifier = /(?<=\bfrom '|^import '|\bimport\(')\.{1,2}\/[^']+(?=')/gm

/** Returns the relative imports of a file. */
export function importsOf(file: string): string[] {
  return [...(textOf.get(file) ?? '').matchAll(specifier)].map(([target]) => resolveImport(file, target))
}

export function resolveImport(file: string, target: string): string {
  return relative(source, resolve(source, dirname(file), target))
}

export const isOf = (feature: string) => (file: string) => file.startsWith('features/') && nameOf(file.split('/')[1] ?? '') === feature

/** Removes the line that imports a feature, and the line with its name. */
export function withoutLines(text: string, feature: string): string {
  const lines = text.split('\n')
  const isImport = (line: string) =>
    line.startsWith('import ') && [`'./${feature}.ts'`, `'./${feature}/`].some((target) => line.includes(target))
  const names = lines.filter(isImport).flatMap((line) => /\{(.*)\}/.exec(line)?.[1]?.split(',') ?? [])
  const isName = (line: string) => names.some((name) => line.trim() === `${name.trim()},`)
  return lines.filter((line) => !isImport(line) && !isName(line)).join('\n')
}
