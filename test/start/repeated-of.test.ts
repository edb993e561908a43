import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readPolicy } from '../../src/config/policy-file.ts'
import { abilities } from '../../src/features/index.ts'
import { repeatedOf } from '../../src/start/bot.ts'
import { evacuationKinds } from '../config/evacuation-kinds.ts'
import { fakeApp } from '../fake-app.ts'
import { catalog } from '../given/catalog.ts'

const approve = ['S0ONCALL01']

test.each([
  ['an evacuation is decided as a move', { changes: 'ip.move', approve }, ['assignments', 'freezes', 'key-ends']],
  [
    'a rule names evacuations, for one channel and one project',
    { changes: 'ip.evacuate', channels: ['C0OPS00001'], projects: ['proj_1'], approve },
    ['assignments', 'freezes', 'key-ends'],
  ],
  ['every kind may be requested', { approve }, ['assignments', 'freezes', 'key-ends']],
  ['no rule permits evacuations', { changes: ['vm.rename', 'key.create'], approve }, ['freezes', 'key-ends']],
])('the addresses of servers are read regularly only where evacuations are permitted: %s', (_, rule, expected) => {
  const read = readPolicy(stringify({ rules: [{ name: 'only', ...rule }] }), 'policy.yml', { ...evacuationKinds, expiresMs: 3_600_000 })
  if ('lines' in read) throw new Error(read.lines.join(' '))

  const works = repeatedOf(
    abilities,
    fakeApp({ config: { policy: read.policy, watchChanges: false, keyReview: false }, catalog, timings: { repeatMs: 15_000 } }),
    {} as never,
  )

  expect(works.map(({ name }) => name).toSorted()).toEqual(expected)
  const everyMs = works.map((work) => [work.name, work.everyMs])
  expect(Object.fromEntries(everyMs)).toMatchObject({
    freezes: 30_000,
    ...(expected.includes('assignments') && { assignments: 5 * 60_000 }),
  })
})
