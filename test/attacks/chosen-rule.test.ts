import { describe, expect, test } from 'vitest'
import { readPolicy } from '../../src/config/policy-file.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'

function read(text: string) {
  return readPolicy(text, 'policy.yml', { kinds: changeKinds, bundles, expiresMs: 3_600_000 })
}

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
