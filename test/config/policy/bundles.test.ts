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

function warningsOf(text: string): string[] {
  const result = read(text)
  if ('lines' in result) throw new Error(result.lines.join('\n'))
  return result.warnings.map(withoutFile)
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

  it('needs no rule for moves', () => {
    expect(errorsOf('rules:\n  - { name: failover, changes: ip.evacuate, approve: [S0ONCALL01] }\n')).toEqual([])
  })

  it('may be stricter than the moves in every way', () => {
    expect(
      errorsOf(`
rules:
  - name: moves
    changes: ip.move
    request: [S0PLATFORM1, U0ADA00001]
    approve: { any_of: [S0ONCALL01, S0SECURE01], approvals: 2 }
    self_approval: break-glass
    expires: 1h
  - name: failover
    changes: ip.evacuate
    request: [alerts, S0PLATFORM1]
    approve: { any_of: [S0ONCALL01], all_of: [S0SECURE01], approvals: 3 }
    expires: 30m
`),
    ).toEqual([])
  })

  it('can have the rule of moves', () => {
    expect(errorsOf('rules:\n  - { name: addresses, changes: [ip.move, ip.evacuate], approve: none }\n')).toEqual([])
  })

  it('is denied in other places, with a warning where moves are not', () => {
    expect(warningsOf(text)).toEqual([])
    expect(
      warningsOf(`
rules:
  - { name: moves, changes: ip.move, channels: [C0OPS00001], approve: [S0ONCALL01] }
  - { name: failover, changes: ip.evacuate, channels: [C0OPS00001], projects: [proj_1oNqx62cx6bn0], approve: [S0ONCALL01] }
`),
    ).toMatchInlineSnapshot(`
      [
        "line 4: "failover" names ip.evacuate, so only rules that name it decide it. No such rule covers it in channel C0OPS00001, where ip.move can be requested",
      ]
    `)
    expect(
      warningsOf(`
rules:
  - { name: moves, changes: ip.move, approve: [S0ONCALL01] }
  - name: failover
    changes: ip.evacuate
    channels: [C0OPS00001]
    approve: [S0ONCALL01]
`),
    ).toMatchInlineSnapshot(`
      [
        "line 5: "failover" names ip.evacuate, so only rules that name it decide it. No such rule covers it in other places, where ip.move can be requested",
      ]
    `)
  })
})

