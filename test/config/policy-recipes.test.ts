import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readPolicy } from '../../src/config/policy-file.ts'
import {
  approverRuling,
  breakGlassRuling,
  type Membership,
  type Person,
  type Place,
  requesterRuling,
  tallyApprovals,
} from '../../src/domain/approval.ts'
import { whenOpen } from '../../src/domain/hours.ts'
import { decidingRule, type Policy } from '../../src/domain/policy.ts'
import { formatDuration } from '../../src/domain/text.ts'
import { expectDocument } from '../messages/documents.ts'
import { evacuationKinds } from './evacuation-kinds.ts'

const docs = join(import.meta.dirname, '../../docs')
const recipes = readdirSync(join(docs, 'policies')).toSorted()

const people = {
  Ada: 'U0ADA00001',
  Ben: 'U0BEN00001',
  Chiara: 'U0CHI00001',
  Sam: 'U0SAM00001',
  Pat: 'U0PAT00001',
  Lea: 'U0LEA00001',
  Leo: 'U0LEO00001',
}
const { Ben: ben, Chiara: chiara, Sam: sam, Pat: pat, Leo: leo } = people

/** Ben and Chiara are on call, Sam is in the security team, Pat in the platform team, Leo leads a team. Ada and Lea are in none of them. */
const membership: Membership = new Map([
  ['S0ONCALL01', new Set([ben, chiara])],
  ['S0SECURE01', new Set([sam])],
  ['S0PLATFORM1', new Set([pat])],
  ['S0LEADS00', new Set([leo])],
])

const projects = {
  production: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' },
  staging: { id: 'proj_2RBis9AK23gEc', name: 'Staging' },
  none: 'none' as const,
}

const changes: [kind: string, project: keyof typeof projects][] = [
  ['ip.move', 'production'],
  ['ip.move', 'staging'],
  ['ip.evacuate', 'production'],
  ['ip.evacuate', 'staging'],
  ['vm.rename', 'production'],
  ['vm.rename', 'staging'],
  ['key.create', 'none'],
  ['key.rotate', 'none'],
  ['key.extend', 'none'],
]

/** Says which rule decides about a change in a channel, and what it lets people do. */
function answer(policy: Policy, [kind, project]: (typeof changes)[number], channelId: string): string {
  const found = decidingRule(policy, { kind, channelId, project: projects[project] })
  if (found.is !== 'rule') return 'nobody'
  const { rule } = found
  const place: Place = { channelId, teamId: 'T0NIMBUS01', standing: 'usual' }
  const person = (userId: string): Person => ({ userId, standing: 'member', teamIds: ['T0NIMBUS01'] })
  const those = (may: (userId: string) => boolean) =>
    Object.entries(people)
      .flatMap(([name, userId]) => (may(userId) ? name : []))
      .join(', ')
      .replace(Object.keys(people).join(', '), 'everybody') || 'nobody'
  const requesters = those((userId) => requesterRuling({ person: person(userId), place, membership }, rule).allowed)
  const wanted = rule.reason.map(({ pattern }) => (pattern === undefined ? 'a reason' : `a match of ${pattern} in the reason`))
  const opened = rule.windows.map((window) => `, started ${whenOpen(window)}`)
  const { ends } = rule
  const ended = ends && kind.startsWith('key.') ? [`, with an end${ends.longestMs ? ` within ${formatDuration(ends.longestMs)}` : ''}`] : []
  const reason = [...wanted.map((words) => `, with ${words}`), ...ended, ...opened].join('')
  const terms = rule.approve
  if (!terms) return `${rule.name}: requested by ${requesters}${reason}; no approval`
  const approvers = those(
    (userId) => approverRuling({ person: person(userId), place, requesterId: pat, rule, membership }).allowed && userId !== pat,
  )
  const alone = those((userId) => breakGlassRuling({ person: person(userId), place, requesterId: userId, rule, membership }).allowed)
  const needed = [[ben], [sam], [ben, chiara]].filter((some) => tallyApprovals(terms, some, membership).enough)
  const enough = needed.map((some) => those((userId) => some.includes(userId)).replace(', ', ' and ')).join('; ')
  const urgent = rule.emergency ? ', and past windows and freezes' : ''
  return `${rule.name}: requested by ${requesters}${reason}; approved by ${approvers}${urgent}; in an emergency alone by ${alone}; enough: ${enough}`
}

test.each(recipes)('docs/policy.md links %s', (file) => {
  expect(readFileSync(join(docs, 'policy.md'), 'utf8')).toContain(`(policies/${file})`)
})

test('docs/policy.md shows the rules of one of them', () => {
  const [, shown = ''] = /^ *```yaml\n([\s\S]*?)^ *```/m.exec(readFileSync(join(docs, 'policy.md'), 'utf8')) ?? []
  const rulesOf = (text: string) => parse(text).rules.map((rule: object) => ({ ...rule, name: undefined }))

  expect(rulesOf(shown)).toEqual(rulesOf(readFileSync(join(docs, 'policies/on-call-two-for-evacuations.yml'), 'utf8')))
})

test('what each recipe lets people do', async () => {
  const situations = recipes.map((file): [string, string] => {
    const read = readPolicy(readFileSync(join(docs, 'policies', file), 'utf8'), file, { ...evacuationKinds, expiresMs: 14_400_000 })
    if ('lines' in read) return [file, read.lines.join('\n')]
    const { policy } = read
    const asked = changes.flatMap((change) => ['C0OPS00001', 'C0SECURITY'].map((channelId) => ({ change, channelId })))
    const grouped = Map.groupBy(asked, ({ change, channelId }) => answer(policy, change, channelId))
    const words = [...grouped].map(([ruling, all]) => {
      const channelsOf = (one: (typeof changes)[number]) =>
        all.flatMap(({ change, channelId }) => (change === one ? channelId : [])).join(', ')
      const inChannels = [...Map.groupBy(changes, channelsOf)].filter(([channels]) => channels !== '')
      return [ruling, ...inChannels.map(([channels, some]) => `  in ${channels}: ${some.map((one) => one.join(' of ')).join(', ')}`)].join(
        '\n',
      )
    })
    return [file, words.join('\n')]
  })
  await expectDocument('recipes.md', 'What each recipe of a policy lets people do', situations)
})
