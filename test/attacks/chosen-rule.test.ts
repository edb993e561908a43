import { describe, expect, test } from 'vitest'
import { readPolicy } from '../../src/config/policy-file.ts'
import { firstMatchingRule, type Project } from '../../src/domain/policy.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'

const production = 'proj_1oNqx62cx6bn0'
const staging = 'proj_2RBis9AK23gEc'

function read(text: string) {
  return readPolicy(text, 'policy.yml', { kinds: changeKinds, bundles, expiresMs: 3_600_000 })
}

/** Returns the name of the rule that decides about a move in this project. */
function ruleUnder(text: string, project: Project): string {
  const result = read(text)
  if (!('policy' in result)) throw new Error(result.lines.join('\n'))
  const found = firstMatchingRule(result.policy, { kind: 'ip.move', channelId: 'C0OPS00001', project })
  return found.is === 'rule' ? found.rule.name : `${found.is}`
}

const staged = (entry: string) => `
rules:
  - { name: no approval in staging, projects: [${entry}], approve: none }
  - { name: two approvals, approve: { any_of: [S0ONCALL01], approvals: 2 } }
`

const strict = (entry: string) => `
rules:
  - { name: two approvals, projects: [${entry}], approve: { any_of: [S0ONCALL01], approvals: 2 } }
  - { name: no approval, approve: none }
`

describe('a person who may rename projects', () => {
  test('gives production the id of another project as its name, and stays under the rule of production', () => {
    expect(ruleUnder(staged(staging), { id: staging, name: 'Staging' })).toBe('no approval in staging')
    expect(ruleUnder(staged(staging), { id: production, name: staging })).toBe('two approvals')
  })

  test('takes the name of production away, and no laxer rule holds for what names it by id', () => {
    expect(ruleUnder(strict(production), { id: production, name: 'Sandbox' })).toBe('two approvals')
  })

  test('gives production an empty name, and no rule below the one that goes by the name is reached', () => {
    expect(ruleUnder(strict('{name: Storefront}'), { id: production, name: 'Storefront' })).toBe('two approvals')
    expect(ruleUnder(strict('{name: Storefront}'), { id: production })).toBe('project-unknown')
  })

  test('changes the slug of a project to the name in a rule, which never compares slugs', () => {
    const project = { id: production, slug: 'Storefront' }

    expect(ruleUnder(staged('{name: Storefront}'), { ...project, name: 'Production' })).toBe('two approvals')
    expect(ruleUnder(staged('{name: Storefront}'), project)).toBe('project-unknown')
  })
})

describe('a person who adds to the policy file what reviewers do not see', () => {
  const reviewed = 'rules:\n  - name: all\n    approve: [S0ONCALL01]\n'

  test.each([
    ['a second document', `${reviewed}---\nrules:\n  - name: all\n    approve: none\n`, 4],
    ['a first document above the reviewed one', `rules:\n  - { name: lax, approve: none }\n---\n${reviewed}`, 3],
    ['a document after an end mark', `${reviewed}...\nrules: []\n`, 5],
    ['an empty second document', `${reviewed}---\n`, 4],
    ['a second document that is no YAML', `${reviewed}---\n[\n`, 4],
    ['a tag', 'rules:\n  - name: a\n    approve: !!set {S0ONCALL01}\n', 3],
  ])('with %s stops the start, with the line', (_, text, line) => {
    const result = read(text)

    expect('lines' in result && result.lines[0]).toMatch(new RegExp(`^POLICY_FILE policy\\.yml, line ${line}: .*: \\S`))
  })

  test('with the rules of YAML 1.1, in which no is false, changes the meaning of nothing', () => {
    const result = read(`%YAML 1.1\n---\n${reviewed}    confirm: no\n`)

    expect('lines' in result && result.lines).toEqual([
      'POLICY_FILE policy.yml, line 6: confirm: Invalid input: expected boolean, received string',
    ])
  })
})
