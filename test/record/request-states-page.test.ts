import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { requestStatesPage, requestStatesPath } from '../../scripts/write-request-states.ts'
import { requestStates } from '../../src/domain/request.ts'
import { steps } from '../../src/record/steps.ts'

const page = requestStatesPage()

test('docs/request-states.md fits the table of steps', () => {
  expect(
    readFileSync(requestStatesPath, 'utf8') === page,
    'docs/request-states.md is out of date: run "npm run docs:states" and commit what it wrote',
  ).toBe(true)
})

test('the page has one row for each state and each step', () => {
  const rows = [...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)
  expect(rows).toEqual([...requestStates, ...Object.keys(steps)])
})

test('the row of a state names every state that can follow, with its steps', () => {
  const [row] = page.match(/^\| `approved` .*$/m) ?? []
  expect(row).toMatchInlineSnapshot(
    `"| \`approved\` | It is approved, and nothing was sent yet. It may be scheduled, or held by a window or a freeze. | open | \`withdrawn\` (\`withdraw\`)<br>\`expired\` (\`expire-approved\`)<br>\`voided\` (\`void\`)<br>\`not-started\` (\`drop\`)<br>\`starting\` (\`send\`, \`issue\`)<br>\`tracking\` (\`begin\`) |"`,
  )
})

test('every way from state to state is in the diagram, or named below it', () => {
  const [, notDrawn = ''] = page.match(/^Not drawn: (.*)$/m) ?? []
  expect([...notDrawn.matchAll(/`([\w-]+)` → `([\w-]+)`/g)].map(([, from, to]) => `${from} → ${to}`)).toEqual([
    'approved → tracking',
    'starting → approved',
    'starting → done',
    'untracked → tracking',
  ])
})