describe('a rule by which an evacuation would be easier than its moves stops the start:', () => {
  const moves = `
  - name: moves
    changes: ip.move
    channels: [C0OPS00001]
    projects: [proj_1oNqx62cx6bn0]
    request: [S0PLATFORM1, U0ADA00001]
    approve: { any_of: [S0ONCALL01], all_of: [S0SECURE01], approvals: 3 }
    expires: 30m
    reason: required
    confirm: true`
  const strict = {
    changes: 'ip.evacuate',
    channels: '[C0OPS00001]',
    projects: '[proj_1oNqx62cx6bn0]',
    request: '[S0PLATFORM1]',
    approve: '{ any_of: [S0ONCALL01], all_of: [S0SECURE01], approvals: 3 }',
    expires: '30m',
    reason: 'required',
    confirm: 'true',
  }

  /** Returns the errors of a rule that is as strict as that for moves, apart from these keys. An undefined key is left out. */
  function errorsWith(more: Record<string, string | undefined>, above = '') {
    const keys = Object.entries({ ...strict, ...more }).filter(([, value]) => value !== undefined)
    return errorsOf(`rules:${above}\n  - name: failover\n${keys.map(([key, value]) => `    ${key}: ${value}\n`).join('')}${moves}\n`)
  }

  it('no rule of this test is easier by itself', () => {
    expect(errorsWith({})).toEqual([])
  })

  it('less in any of its keys', () => {
    const ways: [string, Record<string, string | undefined>][] = [
      ['no approval', { approve: 'none', confirm: undefined }],
      ['fewer approvals', { approve: '{ any_of: [S0ONCALL01], all_of: [S0SECURE01], approvals: 2 }' }],
      ['nobody of the security team', { approve: '{ any_of: [S0ONCALL01, S0SECURE01], approvals: 3 }' }],
      ['other approvers', { approve: '{ any_of: [S0ONCALL01, U0EVE00001], all_of: [S0SECURE01], approvals: 3 }' }],
      ['all of these', { approve: '[U0EVE00001]' }],
      ['everybody may request', { request: undefined }],
      ['other people may request', { request: '[U0EVE00001, alerts]' }],
      ['break-glass', { self_approval: 'break-glass' }],
      ['no reason', { reason: 'optional' }],
      ['no confirmation', { confirm: undefined }],
      ['a later deadline', { expires: '31m' }],
      ['the usual deadline', { expires: undefined }],
      ['another channel', { channels: '[C0OPS00001, C0GENERAL1]' }],
      ['every channel', { channels: undefined }],
    ]

    expect(Object.fromEntries(ways.map(([way, more]) => [way, errorsWith(more)]))).toMatchInlineSnapshot(`
      {
        "a later deadline": [
          "line 8: expires must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: write 30m or less",
        ],
        "all of these": [
          "line 7: approve must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: require at least 3 approvals, and add S0SECURE01 to all_of, and remove U0EVE00001, who may not approve there",
        ],
        "another channel": [
          "line 4: channels must not let people request ip.evacuate where nobody can request ip.move in project "proj_1oNqx62cx6bn0" and channel C0GENERAL1: add the channel to "moves", or name only its channels here",
        ],
        "break-glass": [
          "line 11: self_approval must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: write never",
        ],
        "every channel": [
          "line 2: channels must not let people request ip.evacuate where nobody can request ip.move in project "proj_1oNqx62cx6bn0": add the channel to "moves", or name only its channels here",
        ],
        "everybody may request": [
          "line 2: request must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: name only people and groups that may request there",
        ],
        "fewer approvals": [
          "line 7: approve must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: require at least 3 approvals",
        ],
        "no approval": [
          "line 7: approve must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: name who approves",
        ],
        "no confirmation": [
          "line 2: confirm must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: write true",
        ],
        "no reason": [
          "line 9: reason must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: write required",
        ],
        "nobody of the security team": [
          "line 7: approve must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: add S0SECURE01 to all_of",
        ],
        "other approvers": [
          "line 7: approve must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: remove U0EVE00001, who may not approve there",
        ],
        "other people may request": [
          "line 6: request must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: name only people and groups that may request there",
        ],
        "the usual deadline": [
          "line 2: expires must not be easier for ip.evacuate than for ip.move, which "moves" decides in project "proj_1oNqx62cx6bn0" and channel C0OPS00001: write 30m or less",
        ],
      }
    `)
  })

  it.each<[string, Record<string, string | undefined>]>([
    ['for every project', { projects: undefined }],
    ['for the name of the project', { projects: '[{name: Storefront}]' }],
    ['for the project and others', { projects: '[proj_2RBis9AK23gEc, proj_1oNqx62cx6bn0]' }],
  ])('also in a rule %s', (_, more) => {
    expect(errorsWith({ ...more, approve: '{ any_of: [S0ONCALL01], all_of: [S0SECURE01], approvals: 2 }' })).toEqual([
      expect.stringMatching(
        / approve must not be easier for ip\.evacuate than for ip\.move, which "moves" decides in project "proj_1oNqx62cx6bn0"/,
      ),
    ])
  })

  it('also where a stricter rule for evacuations of some projects is above it', () => {
    const above = `
  - { name: narrow, changes: ip.evacuate, projects: [proj_2RBis9AK23gEc], approve: [S0ONCALL01] }`

    expect(errorsWith({ projects: undefined, approve: '[S0ONCALL01]' }, above)).toHaveLength(1)
  })

  it('but not where another rule decides about the moves', () => {
    expect(errorsWith({ projects: '[proj_2RBis9AK23gEc]', approve: 'none', request: 'everyone', confirm: 'false' })).toEqual([])
  })

  it('but not in another channel for alerts alone, because no person requests there', () => {
    expect(errorsWith({ channels: '[C0ALERTS01]', request: '[alerts]' })).toEqual([])
    expect(errorsWith({ channels: '[C0ALERTS01]', request: '[alerts]', approve: '[S0ONCALL01]' })).toHaveLength(1)
  })

  it('with one line for each key, at the line of the key', () => {
    const errors = errorsWith({ approve: '[S0ONCALL01]', request: 'everyone', expires: '1h', self_approval: 'break-glass' })

    expect(errors.map((error) => error.split(' must')[0])).toEqual([
      'line 6: request',
      'line 7: approve',
      'line 8: expires',
      'line 11: self_approval',
    ])
  })

  it('quickly, also where rules name thousands of projects and channels', () => {
    const many = (prefix: string) => Array.from({ length: 20_000 }, (_, index) => `${prefix}${index}`).join(', ')
    const errors = errorsWith({
      approve: 'none',
      confirm: 'false',
      projects: `[${many('proj_')}, ${many('Store ')}]`,
      channels: `[${many('C0')}]`,
    })

    expect(errors.length).toBeGreaterThan(0)
  }, 10_000)
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

  it('may be in a rule for moves while no rule names evacuations', () => {
    expect(rule('changes: ip.move, request: [alerts], approve: [S0ONCALL01]')).toEqual([])
  })

  it('stop the start where they cannot be', () => {
    const ways: [string, string][] = [
      ['without approval', 'changes: ip.evacuate, request: [alerts, everyone], approve: none'],
      ['for other kinds', 'changes: vm.rename, request: [alerts], approve: [S0ONCALL01]'],
      ['twice', 'changes: ip.evacuate, request: [alerts, alerts], approve: [S0ONCALL01]'],
      ['by another word', 'changes: ip.evacuate, request: alerts, approve: [S0ONCALL01]'],
      ['beside everyone and people', 'changes: ip.evacuate, request: [alerts, everyone, U0ADA00001], approve: [S0ONCALL01]'],
      ['as approvers', 'changes: ip.evacuate, approve: [alerts]'],
    ]

    expect(Object.fromEntries(ways.map(([way, keys]) => [way, rule(keys)]))).toMatchInlineSnapshot(`
      {
        "as approvers": [
          "line 2: approve must be user ids (U…, W…) and user group ids (S…), not "alerts"",
        ],
        "beside everyone and people": [
          "line 2: request has everyone, so U0ADA00001 may request anyway: remove these",
        ],
        "by another word": [
          "line 2: request must be everyone, or a list of user ids (U…, W…), user group ids (S…) and alerts, not "alerts"",
        ],
        "for other kinds": [
          "line 2: request must not have alerts, which request only ip.evacuate: remove it, or add ip.evacuate to changes",
        ],
        "twice": [
          "line 2: request has "alerts" twice: keep one",
        ],
        "without approval": [
          "line 2: request must not have alerts where approve is none, because people approve what alerts request: remove it, or name who approves",
          "line 2: approve must not be easier for ip.evacuate than for ip.move, which "rest" decides: name who approves",
        ],
      }
    `)
  })
})
