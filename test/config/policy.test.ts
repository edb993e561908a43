import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readPolicy } from '../../src/config/policy-file.ts'
import { firstMatchingRule, type Policy } from '../../src/domain/policy.ts'
import { changeKinds } from '../../src/features/index.ts'
import { anyText } from '../any-text.ts'
import { expectDocument, membersOf } from '../messages/documents.ts'
import { evacuationKinds } from './evacuation-kinds.ts'

const docs = join(import.meta.dirname, '../../docs')
const fourHours = 14_400_000

const read = (text: string) => readPolicy(text, 'policy.yml', { ...evacuationKinds, expiresMs: fourHours })

/** Returns the error lines without their common beginning. */
function errorsOf(text: string): string[] {
  const result = read(text)
  return 'lines' in result ? result.lines.map((line) => line.replace(/^POLICY_FILE policy\.yml, /, '')) : []
}

function policyOf(text: string): Policy {
  const result = read(text)
  if ('lines' in result) throw new Error(result.lines.join('\n'))
  return result.policy
}

type Row = [written: string, read: string[]]

const table = (rows: Row[]) => rows.map(([written, read]) => [written, ...read.map((line) => `  → ${line}`)].join('\n')).join('\n')

const rule = (keys: string) => `rules:\n  - { name: a rule, ${keys.includes('approve:') ? '' : 'approve: [S0ONCALL01], '}${keys} }\n`

const wrongEnds = [
  'ends: never',
  'ends: {}',
  'ends: { longest: 30s }',
  'ends: { longest: 30d, default: 90d }',
  'ends: { longest: 9999d, usual: 30d }',
  'ends: required, changes: [ip.move, vm.rename]',
  'ends: required, changes: freeze, approve: none',
].map(rule)

const rulesForAlerts = `
rules:
  - { name: failover, changes: ip.evacuate, channels: [C0OPS00001], request: [alerts, S0ONCALL01], approve: [S0ONCALL01] }
`
const entry = `
alerts:
  - name: node down
    match: { alertname: NodeDown, severity: critical }
    server: instance
    to: { ASH: standby-ash, " fra ": sv_22mUQSvUfeqdv }
    channel: C0OPS00001
`

/** On 28 March 2027, the clock in Lisbon goes forward from 01:00 to 02:00. */
const timed = `
windows:
  office: { days: [fri, mon], from: 09:00, to: "17:00", zone: Europe/Lisbon }
freezes:
  - { name: sales, from: 2026-11-27T00:00, to: "2026-11-30 08:00", zone: America/New_York, changes: ip.move, projects: [{ name: Shop }] }
  - { name: clocks, from: 2027-03-28T01:30, to: 2027-03-28T01:30, zone: Europe/Lisbon }
`

describe('a policy file that is refused', () => {
  const withoutRules = ['', '---\n', 'rules\n', '- name: a\n', 'rules:\n', 'rules: []\n', '\n\nrules: { name: a }\n', 'policy: 1\n', '42']

  const invalidYaml = [
    'rules:\n  - name: production: addresses\n    approve: none\n',
    'rules:\n  - name: a\n    approve: @oncall\n',
    'rules:\n\t- name: a\n',
    'rules:\n  - name: "a\n    approve: none\n',
    'rules:\n  - name: a\n    approve: *oncall\n',
    'rules:\n  - name: !secret a\n    approve: none\n',
    'rules:\n  - name: a\n    approve: none\n---\nrules: []\n',
    'rules:\n  - ? [a]\n    : b\n',
    'rules:\n  - name: a\n    expires: 1h\n    expires: 2h\n',
    // An error in an aliased value names the lines where it is written and where it is used.
    'rules:\n  - name: a\n    changes: ip.move\n    approve: &who\n      any_of: [ben]\n  - name: b\n    approve: *who\n',
  ]

  /** What reviewers of the file do not see. */
  const reviewed = 'rules:\n  - name: all\n    approve: [S0ONCALL01]\n'
  const hidden = [
    `rules:\n  - { name: lax, approve: none }\n---\n${reviewed}`,
    ...['...\nrules: []\n', '---\n', '---\n[\n'].map((after) => reviewed + after),
    'rules:\n  - name: a\n    approve: !!set {S0ONCALL01}\n',
    // In YAML 1.1, no is false.
    `%YAML 1.1\n---\n${reviewed}    confirm: no\n`,
  ]

  const freezesInRules = [
    'changes: freeze, approve: none, confirm: true, self_approval: break-glass, emergency: approvers',
    'changes: freeze, approve: none, request: [alerts]',
    'window: office',
  ].map(rule)
  const frozenTwice = 'rules:\n  - { name: a, changes: freeze, approve: none }\n  - { name: b, changes: freeze, approve: none }\n'

  const alertsInRules = [
    'changes: ip.evacuate, request: [alerts, everyone], approve: none',
    'changes: ip.evacuate, request: [alerts, alerts]',
    'changes: ip.evacuate, request: [alerts, everyone, U0ADA00001]',
    'changes: ip.evacuate, approve: [alerts]',
    "approve: { any_of: [S0ONCALL01], all_of: ['machine:ci'] }",
    "escalate: { after: 30m, to: ['machine:ci'] }",
    "mention: ['machine:ci']",
  ].map(rule)

  it('gets one line for each error, in the order of the file', async () => {
    const folder = join(import.meta.dirname, 'policies')
    const errorsIn = (name: string): Row => [name, errorsOf(readFileSync(join(folder, name), 'utf8'))]
    const short = [
      ...withoutRules,
      ...invalidYaml,
      ...hidden,
      ...alertsInRules,
      ...freezesInRules,
      ...wrongEnds,
      frozenTwice,
      rulesForAlerts.replace('alerts, ', '') + entry,
    ]

    await expectDocument('policy-errors.md', 'What Lockkeeper says about policy files', [
      ['those in test/config/policies', table(readdirSync(folder).map(errorsIn))],
      ['short ones', table(short.map((text) => [JSON.stringify(text), errorsOf(text)]))],
    ])
  })
})

