import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { features, files, importsOf, isOf, list, resolveImport, root, source, specifier, textOf, withoutLines } from './source-files.ts'

// All deletions are compiled in one program, because a program for each feature would take four seconds. A deletion can affect only files
// that import the list of features or the deleted folder, directly or through other files. These files are copied for each feature. All
// other files are the real ones.

/** Returns the files that the deletion of a folder can affect. */
function dependantsOf(feature: string): Set<string> {
  const gone = isOf(feature)
  const found = new Set([list])
  for (let size = 0; size !== found.size; ) {
    size = found.size
    for (const file of files) if (!gone(file) && importsOf(file).some((target) => gone(target) || found.has(target))) found.add(file)
  }
  return found
}

/** Writes the files that the deletion of a feature can affect. */
function writeWithout(feature: string, folder: string, edit: (text: string) => string): void {
  const copied = dependantsOf(feature)
  const gone = isOf(feature)
  for (const file of copied) {
    const text = file === list ? edit(textOf.get(file) ?? '') : (textOf.get(file) ?? '')
    const linked = text.replaceAll(specifier, (target) => {
      const found = resolveImport(file, target)
      return copied.has(found) || gone(found) ? target : join(source, found)
    })
    const copy = join(folder, file)
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, linked)
  }
}

/** Returns the errors of the compiler, each with the path of its file in the folder. */
function typeCheck(folder: string): Promise<string[]> {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  symlinkSync(join(root, 'package.json'), join(folder, 'package.json'))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*/**/*.ts'] }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((done) => {
    execFile(process.execPath, [compiler, '--noEmit', '--pretty', 'false'], { cwd: folder }, (_, output) => {
      done(output.split('\n').filter((line) => line.includes('error TS')))
    })
  })
}

describe('a feature can be deleted with its folder and its line', () => {
  const lineKept = 'line-kept'
  let folder = ''
  let errors: string[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'without-a-feature-'))
    for (const feature of features) writeWithout(feature, join(folder, feature), (text) => withoutLines(text, feature))
    writeWithout('plans', join(folder, lineKept), (text) => text)
    errors = await typeCheck(folder)
  }, 120_000)

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(features)('%s: the rest still compiles', (feature) => {
    expect(errors.filter((error) => error.startsWith(`${feature}/`))).toEqual([])
  })

  test('a line that is kept is the only error', () => {
    expect(errors.map((error) => error.replace(/\(.*?\).*'(.*)'.*/, ': $1'))).toEqual([`${lineKept}/features/index.ts: ./plans.ts`])
  })
})
