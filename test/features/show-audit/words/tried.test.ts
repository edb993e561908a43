import { expect, test } from 'vitest'
import { foundWith, triedBy } from '../../../../src/features/audit/words.ts'
import { gatherHandlers } from '../../../../src/requests/clicks.ts'
import { catalog } from '../../../requests/catalog-for-test.ts'
import { unconnectedFeatures } from '../../../sandbox/features.ts'

/** Returns the name of everything that people can do, as an entry of the audit has it. */
function everyName(): string[] {
  const features = unconnectedFeatures()
  const app = { access: {}, store: {}, operators: {}, errors: { of: () => undefined } }
  const { clicks, submissions, shortcuts, options } = gatherHandlers(app as never, features, {} as never)
  return [
    'home',
    ...features.flatMap(({ commands }) => commands.map(({ words }) => `command ${words}`)),
    ...Object.keys(clicks).map((id) => `click ${id}`),
    ...Object.keys(submissions).map((id) => `submission ${id}`),
    ...Object.keys(shortcuts).map((id) => `shortcut ${id}`),
    ...Object.keys(options).map((id) => `options ${id}`),
  ]
}

test('the audit has words for every command, button, form, shortcut and picker', () => {
  const names = everyName()

  expect(names).toContain('click request-approve')
  expect(names.filter((name) => triedBy(name) === undefined)).toEqual([])
})

test('every kind of change finds its refused commands, buttons and forms', () => {
  const found = everyName().flatMap((text) => foundWith({ act: 'refused', attempted: 'read', text }))

  expect(found).toEqual(expect.arrayContaining(catalog.kinds().map((kind) => `kind ${kind}`)))
})

test.each([
  ['read', 'command ip move', ['kind ip.move']],
  ['read', 'click open-evacuate-server', ['kind ip.evacuate']],
  ['read', 'submission request-reject', ['action reject']],
  ['read', 'click request-approve', ['action approve']],
  ['request-approve', undefined, ['action approve']],
  ['break-glass', undefined, ['action break-glass']],
  ['decide', undefined, ['action approve', 'action reject']],
  ['request', undefined, ['action request']],
  ['read', 'command unknown', []],
  ['read', undefined, []],
  ['constructor', undefined, []],
  [undefined, undefined, []],
])('a refused attempt to %s "%s" is found by %j', (attempted, text, words) => {
  expect(foundWith({ act: 'refused', attempted, text })).toEqual(words)
})

test('an entry that is no refusal is found by its own kind and action only', () => {
  expect(foundWith({ act: 'approve', attempted: 'request-reject', text: 'command ip move' })).toEqual([])
})

test.each([
  ['command ip move', 'move an Elastic IP'],
  ['command evacuate', 'evacuate a server'],
  ['command keys', 'list API keys'],
  ['command help', 'read the help'],
  ['click request-approve', 'approve a request'],
  ['submission request-reject', 'reject a request'],
  ['command unknown', 'run an unknown command'],
  ['command of-another-version', undefined],
  ['command constructor', undefined],
  ['click constructor', undefined],
  ['options request-approve', undefined],
  ['', undefined],
])('the entry "%s" says that somebody tried to %s', (text, words) => {
  expect(triedBy(text)).toBe(words)
})