describe('a valid policy file', () => {
  const whole = `
rules:
  - name: production addresses
    changes: [ip.move]
    projects: [proj_1oNqx62cx6bn0, { name: "Web shop" }]
    channels: [C0OPS00001]
    request: [U0ADA00001, S0PLATFORM1]
    approve: { any_of: [S0ONCALL01, U0BEN00001], all_of: [S0NETWORK1, S0SECURE01], approvals: 2 }
    self_approval: break-glass
    emergency: approvers
    reason: required
    confirm: true
    expires: 30m
    mention: [S0ONCALL01]
    escalate: { after: 10m, to: [S0LEADS00, U0CHI00001] }
`

  it('means what the document says', async () => {
    const usual = policyOf(rule('')).rules[0] ?? {}
    const rules = [
      'changes: ip.move',
      'changes: [ip.move, ip.evacuate]',
      'request: everyone',
      'changes: ip.evacuate, request: [alerts, everyone]',
      'changes: ip.evacuate, request: [alerts]',
      'self_approval: never, reason: optional, confirm: false, mention: []',
      'expires: 24d',
      "reason: { pattern: 'OPS-\\d+' }",
      "reason: { pattern: 'OPS-\\d+', link: https://tickets.example.com/browse/$0 }",
      'approve: none',
      'ends: required, changes: key.create',
      'ends: { longest: 90d, default: 30d }',
      'ends: { default: 12h }',
      'approve: { all_of: [U0BEN00001, S0ONCALL01] }',
      'approve: { any_of: [U0BEN00001], all_of: [U0CHI00001], approvals: 2 }',
      'approve: { any_of: [S0ONCALL01], approvals: 10 }',
      'approve: { any_of: [U0BEN00001], approvals: 2 }, escalate: { after: 30m, to: [U0CHI00001] }',
      'changes: freeze, approve: none, request: [S0LEADS001]',
    ]
    const files = [
      whole,
      `${timed}${rule('window: office')}`,
      rulesForAlerts + entry,
      rulesForAlerts + entry.replace(/to: .*/, 'to: standby'),
      `${rule("changes: [ip.move, vm.rename], request: ['machine:ci', alerts, S0ONCALL01]")}machines: [{ name: ci, token: CI_TOKEN, channel: C0OPS00001 }]`,
      // The rules for moves decide about evacuations, too, until a rule names these.
      `${rule('changes: ip.move, request: [alerts]')}${entry}`,
    ]
    const differences = (text: string) => {
      const { rules, bundles, ...others } = policyOf(text)
      expect(bundles).toEqual(evacuationKinds.bundles)
      return [...rules.flatMap((each) => membersOf(each, usual)), ...membersOf(others)]
    }

    await expectDocument('policy-readings.md', 'What policy files mean', [
      ['a rule that only names its approvers', membersOf(usual).join('\n')],
      ['what a rule that says more has otherwise', table(rules.map((keys) => [keys, differences(rule(keys))]))],
      ['what whole files have otherwise', table(files.map((text) => [text.trim(), differences(text)]))],
    ])
  })

  it('may have anchors and aliases, comments, flow style, JSON, a byte order mark and Windows line ends', () => {
    const flow = '{"rules": [{"name": "a", "approve": ["S0ONCALL01"]}]}'
    const block = '\ufeff# ours\r\nrules:\r\n  - name: a # first\r\n    approve: [S0ONCALL01]\r\n'
    const aliased = 'rules:\n  - name: &x a\n    approve: &us [S0ONCALL01]\n    mention: *us\n'

    expect(policyOf(flow)).toEqual(policyOf(block))
    expect(policyOf(aliased).rules).toMatchObject([
      { approve: { anyOf: { userGroups: ['S0ONCALL01'] } }, mention: { userGroups: ['S0ONCALL01'] } },
    ])
  })

  it.each([
    [
      'overlapping rules, as long as each can match',
      `
  - { name: a, changes: ip.move, channels: [C0OPS00001], approve: none }
  - { name: b, changes: ip.move, projects: [proj_1oNqx62cx6bn0], approve: none }
  - { name: c, changes: ip.move, projects: [proj_1oNqx62cx6bn0, proj_2RBis9AK23gEc], channels: [C0OPS00001, C0OTHER001], approve: none }
  - { name: d, changes: [ip.move, vm.rename], approve: none }
  - { name: e, approve: none }`,
    ],
    ['evacuations without a rule for moves', '\n  - { name: failover, changes: ip.evacuate, approve: [S0ONCALL01] }'],
    [
      'evacuations that are easier than moves, because their approvals must satisfy the rule of moves, too',
      '\n  - { name: moves, changes: ip.move, approve: [S0ONCALL01] }\n  - { name: failover, changes: ip.evacuate, approve: none }',
    ],
  ])('may have %s', (_, rules) => {
    expect(errorsOf(`rules:${rules}\n`)).toEqual([])
  })
})

