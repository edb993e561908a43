import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { requestStatesPage, requestStatesPath, requestStatesPicture, requestStatesPicturePath } from '../../scripts/write-request-states.ts'
import { type RequestState, requestStates } from '../../src/domain/request.ts'
import { type Step, steps } from '../../src/requests/steps.ts'

const page = requestStatesPage()
const picture = requestStatesPicture()

test('docs/request-states.md and its picture fit the table of steps', () => {
  const areCurrent = readFileSync(requestStatesPath, 'utf8') === page && readFileSync(requestStatesPicturePath, 'utf8') === picture
  expect(areCurrent, 'docs/request-states.md is out of date: run "npm run docs:states" and commit what it wrote').toBe(true)
})

test('the page has one row for each state and each step', () => {
  const rows = [...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)
  expect(rows).toEqual([...requestStates, ...Object.keys(steps)])
})

test('the row of a state names every state that can follow, with its steps', () => {
  const [row] = page.match(/^\| `approved` .*$/m) ?? []
  expect(row).toMatchInlineSnapshot(
    `"| \`approved\` | It is approved, and nothing was sent yet. It may be scheduled, or held by a window or a freeze. | open | \`withdrawn\` (\`withdraw\`)<br>\`expired\` (\`expire-approved\`)<br>\`voided\` (\`void\`, \`give-way\`)<br>\`not-started\` (\`drop\`)<br>\`starting\` (\`send\`, \`issue\`)<br>\`tracking\` (\`begin\`) |"`,
  )
})

test('the main path of the picture follows the steps, with every other state beside it', () => {
  const words = [...picture.matchAll(/ font-size="(\d+)"[^>]*>([^<]+)<\/text>/g)].map(([, font, text = '']) => ({
    font: Number(font),
    text,
  }))
  const main = words.filter(({ font }) => font > 16).map(({ text }) => text)
  expect(main).toEqual(['waiting', 'approved', 'starting', 'tracking', 'done'])
  for (const [index, state] of main.slice(1).entries()) {
    const before = main[index] as RequestState
    expect(
      Object.values(steps as Record<string, Step>).some(({ from, to }) => to === state && from.includes(before)),
      state,
    ).toBe(true)
  }
  expect(new Set(words.filter(({ font }) => font >= 16).map(({ text }) => text))).toEqual(new Set(requestStates))
})

test('every way from state to state is in the picture, or named below it', () => {
  const [, notDrawn = ''] = page.match(/^Not drawn: (.*)$/m) ?? []
  expect([...notDrawn.matchAll(/`([\w-]+)` → `([\w-]+)`/g)].map(([, from, to]) => `${from} → ${to}`)).toEqual([
    'approved → tracking',
    'starting → approved',
    'starting → done',
    'untracked → tracking',
  ])
})
