import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readPolicy } from '../../src/config/policy-file.ts'
import { firstMatchingRule, type Policy } from '../../src/domain/policy.ts'
import { changeKinds } from '../../src/features/index.ts'
import { anyText } from '../any-text.ts'
import { expectDocument } from '../messages/documents.ts'
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

const rulesForAlerts = `
rules:
  - name: failover
    changes: ip.evacuate
    channels: [C0OPS00001]
    request: [alerts, S0ONCALL01]
    approve: [S0ONCALL01]
`
const entry = `
alerts:
  - name: node down
    match: { alertname: NodeDown, severity: critical }
    server: instance
    to: { ASH: standby-ash, " fra ": sv_22mUQSvUfeqdv }
    channel: C0OPS00001
`

describe('a policy file that is refused', () => {
  it('gets one line for each error, in the order of the file', async () => {
    const folder = join(import.meta.dirname, 'policies')
    const files = readdirSync(folder).map((name): [string, string] => [name, errorsOf(readFileSync(join(folder, name), 'utf8')).join('\n')])
    await expectDocument('policy-errors.md', 'What Lockkeeper says about the policy files in test/config/policies, and about short ones', [
      ...files,
      ...withoutRules.map((text): [string, string] => [JSON.stringify(text), errorsOf(text).join('\n')]),
      ...invalidYaml.map((text): [string, string] => [JSON.stringify(text), errorsOf(text).join('\n')]),
    ])
  })

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
  ]

  it('is told of an error in an aliased value where it is written and where it is used', () => {
    const text = 'rules:\n  - name: a\n    changes: ip.move\n    approve: &who\n      any_of: [ben]\n  - name: b\n    approve: *who\n'

    expect(errorsOf(text).map((line) => line.split(':')[0])).toEqual(['line 5', 'line 7'])
  })
})

describe('a valid policy file', () => {
  it('sets every member of a rule', () => {
    const text = `
rules:
  - name: production addresses
    changes: [ip.move]
    projects: [proj_1oNqx62cx6bn0, { name: "Web shop" }]
    channels: [C0OPS00001]
    request: [U0ADA00001, S0PLATFORM1]
    approve:
      any_of: [S0ONCALL01, U0BEN00001]
      all_of: [S0NETWORK1, S0SECURE01]
      approvals: 2
    self_approval: break-glass
    reason: required
    confirm: true
    expires: 30m
    mention: [S0ONCALL01]
`

    expect(policyOf(text)).toMatchObject({
      rules: [
        {
          name: 'production addresses',
          changes: ['ip.move'],
          projects: { ids: ['proj_1oNqx62cx6bn0'], names: ['Web shop'] },
          channels: ['C0OPS00001'],
          request: { users: ['U0ADA00001'], userGroups: ['S0PLATFORM1'] },
          alerts: false,
          approve: {
            anyOf: { users: ['U0BEN00001'], userGroups: ['S0ONCALL01'] },
            allOf: ['S0NETWORK1', 'S0SECURE01'],
            approvals: 2,
          },
          breakGlass: true,
          needsReason: true,
          confirm: true,
          expiresMs: 1_800_000,
          mention: { users: [], userGroups: ['S0ONCALL01'] },
        },
      ],
    })
  })

  it.each([
    ['one kind without brackets', 'changes: ip.move', { changes: ['ip.move'] }],
    ['request: everyone', 'request: everyone', { request: undefined }],
    ['self_approval: never', 'self_approval: never', { breakGlass: false }],
    ['reason: required', 'reason: required', { needsReason: true }],
    ['reason: optional', 'reason: optional', { needsReason: false }],
    ['confirm: false', 'confirm: false', { confirm: false }],
    ['nobody to mention', 'mention: []', { mention: { users: [], userGroups: [] } }],
    ['the longest duration', 'expires: 24d', { expiresMs: 24 * 86_400_000 }],
    ['no approval', 'approve: none', { approve: undefined }],
    ['only all_of', 'approve: { all_of: [U0BEN00001, S0ONCALL01] }', { approve: { allOf: ['U0BEN00001', 'S0ONCALL01'], approvals: 1 } }],
    [
      'as many approvals as approvers',
      'approve: { any_of: [U0BEN00001], all_of: [U0CHI00001], approvals: 2 }',
      { approve: { approvals: 2 } },
    ],
    ['more approvals than ids, if one is a group', 'approve: { any_of: [S0ONCALL01], approvals: 10 }', { approve: { approvals: 10 } }],
  ])('may have %s', (_, line, expected) => {
    const approve = line.startsWith('approve') ? '' : '    approve: [S0ONCALL01]\n'

    expect(policyOf(`rules:\n  - name: a rule\n${approve}    ${line}\n`).rules).toMatchObject([expected])
  })

  it('may have anchors and aliases, comments, flow style, JSON, a byte order mark and Windows line ends', () => {
    const flow = '{"rules": [{"name": "a", "approve": ["S0ONCALL01"]}]}'
    const block = '\ufeff# ours\r\nrules:\r\n  - name: a # first\r\n    approve: [S0ONCALL01]\r\n'
    const aliased =
      'rules:\n  - name: &x a\n    mention: &us [S0ONCALL01]\n    changes: ip.move\n    approve: *us\n  - name: b\n    approve: *us\n'

    expect(policyOf(flow)).toEqual(policyOf(block))
    expect(policyOf(aliased).rules.map(({ approve }) => approve?.anyOf.userGroups)).toEqual([['S0ONCALL01'], ['S0ONCALL01']])
  })

  it('may have overlapping rules, as long as each can match', () => {
    const text = `
rules:
  - { name: a, changes: ip.move, channels: [C0OPS00001], approve: none }
  - { name: b, changes: ip.move, projects: [proj_1oNqx62cx6bn0], approve: none }
  - { name: c, changes: ip.move, projects: [proj_1oNqx62cx6bn0, proj_2RBis9AK23gEc], channels: [C0OPS00001, C0OTHER001], approve: none }
  - { name: d, changes: [ip.move, vm.rename], approve: none }
  - { name: e, approve: none }
`

    expect(errorsOf(text)).toEqual([])
  })

  const alertsIn = (text: string) => policyOf(rulesForAlerts + text).alerts

  it('says which alerts lead to a request, for which server, to which target and where', () => {
    expect(alertsIn(entry)).toEqual([
      {
        name: 'node down',
        match: new Map([
          ['alertname', 'NodeDown'],
          ['severity', 'critical'],
        ]),
        server: 'instance',
        to: new Map([
          ['ash', 'standby-ash'],
          ['fra', 'sv_22mUQSvUfeqdv'],
        ]),
        channelId: 'C0OPS00001',
      },
    ])
  })

  it('may have one target for every site', () => {
    expect(alertsIn(entry.replace(/to: .*/, 'to: standby'))).toMatchObject([{ to: 'standby' }])
  })

  it('may have alerts only in a channel where a rule lets them request an evacuation', () => {
    const ofMoves = 'rules:\n  - { name: moves, changes: ip.move, request: [alerts], approve: [S0ONCALL01] }\n'

    expect(errorsOf(rulesForAlerts.replace('alerts, ', '') + entry)).toHaveLength(1)
    expect(errorsOf(ofMoves + entry.replace('channel: C0OPS00001', 'channel: C0GENERAL1'))).toEqual([])
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
          confirm: fc.constantFrom<unknown>(true, false, 'yes', null),
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
      'failover',
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