describe('a hostile policy file', () => {
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x, x]',
    ...[...'bcdefgh'].map((name, i) => `${name}: &${name} [${`*${'abcdefg'[i]}, `.repeat(10)}]`),
  ]

  it.each([
    ['aliases of aliases of aliases', bomb.join('\n')],
    ['an alias to its own parent', 'rules: &all\n  - *all\n'],
    ['nested brackets', '['.repeat(60_000)],
    ['nested lists', '- '.repeat(30_000)],
    ['nested keys', '? '.repeat(30_000)],
    ['many keys', `rules:\n${Array.from({ length: 5_000 }, (_, i) => `k${i}: 1\n`).join('')}`],
    ['more than 64 kB', `rules: [] #${'x'.repeat(70_000)}`],
  ])('with %s is rejected quickly', (_, text) => {
    const errors = errorsOf(text)

    expect(errors.length).toBeGreaterThan(0)
    expect(errors[0]).toMatch(/Excessive alias count|expected object|call stack|rules: is empty|larger than 64 kB|unknown key/)
  })

  const tokens = [
    'xoxb-203-113-botbotbot',
    'xapp-1-A0LOCKKEEP-botbotbot',
    'Bearer xoxp-203-botbotbot',
    'redis://:botbotbot@redis.example.com',
  ]
  const places = [
    (token: string) => `rules:\n  - name: "${token}\\n"\n    approve: "${token}"\n    changes: ["${token}"]\n    channels: ["${token}"]\n`,
    (token: string) => `rules:\n  - name: "${token}"\n    approve: none\n  - name: "${token}"\n    approve: none\n`,
    (token: string) => `"${token}": 1\n"${token}": 2\n`,
    (token: string) => `rules:\n  - name: a\n    approve: [${token}\n`,
    (token: string) => `rules:\n  - name: a: ${token}\n    approve: @${token}\n`,
    (token: string) => `rules:\n  - !${token} a\n  - *${token}\n`,
    (token: string) => token,
    (token: string) =>
      `${rulesForAlerts}alerts:\n  - { name: ${token}, match: { "${token}": 1 }, server: ["${token}"], to: { "${token}": 1 }, channel: ${token}, "${token}": 1 }\n`,
  ]

  it.each(tokens)('does not show the token %s in an error', (token) => {
    const errors = places.map((place) => errorsOf(place(token)))

    expect(errors.every((lines) => lines.length > 0)).toBe(true)
    expect(errors.flat().join('\n')).not.toContain('botbotbot')
  })
})

