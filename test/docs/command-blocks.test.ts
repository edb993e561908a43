import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandBlocks, composeCommands, composePrints, pages } from './command-blocks.ts'

const root = join(import.meta.dirname, '../..')
const all = pages.flatMap((page) => commandBlocks(page))

test('finds every block of commands on README and the docs', () => {
  const fences = pages.flatMap((page) => [...readFileSync(join(root, page), 'utf8').matchAll(/^ *```sh$/gm)])
  expect(all).toHaveLength(fences.length)
  expect(all.filter(({ notRun }) => notRun === undefined).length).toBeGreaterThan(10)
})

test('a block that is not run says why, and names tests that exist', () => {
  const reasons = all.flatMap(({ notRun }) => notRun ?? [])
  expect(reasons.filter((reason) => reason.length < 20)).toEqual([])
  expect(reasons.flatMap((reason) => reason.match(/test\/[\w/.-]+\.ts/g) ?? []).filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('the Compose commands of blocks and of texts are found, each once', () => {
  const page = '| upgrade | run `docker compose up -d --build` |\n\n```sh\ndocker compose up -d\ndocker compose logs --follow bot\n```\n'

  expect(composeCommands([page, 'Run `docker compose up -d`.'])).toEqual([
    'docker compose up -d --build',
    'docker compose up -d',
    'docker compose logs --follow bot',
  ])
  expect(Object.keys(composePrints).filter((command) => !composeCommands().includes(command))).toEqual([])
})

test('a block has its section, its commands without indentation, its marks and what it prints', () => {
  const page =
    '# Page\n\n## First\n\n1. Do it:\n\n   <!-- runs until: ready -->\n   ```sh\n   npm start\n   npm stop\n   ```\n\n   It prints `done`. More.\n'

  expect(commandBlocks('page.md', page)).toEqual([
    {
      page: 'page.md',
      section: 'First',
      line: 7,
      commands: 'npm start\nnpm stop\n',
      notRun: undefined,
      runsUntil: 'ready',
      prints: 'done',
    },
  ])
})
