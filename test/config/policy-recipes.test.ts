import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
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
import { decidingRule, type Policy, type PolicyRule } from '../../src/domain/policy.ts'
import { evacuationKinds } from './evacuation-kinds.ts'

const docs = join(import.meta.dirname, '../../docs')
const recipes = readdirSync(join(docs, 'policies'))

const ada = 'U0ADA00001'
const ben = 'U0BEN00001'
const chiara = 'U0CHI00001'
const sam = 'U0SAM00001'
const pat = 'U0PAT00001'

/** Ben and Chiara are on call, Sam is in the security team, Pat in the platform team. Ada is in none of them. */
const membership: Membership = new Map([
  ['S0ONCALL01', new Set([ben, chiara])],
  ['S0SECURE01', new Set([sam])],
  ['S0PLATFORM1', new Set([pat])],
])

const production = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }
const staging = { id: 'proj_2RBis9AK23gEc', name: 'Staging' }

function policyOf(file: string): Policy {
  const result = readPolicy(readFileSync(join(docs, 'policies', file), 'utf8'), file, { ...evacuationKinds, expiresMs: 14_400_000 })
  if ('lines' in result) throw new Error(result.lines.join('\n'))
  return result.policy
}

interface Question {
  kind: string
  project?: { id: string; name: string }
  channelId?: string
}

/** Returns the rule that decides, and what it lets people do. */
function judge(file: string, { kind, project, channelId = 'C0OPS00001' }: Question) {
  const found = decidingRule(policyOf(file), { kind, channelId, project: project ?? 'none' })
  return found.is === 'rule' ? judged(found.rule, channelId) : undefined
}

function judged(rule: PolicyRule, channelId: string) {
  const place: Place = { channelId, teamId: 'T0NIMBUS01', standing: 'usual' }
  const person = (userId: string): Person => ({ userId, standing: 'member', teamId: 'T0NIMBUS01' })
  const terms = rule.approve
  return {
    rule: rule.name,
    needsReason: rule.needsReason,
    needsApproval: terms !== undefined,
    mayRequest: (userId: string) => requesterRuling({ person: person(userId), place, membership }, rule).allowed,
    mayApprove: (userId: string, requesterId: string) =>
      approverRuling({ person: person(userId), place, requesterId, rule, membership }).allowed,
    mayApproveAlone: (userId: string) => breakGlassRuling({ person: person(userId), place, requesterId: userId, rule, membership }).allowed,
    isEnough: (...people: string[]) => terms !== undefined && tallyApprovals(terms, people, membership).enough,
  }
}

test.each(recipes)('%s is a valid policy, and docs/policy.md links it', (file) => {
  expect(policyOf(file).rules).not.toEqual([])
  expect(readFileSync(join(docs, 'policy.md'), 'utf8')).toContain(`(policies/${file})`)
})

describe('on-call.yml', () => {
  const move = judge('on-call.yml', { kind: 'ip.move', project: production })

  test('lets everybody request, and one person on call approve', () => {
    expect(move?.mayRequest(ada)).toBe(true)
    expect(move?.mayApprove(ben, ada)).toBe(true)
    expect(move?.mayApprove(sam, ada)).toBe(false)
    expect(move?.isEnough(ben)).toBe(true)
  })

  test('lets only people on call approve their own request, in an emergency', () => {
    expect(move?.mayApprove(ben, ben)).toBe(false)
    expect(move?.mayApproveAlone(ben)).toBe(true)
    expect(move?.mayApproveAlone(ada)).toBe(false)
  })
})

describe('two-people-for-production.yml', () => {
  const file = 'two-people-for-production.yml'

  test.each(['ip.move', 'vm.rename', 'ip.evacuate'])(
    'needs two people and a reason for %s in production, and one person elsewhere',
    (kind) => {
      const there = judge(file, { kind, project: production })
      expect(there?.needsReason).toBe(true)
      expect(there?.isEnough(ben)).toBe(false)
      expect(there?.isEnough(ben, chiara)).toBe(true)

      const elsewhere = judge(file, { kind, project: staging })
      expect(elsewhere?.needsReason).toBe(false)
      expect(elsewhere?.isEnough(ben)).toBe(true)
    },
  )

  test('needs two people for a key, which belongs to no project', () => {
    expect(judge(file, { kind: 'key.create' })?.isEnough(ben)).toBe(false)
    expect(judge(file, { kind: 'key.create' })?.isEnough(ben, chiara)).toBe(true)
  })
})

describe('keys-with-an-owner.yml', () => {
  const file = 'keys-with-an-owner.yml'

  test('lets only the security team approve keys, and only in its channel', () => {
    const key = judge(file, { kind: 'key.rotate', channelId: 'C0SECURITY' })
    expect(key?.mayApprove(sam, ada)).toBe(true)
    expect(key?.mayApprove(ben, ada)).toBe(false)
    expect(judge(file, { kind: 'key.rotate', channelId: 'C0OPS00001' })).toBeUndefined()
  })

  test.each(['ip.move', 'vm.rename', 'ip.evacuate'])('lets the people on call approve %s', (kind) => {
    expect(judge(file, { kind, project: production })?.mayApprove(ben, ada)).toBe(true)
    expect(judge(file, { kind, project: production })?.mayApprove(sam, ada)).toBe(false)
  })
})

describe('staging-without-approval.yml', () => {
  const file = 'staging-without-approval.yml'

  test.each(['ip.move', 'vm.rename'])('needs no approval for %s in staging, which only the platform team may request', (kind) => {
    const change = judge(file, { kind, project: staging })
    expect(change?.needsApproval).toBe(false)
    expect(change?.mayRequest(pat)).toBe(true)
    expect(change?.mayRequest(ada)).toBe(false)
  })

  test('needs an approval for everything else', () => {
    const others = [{ kind: 'ip.move', project: production }, { kind: 'ip.evacuate', project: staging }, { kind: 'key.create' }]
    expect(others.map((other) => judge(file, other)?.isEnough(ben))).toEqual([true, true, true])
    expect(others.map((other) => judge(file, other)?.needsApproval)).toEqual([true, true, true])
  })
})