describe('any text', () => {
  const word = fc.constantFrom(...'rules name approve any_of none ip.move S0ONCALL01 U0BEN00001 2 __proto__ ~ "'.split(' '))
  const mark = fc.constantFrom(
    ...[': ', '\n', '\n  ', '\n    ', '- ', '[', ']', '{', '}', ', ', '&a ', '*a', '? ', '| ', '> ', '!t ', '---\n', '# ', '\t', '%'],
  )
  const likeYaml = fc.array(fc.oneof(word, mark), { maxLength: 40 }).map((parts) => parts.join(''))
  const anyValue = fc.jsonValue().map((value) => stringify(value))
  const likePolicy = fc
    .array(
      fc.record(
        {
          name: fc.oneof(fc.string(), fc.constant('a')),
          changes: fc.oneof(fc.constantFrom<unknown>(...changeKinds), fc.jsonValue()),
          approve: fc.oneof(
            fc.constantFrom<unknown>('none', ['S0ONCALL01'], { any_of: ['U0BEN00001'], approvals: 2 }),
            fc.record({ any_of: fc.jsonValue(), all_of: fc.jsonValue(), approvals: fc.jsonValue() }, { requiredKeys: [] }),
          ),
          channels: fc.jsonValue(),
          self_approval: fc.constantFrom<unknown>('never', 'break-glass', true),
          emergency: fc.constantFrom<unknown>('never', 'approvers', true),
          confirm: fc.constantFrom<unknown>(true, false, 'yes', null),
          reason: fc.record({ pattern: anyText(), link: fc.string() }),
        },
        { requiredKeys: [] },
      ),
    )
    .map((rules) => stringify({ rules }))

  it('gives a policy or error lines without line breaks, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), likeYaml, anyValue, likePolicy), (text) => {
        const result = read(text)

        if ('policy' in result) {
          expect(result.policy.rules.length).toBeGreaterThan(0)
          return
        }
        expect(result.lines.length).toBeGreaterThan(0)
        const numbers = result.lines.map((line) => Number(/^POLICY_FILE policy\.yml, line (\d+): [^\n\r]{10,}$/.exec(line)?.[1]))
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        expect(numbers.every((number) => number >= 1 && number <= text.split(/\r\n|\r|\n/).length)).toBe(true)
      }),
      { numRuns: 75 },
    )
  })
})

describe('docs/policy.example.yml', () => {
  const example = readPolicy(readFileSync(join(docs, 'policy.example.yml'), 'utf8'), 'example', {
    ...evacuationKinds,
    expiresMs: fourHours,
  })
  const policy = 'policy' in example ? example.policy : { rules: [] }
  const production = { id: 'proj_1oNqx62cx6bn0', name: 'production' }
  const nameFor = (change: Parameters<typeof firstMatchingRule>[1]) => {
    const found = firstMatchingRule(policy, change)
    return found.is === 'none' ? undefined : found.rule.name
  }

  it('is a valid policy', () => {
    expect(policy.rules.map(({ name }) => name)).toEqual([
      'names in staging',
      'production addresses',
      'API keys',
      'freezes',
      'failover',
      'CI',
      'everything else',
    ])
  })

  it('applies its rules as its comments say', () => {
    for (const channelId of ['C0OPS00001', 'C0GENERAL1']) {
      expect(nameFor({ kind: 'ip.move', channelId, project: production })).toBe('production addresses')
      expect(nameFor({ kind: 'ip.evacuate', channelId, project: production })).toBe('production addresses')
      expect(nameFor({ kind: 'key.create', channelId, project: 'none' })).toBe('API keys')
    }
    expect(nameFor({ kind: 'vm.rename', channelId: 'C0OPS00001', project: production })).toBe('everything else')
    expect(nameFor({ kind: 'vm.rename', channelId: 'C0GENERAL1', project: production })).toBeUndefined()
    expect(nameFor({ kind: 'ip.evacuate', channelId: 'C0OPS00001', project: 'none' })).toBe('failover')
    expect(policy.rules.filter(({ alerts }) => alerts).map(({ name }) => name)).toEqual(['failover'])
    expect(policy.rules.filter(({ breakGlass }) => breakGlass).map(({ name }) => name)).toEqual(['everything else'])
  })
})
