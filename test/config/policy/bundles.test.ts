import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { readPolicy } from '../../../src/config/policy-file.ts'
import { firstMatchingRule, type Policy, type Project } from '../../../src/domain/policy.ts'
import { evacuationKinds } from '../evacuation-kinds.ts'

const read = (text: string) => readPolicy(text, 'policy.yml', { ...evacuationKinds, expiresMs: 14_400_000 })
const withoutFile = (line: string) => line.replace(/^POLICY_FILE policy\.yml, /, '')

function errorsOf(text: string): string[] {
  const result = read(text)
  return 'lines' in result ? result.lines.map(withoutFile) : []
}

function policyOf(text: string): Policy {
  const result = read(text)
  if ('lines' in result) throw new Error(result.lines.join('\n'))
  return result.policy
}

const storefront: Project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }

function ruleOf(policy: Policy, { kind = 'ip.evacuate', channelId = 'C0OPS00001', project = storefront as Project } = {}) {
  const found = firstMatchingRule(policy, { kind, channelId, project })
  return found.is === 'rule' ? found.rule.name : found.is
}

describe('an evacuation that no rule names', () => {
  it('is decided as a move, by whatever rule decides moves', () => {
    const policy = policyOf(`
rules:
  - { name: production, changes: ip.move, projects: [proj_1oNqx62cx6bn0], approve: { any_of: [S0ONCALL01], approvals: 2 } }
  - { name: ops, channels: [C0OPS00001], approve: [S0ONCALL01] }
`)

    for (const kind of ['ip.evacuate', 'ip.move']) {
      expect(ruleOf(policy, { kind })).toBe('production')
      expect(ruleOf(policy, { kind, project: { id: 'proj_2RBis9AK23gEc', name: 'Billing' } })).toBe('ops')
      expect(ruleOf(policy, { kind, project: { id: 'proj_2RBis9AK23gEc' }, channelId: 'C0OTHER001' })).toBe('none')
      expect(ruleOf(policy, { kind, project: 'unknown' })).toBe('project-unknown')
    }
  })

  it.each([
    ['APPROVERS', {}],
    ['NO_APPROVAL', { NO_APPROVAL: 'ip.move' }],
  ])('is decided by %s if moves are', (rule, more) => {
    const { policy } = readConfig({ ...required, ...more }, evacuationKinds)

    expect(ruleOf(policy, { kind: 'ip.move' })).toBe(rule)
    expect(ruleOf(policy)).toBe(rule)
  })

  it('cannot be named by NO_APPROVAL, which names the moves in it', () => {
    expect(() => readConfig({ ...required, NO_APPROVAL: 'ip.evacuate' }, evacuationKinds)).toThrow(
      'NO_APPROVAL must be of ip.move, vm.rename, key.create, key.rotate, key.revoke, separated by commas, not "ip.evacuate"',
    )
  })
})

const required = {
  SLACK_BOT_TOKEN: 'xoxb-203-113-botbotbot',
  SLACK_SIGNING_SECRET: '8f742231b10e8888abcd99f3a5b85a57',
  INFRA_API_URL: 'https://api.example.com',
  INFRA_API_KEY: 'key',
  REDIS_URL: 'redis://127.0.0.1:6379',
  APPROVERS: 'U0BEN00001',
}

describe('an evacuation that a rule names', () => {
  const text = `
rules:
  - { name: everything, channels: [C0OPS00001], approve: [S0ONCALL01] }
  - { name: failover, changes: ip.evacuate, channels: [C0OPS00001], approve: { any_of: [S0ONCALL01], approvals: 2 } }
`

  it('is decided by the rules that name it, and no rule for every kind names it', () => {
    const policy = policyOf(text)

    expect(ruleOf(policy)).toBe('failover')
    expect(ruleOf(policy, { kind: 'ip.move' })).toBe('everything')
    expect(policy.rules[0]?.changes).not.toContain('ip.evacuate')
  })

  it.each([
    ['needs no rule for moves', '- { name: failover, changes: ip.evacuate, approve: [S0ONCALL01] }'],
    ['can have the rule of moves', '- { name: addresses, changes: [ip.move, ip.evacuate], approve: none }'],
    [
      'may be easier than the moves, because its approvals must satisfy their rule, too',
      '- { name: moves, changes: ip.move, approve: [S0ONCALL01] }\n  - { name: failover, changes: ip.evacuate, approve: none }',
    ],
  ])('%s', (_, rules) => {
    expect(errorsOf(`rules:\n  ${rules}\n`)).toEqual([])
  })
})

describe('alerts in a rule', () => {
  const rule = (keys: string) => errorsOf(`rules:\n  - { name: failover, ${keys} }\n  - { name: rest, approve: [S0ONCALL01] }\n`)

  it('are beside people, everyone, or nobody', () => {
    const policy = policyOf(`
rules:
  - { name: a, changes: ip.evacuate, channels: [C0OPS00001], request: [alerts, S0ONCALL01], approve: [S0ONCALL01] }
  - { name: b, changes: ip.evacuate, channels: [C0OPS00002], request: [alerts, everyone], approve: [S0ONCALL01] }
  - { name: c, changes: ip.evacuate, channels: [C0OPS00003], request: [alerts], approve: [S0ONCALL01] }
  - { name: d, changes: ip.evacuate, channels: [C0OPS00004], request: everyone, approve: [S0ONCALL01] }
  - { name: e, changes: ip.evacuate, approve: [S0ONCALL01] }
`)

    expect(policy.rules.map(({ alerts, request }) => [alerts, request])).toEqual([
      [true, { users: [], userGroups: ['S0ONCALL01'] }],
      [true, undefined],
      [true, { users: [], userGroups: [] }],
      [false, undefined],
      [false, undefined],
    ])
  })

  it('stop the start where they cannot be', () => {
    const ways: [string, string][] = [
      ['without approval', 'changes: ip.evacuate, request: [alerts, everyone], approve: none'],
      ['twice', 'changes: ip.evacuate, request: [alerts, alerts], approve: [S0ONCALL01]'],
      ['by another word', 'changes: ip.evacuate, request: alerts, approve: [S0ONCALL01]'],
      ['beside everyone and people', 'changes: ip.evacuate, request: [alerts, everyone, U0ADA00001], approve: [S0ONCALL01]'],
      ['as approvers', 'changes: ip.evacuate, approve: [alerts]'],
    ]

    expect(Object.fromEntries(ways.map(([way, keys]) => [way, rule(keys)]))).toMatchInlineSnapshot(`
      {
        "as approvers": [
          "line 2: approve: must be a user id (U…, W…) or a user group id (S…)",
        ],
        "beside everyone and people": [
          "line 2: request: has everyone, so U0ADA00001 may request anyway: remove these",
        ],
        "by another word": [
          "line 2: request: must be everyone, or a list of user ids (U…, W…), user group ids (S…) and alerts",
        ],
        "twice": [
          "line 2: request: has "alerts" twice",
        ],
        "without approval": [
          "line 2: request: must not be alerts where approve is none: nobody approves",
        ],
      }
    `)
  })
})
