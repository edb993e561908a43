import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readPolicy } from '../../../src/config/policy-file.ts'
import { firstMatchingRule, type Policy, type PolicyRule } from '../../../src/domain/policy.ts'
import { misleadingPart } from '../../../src/domain/text.ts'
import { bundles, changeKinds } from '../../../src/features/index.ts'
import { anyText } from '../../any-text.ts'
import { evacuationKinds } from '../evacuation-kinds.ts'

const fourHours = 14_400_000
/** A random rule that names a bundle is often easier than its parts, and is then refused. */
const singleKinds = changeKinds.filter((kind) => !bundles.has(kind))

const read = (text: string) => readPolicy(text, 'policy.yml', { kinds: changeKinds, bundles, expiresMs: fourHours })

/** Returns the error lines without their common beginning. */
function errorsOf(text: string): string[] {
  const result = read(text)
  if (!('lines' in result)) return []
  return result.lines.map((line) => line.replace(/^POLICY_FILE policy\.yml, /, ''))
}

function policyOf(text: string): Policy {
  const result = read(text)
  if ('lines' in result) throw new Error(result.lines.join('\n'))
  return result.policy
}

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

  it('takes words that look like ids for ids alone, and warns of other words, which are names', () => {
    const result = read(
      'rules:\n  - name: a\n    projects: [proj_dev1, Storefront,\n      PROJ_dev2, {name: proj_dev3}]\n    approve: none\n',
    )

    expect(result).toMatchObject({
      policy: { rules: [{ projects: { ids: ['proj_dev1'], names: ['Storefront', 'PROJ_dev2', 'proj_dev3'] } }] },
    })
    expect('warnings' in result && result.warnings).toMatchInlineSnapshot(`
      [
        "POLICY_FILE policy.yml, line 3: "Storefront" in projects is read as a name. Write a name as {name: "Storefront"}, or use the id (proj_…), which nobody can change",
        "POLICY_FILE policy.yml, line 4: "PROJ_dev2" in projects is read as a name. Write a name as {name: "PROJ_dev2"}, or use the id (proj_…), which nobody can change",
      ]
    `)
  })

  it('needs only a name and approvers, and has defaults for the rest', () => {
    expect(policyOf('rules:\n  - name: all\n    approve: [U0BEN00001]\n')).toMatchObject({
      rules: [
        {
          name: 'all',
          changes: singleKinds,
          projects: undefined,
          channels: undefined,
          request: undefined,
          alerts: false,
          approve: { anyOf: { users: ['U0BEN00001'], userGroups: [] }, allOf: [], approvals: 1 },
          breakGlass: false,
          needsReason: false,
          confirm: false,
          expiresMs: fourHours,
          mention: undefined,
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
})

describe('an invalid policy file gives one line for each error, in the order of the file:', () => {
  it('invalid values', () => {
    const text = `# Ours.
rules:
  - name: production addresses
    changes: [ip.mov, vm.rename, ip.delete]
    projects: [2024, "", {id: proj_1oNqx62cx6bn0}, {name: 7}, {name: a, id: b}, [x]]
    channels: ["#ops", D0DIRECT01, C0OPS00001]
    request: nobody
    approve:
      any_of: ["@oncall", C0OPS00001,
        ben@example.com]
      all_of: S0NETWORK1
      approvals: two
    self_approval: yes
    reason: please
    expires: 1 hour
    mention: nobody
  - name: |
      two
      lines
    approve: S0ONCALL01
    expires: 25d
  - name: ${'long '.repeat(13)}
    expires: 30
    approve: { any_of: [S0ONCALL01], approvals: 11 }
  - name: 2024
    approve: 1
  - production
`

    expect(errorsOf(text)).toMatchInlineSnapshot(`
      [
        "line 4: changes must be of ip.move, ip.evacuate, vm.rename, key.create, key.rotate, key.revoke, not "ip.mov": did you mean ip.move?",
        "line 4: changes must be of ip.move, ip.evacuate, vm.rename, key.create, key.rotate, key.revoke, not "ip.delete"",
        "line 5: projects must be project ids (proj_…) and names such as {name: Storefront}, each in one line of up to 100 characters, not 2024: put quotes around it",
        "line 5: projects must be project ids (proj_…) and names such as {name: Storefront}, each in one line of up to 100 characters, not """,
        "line 5: projects must be project ids (proj_…) and names such as {name: Storefront}, each in one line of up to 100 characters, not keys with values",
        "line 5: projects must be project ids (proj_…) and names such as {name: Storefront}, each in one line of up to 100 characters, not a list",
        "line 6: channels must be channel ids (C…, G…), not "#ops"",
        "line 6: channels must be channel ids (C…, G…), not "D0DIRECT01"",
        "line 7: request must be everyone, or a list of user ids (U…, W…), user group ids (S…) and alerts, not "nobody"",
        "line 9: approve.any_of must be user ids (U…, W…) and user group ids (S…), not "@oncall"",
        "line 9: approve.any_of must be user ids (U…, W…) and user group ids (S…), not "C0OPS00001"",
        "line 10: approve.any_of must be user ids (U…, W…) and user group ids (S…), not "ben@example.com"",
        "line 11: approve.all_of must be a list of user ids (U…, W…) and user group ids (S…), not "S0NETWORK1"",
        "line 12: approve.approvals must be a whole number from 1 to 10, not "two"",
        "line 13: self_approval must be never or break-glass, not "yes"",
        "line 14: reason must be required or optional, not "please"",
        "line 15: expires must be a duration such as 500ms, 5s, 15m or 4h, at most 24d, not "1 hour"",
        "line 16: mention must be a list of user ids (U…, W…) and user group ids (S…), not "nobody"",
        "line 17: name must be a name that people will read, in one line of up to 60 characters, not "two\\nlines\\n"",
        "line 20: approve must be none, a list such as [U0BEN00001, S0ONCALL01], or any_of and all_of with such lists, not "S0ONCALL01"",
        "line 21: expires must be a duration such as 500ms, 5s, 15m or 4h, at most 24d, not "25d"",
        "line 22: name must be a name that people will read, in one line of up to 60 characters, not "long long long long long long long long "",
        "line 22: this rule can never match: rule 2 above covers all that it is for. Move it up, or remove it",
        "line 23: expires must be a duration such as 500ms, 5s, 15m or 4h, at most 24d, not 30",
        "line 24: approve.approvals must be a whole number from 1 to 10, not 11",
        "line 25: name must be a name that people will read, in one line of up to 60 characters, not 2024: put quotes around it",
        "line 25: this rule can never match: rule 2 above covers all that it is for. Move it up, or remove it",
        "line 26: approve must be none, a list such as [U0BEN00001, S0ONCALL01], or any_of and all_of with such lists, not 1",
        "line 27: this rule must be keys with values (name, approve and so on), not "production"",
      ]
    `)
  })

  it('invisible characters, letters of several scripts in a word, and ids that are not ASCII', () => {
    const text = `rules:
  - name: Pаyments
    changes: [ip.move\u2060]
    projects: ["proj_alpha\u200b", "\u202eproj_beta", {name: "Web\u00a0shop"}, proj_älpha, {name: Рayments}]
    channels: ["\ufeffC0OPS00001"]
    approve: [S0ONCALL01, "U0BEN00001\u180e"]
    "expires\u200d": 1h
  - name: 決済webサーバー, Größe, Пётр-web, n\u0303andu\u0301
    approve: [U0BEN00001]
alerts:
  - name: node down
    match: { "alert\u00adname": "Node\u2800Down", env: рrod }
    server: instance
    to: { ASH: sv_1х, FRA: "stand\u200bby" }
    channel: C0OPS00001
`

    expect(errorsOf(text)).toMatchInlineSnapshot(`
      [
        "line 2: name mixes Latin and Cyrillic letters in one word, in "Pаyments": type it again",
        "line 3: changes has the invisible character U+2060, in "ip.move": type it again",
        "line 4: projects has the invisible character U+200B, in "proj_alpha": type it again",
        "line 4: projects has the invisible character U+202E, in "proj_beta": type it again",
        "line 4: projects.name has the invisible character U+00A0, in "Web shop": type it again",
        "line 4: projects.name mixes Cyrillic and Latin letters in one word, in "Рayments": type it again",
        "line 4: projects must be project ids (proj_…) and names such as {name: Storefront}, each in one line of up to 100 characters, not "proj_älpha": an id has only ASCII characters. Copy it again",
        "line 5: channels has the invisible character U+FEFF, in "C0OPS00001": type it again",
        "line 6: approve has the invisible character U+180E, in "U0BEN00001": type it again",
        "line 7: a key has the invisible character U+200D, in "expires": type it again",
        "line 12: a key has the invisible character U+00AD, in "alertname": type it again",
        "line 12: match has the invisible character U+2800, in "NodeDown": type it again",
        "line 12: match mixes Cyrillic and Latin letters in one word, in "рrod": type it again",
        "line 14: to has the invisible character U+200B, in "standby": type it again",
        "line 14: to has an id with other characters than ASCII: copy the id of the server again",
      ]
    `)
  })

  it('missing, empty and repeated values', () => {
    const text = `rules:
  - name:
    changes: []
    projects: []
    channels: []
    request: []
    approve: []
  - changes: [ip.move, ip.move]
    expires: 30m
    mention: [S0ONCALL01]
  - name: keys
    approve:
      any_of: []
      all_of:
  - name: keys
    approve: { approvals: 0 }
    mention:
  - name: keys again
    approve: [S0ONCALL01, S0ONCALL01, ~]
  -
`

    expect(errorsOf(text)).toMatchInlineSnapshot(`
      [
        "line 2: name is empty: it must be a name that people will read, in one line of up to 60 characters",
        "line 3: changes must have at least one item: name a kind of change, or remove it for every kind",
        "line 4: projects must have at least one item: name a project, or remove it for every project",
        "line 5: channels must have at least one item: name a channel, or remove it for every channel",
        "line 6: request must have at least one item: name who may request, or write everyone",
        "line 7: approve must have at least one item: name who may approve, or write none",
        "line 8: name is missing: it must be a name that people will read, in one line of up to 60 characters",
        "line 8: changes has "ip.move" twice: keep one",
        "line 8: approve is missing: it must be none, a list such as [U0BEN00001, S0ONCALL01], or any_of and all_of with such lists",
        "line 13: approve.any_of must have at least one item: name someone, or remove any_of",
        "line 14: approve.all_of is empty: it must be a list of user ids (U…, W…) and user group ids (S…)",
        "line 15: name must be unique, and a rule above is called "keys": choose another",
        "line 15: this rule can never match: "keys" above covers all that it is for. Move it up, or remove it",
        "line 16: approve.any_of is missing: name who may approve, here or in all_of or in both",
        "line 16: approve.approvals must be a whole number from 1 to 10, not 0",
        "line 17: mention is empty: it must be a list of user ids (U…, W…) and user group ids (S…)",
        "line 18: this rule can never match: "keys" above covers all that it is for. Move it up, or remove it",
        "line 19: approve has "S0ONCALL01" twice: keep one",
        "line 19: approve has an empty item: fill it in, or remove it",
        "line 20: this rule is empty: it must be keys with values (name, approve and so on)",
      ]
    `)
  })

  it('unknown keys, with the key that was probably meant', () => {
    const text = `version: 1
rule: []
rules:
  - name: a
    change: ip.move
    aprovers: [S0ONCALL01]
    selfApproval: never
    colour: red
  - name: b
    approve:
      anyOf: [S0ONCALL01]
      quorum: 2
    <<: { expires: 30m }
    __proto__: { expires: 30m }
    constructor: 1
`

    expect(errorsOf(text)).toMatchInlineSnapshot(`
      [
        "line 1: "version" is not a known key: remove it. Known keys: rules, alerts",
        "line 2: "rule" is not a known key: did you mean rules?",
        "line 5: "change" is not a known key: did you mean changes?",
        "line 6: "aprovers" is not a known key: did you mean approve?",
        "line 7: "selfApproval" is not a known key: did you mean self_approval?",
        "line 8: "colour" is not a known key: remove it. Known keys: name, changes, projects, channels, request, approve, self_approval, reason, confirm, expires, mention",
        "line 11: "anyOf" is not a known key: did you mean any_of?",
        "line 12: "quorum" is not a known key: remove it. Known keys: any_of, all_of, approvals",
        "line 13: "<<" is not a known key: remove it. Known keys: name, changes, projects, channels, request, approve, self_approval, reason, confirm, expires, mention",
        "line 14: "__proto__" is not a known key: remove it. Known keys: name, changes, projects, channels, request, approve, self_approval, reason, confirm, expires, mention",
        "line 15: "constructor" is not a known key: remove it. Known keys: name, changes, projects, channels, request, approve, self_approval, reason, confirm, expires, mention",
      ]
    `)
  })

  it('approvals that cannot be given', () => {
    const text = `rules:
  - name: a
    changes: ip.move
    approve: none
    self_approval: break-glass
  - name: b
    changes: vm.rename
    approve:
      any_of: [U0BEN00001, U0CHI00001]
      all_of: [U0CHI00001]
      approvals: 3
  - name: c
    changes: key.create
    approve: { all_of: [U0BEN00001, W0CHI00001], approvals: 4 }
    expires: soon
  - name: d
    changes: key.rotate
    approve: none
    confirm: true
  - name: e
    changes: key.revoke
    approve: [U0BEN00001]
    confirm: yes
`

    expect(errorsOf(text)).toMatchInlineSnapshot(`
      [
        "line 5: self_approval must not be break-glass where approve is none: remove it, or name who approves",
        "line 11: approve.approvals must be at most 2, because any_of and all_of name no more people: name more, or require fewer approvals",
        "line 14: approve.approvals must be at most 2, because any_of and all_of name no more people: name more, or require fewer approvals",
        "line 15: expires must be a duration such as 500ms, 5s, 15m or 4h, at most 24d, not "soon"",
        "line 19: confirm must not be true where approve is none: remove it, or name who approves",
        "line 23: confirm must be true or false, not "yes"",
      ]
    `)
  })

  it('rules that can never match, with the rules above that cover them', () => {
    const text = `rules:
  - { name: addresses, changes: ip.move, approve: none }
  - { name: names in ops, changes: vm.rename, channels: [C0OPS00001], approve: none }
  - { name: names of shop, changes: vm.rename, projects: [proj_1oNqx62cx6bn0], approve: none }
  - { name: both in ops, changes: [ip.move, vm.rename], channels: [C0OPS00001], approve: none }
  - { name: shop in ops, changes: vm.rename, channels: [C0OPS00001], projects: [proj_1oNqx62cx6bn0, proj_2RBis9AK23gEc], approve: none }
  - { name: shop, changes: vm.rename, projects: [proj_1oNqx62cx6bn0], approve: nonsense }
  - { name: everything, approve: none }
  - { name: keys, changes: [key.create, key.rotate], approve: [S0ONCALL01] }
`

    expect(errorsOf(text)).toMatchInlineSnapshot(`
      [
        "line 5: this rule can never match: "addresses" and "names in ops" above cover all that it is for. Move it up, or remove it",
        "line 6: this rule can never match: "names in ops" above covers all that it is for. Move it up, or remove it",
        "line 7: approve must be none, a list such as [U0BEN00001, S0ONCALL01], or any_of and all_of with such lists, not "nonsense"",
        "line 7: this rule can never match: "names of shop" above covers all that it is for. Move it up, or remove it",
        "line 9: this rule can never match: "everything" above covers all that it is for. Move it up, or remove it",
      ]
    `)
  })

  it('files without rules', () => {
    const texts = [
      '',
      '# nothing yet\n',
      '---\n',
      'rules\n',
      '- name: a\n',
      'rules:\n',
      'rules: []\n',
      '\n\nrules: { name: a }\n',
      'policy: 1\n',
      '42',
    ]

    expect(texts.map((text) => `${JSON.stringify(text)}: ${errorsOf(text).join(' | ')}`)).toMatchInlineSnapshot(`
      [
        """: line 1: the file is empty: it must be "rules:" with a list of rules below it",
        ""# nothing yet\\n": line 1: the file is empty: it must be "rules:" with a list of rules below it",
        ""---\\n": line 1: the file is empty: it must be "rules:" with a list of rules below it",
        ""rules\\n": line 1: the file must be "rules:" with a list of rules below it, not "rules"",
        ""- name: a\\n": line 1: the file must be "rules:" with a list of rules below it, not a list",
        ""rules:\\n": line 1: rules is empty: it must be a list of rules, each beginning with "- name:"",
        ""rules: []\\n": line 1: rules must have at least one rule: without one, nothing can be requested",
        ""\\n\\nrules: { name: a }\\n": line 3: rules must be a list of rules, each beginning with "- name:", not keys with values",
        ""policy: 1\\n": line 1: rules is missing: it must be a list of rules, each beginning with "- name:" | line 1: "policy" is not a known key: remove it. Known keys: rules, alerts",
        ""42": line 1: the file must be "rules:" with a list of rules below it, not 42",
      ]
    `)
  })

  it('invalid YAML', () => {
    const texts = [
      'rules:\n  - name: production: addresses\n    approve: none\n',
      'rules:\n  - name: a\n    approve: @oncall\n',
      'rules:\n  - name: a\n    approve: [S0ONCALL01\n  - name: b\n',
      'rules:\n  - name: a\n   approve: none\n',
      'rules:\n\t- name: a\n',
      'rules:\n  - name: "a\n    approve: none\n',
      'rules:\n  - name: "\\q"\n',
      'rules:\n  - name: a\n    approve: *oncall\n  - name: b\n    approve: *oncall\n',
      'rules:\n  - name: !secret a\n    approve: none\n',
      'rules:\n  - name: a\n    approve: none\n---\nrules: []\n',
      '%LOCKKEEPER 1\n---\nrules: []\n',
      'rules:\n  - ? [a]\n    : b\n',
      'rules:\n  - name: a\n    expires: 1h\n    expires: 2h\n',
      'rules:\n  - name: a\n    approve: none\n}\n',
    ]

    expect(texts.map((text) => `${JSON.stringify(text)}: ${errorsOf(text).join(' | ')}`)).toMatchInlineSnapshot(`
      [
        ""rules:\\n  - name: production: addresses\\n    approve: none\\n": line 2: not valid YAML: Nested mappings are not allowed in compact mappings",
        ""rules:\\n  - name: a\\n    approve: @oncall\\n": line 3: not valid YAML: Plain value cannot start with reserved character @",
        ""rules:\\n  - name: a\\n    approve: [S0ONCALL01\\n  - name: b\\n": line 4: not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
        ""rules:\\n  - name: a\\n   approve: none\\n": line 3: not valid YAML: Sequence item without - indicator",
        ""rules:\\n\\t- name: a\\n": line 2: not valid YAML: Tabs are not allowed as indentation",
        ""rules:\\n  - name: \\"a\\n    approve: none\\n": line 4: not valid YAML: Missing closing "quote",
        ""rules:\\n  - name: \\"\\\\q\\"\\n": line 2: not valid YAML: Invalid escape sequence \\q",
        ""rules:\\n  - name: a\\n    approve: *oncall\\n  - name: b\\n    approve: *oncall\\n": line 1: not valid YAML: Unresolved alias (the anchor must be set before the alias): oncall",
        ""rules:\\n  - name: !secret a\\n    approve: none\\n": line 2: not valid YAML: Unresolved tag: !secret",
        ""rules:\\n  - name: a\\n    approve: none\\n---\\nrules: []\\n": line 4: not valid YAML: Source contains multiple documents; please use YAML.parseAllDocuments()",
        ""%LOCKKEEPER 1\\n---\\nrules: []\\n": line 1: not valid YAML: Unknown directive %LOCKKEEPER",
        ""rules:\\n  - ? [a]\\n    : b\\n": line 2: not valid YAML: With stringKeys, all keys must be strings",
        ""rules:\\n  - name: a\\n    expires: 1h\\n    expires: 2h\\n": line 4: not valid YAML: Map keys must be unique",
        ""rules:\\n  - name: a\\n    approve: none\\n}\\n": line 4: not valid YAML: Unexpected flow-map-end token in YAML stream: "}"",
      ]
    `)
  })

  it('an error in an aliased value, where it is written and where it is used', () => {
    const text = 'rules:\n  - name: a\n    changes: ip.move\n    approve: &who\n      any_of: [ben]\n  - name: b\n    approve: *who\n'

    expect(errorsOf(text)).toEqual(
      [5, 7].map((line) => `line ${line}: approve.any_of must be user ids (U…, W…) and user group ids (S…), not "ben"`),
    )
  })

  it('the name of the file in each line', () => {
    expect(readPolicy('rules: 1', '/etc/lockkeeper/policy.yml', { kinds: changeKinds, bundles, expiresMs: 1 })).toEqual({
      lines: ['POLICY_FILE /etc/lockkeeper/policy.yml, line 1: rules must be a list of rules, each beginning with "- name:", not 1'],
    })
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
    expect(errors[0]).toMatch(/Excessive alias count|must be keys with values|nested too deeply|rules is empty|larger than 64 kB/)
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
  ]

  it.each(tokens)('does not show the token %s in an error', (token) => {
    const errors = places.map((place) => errorsOf(place(token)))

    expect(errors.every((lines) => lines.length > 0)).toBe(true)
    expect(errors.flat().join('\n')).not.toContain('botbotbot')
  })
})

describe('any text', () => {
  const word = fc.constantFrom(
    'rules',
    'name',
    'approve',
    'any_of',
    'none',
    'ip.move',
    'S0ONCALL01',
    'U0BEN00001',
    '2',
    '__proto__',
    '~',
    '"',
  )
  const mark = fc.constantFrom(
    ': ',
    '\n',
    '\n  ',
    '\n    ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    '&a ',
    '*a',
    '? ',
    '| ',
    '> ',
    '!t ',
    '---\n',
    '# ',
    '\t',
    '%',
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

describe('a policy', () => {
  const id = (...letters: string[]) =>
    fc.tuple(fc.constantFrom(...letters), fc.stringMatching(/^[A-Z0-9]{2,10}$/)).map((parts) => parts.join(''))
  const ids = (minLength: number) => fc.uniqueArray(id('U', 'W', 'S'), { minLength, maxLength: 5 })
  const names = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
    .map((text) => text.trim())
    .filter((text) => /^[^\p{Cc}\p{Zl}\p{Zp}\ufffd]{1,60}$/u.test(text) && !misleadingPart(text))
  const written = fc.record(
    {
      changes: fc.oneof(fc.uniqueArray(fc.constantFrom(...singleKinds), { minLength: 1 }), fc.constantFrom(...singleKinds)),
      projects: fc.uniqueArray(fc.oneof(names, fc.stringMatching(/^proj_[!-~]{1,8}$/), fc.record({ name: names })), {
        minLength: 1,
        maxLength: 3,
        selector: (entry) => (typeof entry === 'string' ? entry : entry.name),
      }),
      request: fc.oneof(ids(1), fc.constant('everyone')),
      approve: fc.oneof(
        ids(1),
        fc.record({ any_of: ids(1).map((list) => [...list, 'S0ONCALL01']), all_of: ids(1), approvals: fc.integer({ min: 1, max: 10 }) }),
      ),
      self_approval: fc.constantFrom('never', 'break-glass'),
      confirm: fc.boolean(),
      expires: fc.integer({ min: 1, max: 24 }).map((days) => `${days}d`),
      mention: ids(0),
    },
    { requiredKeys: ['approve'] },
  )

  // Each rule has its own channel, so that no rule covers one below it.
  const rules = fc
    .array(written, { minLength: 1, maxLength: 5 })
    .chain((list) =>
      fc
        .uniqueArray(names, { minLength: list.length, maxLength: list.length })
        .map((given) => list.map((rule, index) => ({ name: given[index] ?? '', channels: [`C0OPS0000${index}`], ...rule }))),
    )

  it('is the same after it is written to a file and read again', () => {
    fc.assert(
      fc.property(rules, (list) => {
        const policy = policyOf(stringify({ rules: list }))

        expect(policy.rules.map(({ name }) => name)).toEqual(list.map(({ name }) => name))
        expect(policyOf(stringify({ rules: policy.rules.map(toFile) }))).toEqual(policy)
      }),
      { numRuns: 50 },
    )
  })
})

const namesOf = (group: { users: string[]; userGroups: string[] }) => [...group.users, ...group.userGroups]

/** Converts a rule to the form of the policy file. */
function toFile(rule: PolicyRule) {
  const { approve } = rule
  const terms = approve && {
    ...(namesOf(approve.anyOf).length > 0 && { any_of: namesOf(approve.anyOf) }),
    ...(approve.allOf.length > 0 && { all_of: approve.allOf }),
    approvals: approve.approvals,
  }
  return {
    name: rule.name,
    changes: rule.changes,
    ...(rule.projects && { projects: [...rule.projects.ids, ...rule.projects.names.map((name) => ({ name }))] }),
    ...(rule.channels && { channels: rule.channels }),
    request: rule.request ? namesOf(rule.request) : 'everyone',
    approve: terms ?? 'none',
    self_approval: rule.breakGlass ? 'break-glass' : 'never',
    confirm: rule.confirm,
    expires: `${rule.expiresMs / 1_000}s`,
    ...(rule.mention && { mention: namesOf(rule.mention) }),
  }
}

describe('docs/policy.example.yml', () => {
  const example = readPolicy(readFileSync(join(import.meta.dirname, '../../..', 'docs', 'policy.example.yml'), 'utf8'), 'example', {
    ...evacuationKinds,
    expiresMs: fourHours,
  })
  const policy = 'policy' in example ? example.policy : { rules: [] }
  const production = { id: 'proj_1oNqx62cx6bn0', name: 'production' }
  const nameFor = (change: Parameters<typeof firstMatchingRule>[1]) => {
    const found = firstMatchingRule(policy, change)
    return found.is === 'none' ? undefined : found.rule.name
  }

  it('is a valid policy without warnings', () => {
    expect(example).toMatchObject({ warnings: [] })
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
