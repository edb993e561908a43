import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readPolicy } from '../../../src/config/policy-file.ts'
import { evacuationKinds } from '../evacuation-kinds.ts'

const rules = `
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

const read = (text: string) => readPolicy(text, 'policy.yml', { ...evacuationKinds, expiresMs: 1 })

function errorsOf(alerts: string, above = rules): string[] {
  const result = read(above + alerts)
  return 'lines' in result ? result.lines.map((line) => line.replace('POLICY_FILE policy.yml, ', '')) : []
}

function alertsOf(alerts: string) {
  const result = read(rules + alerts)
  if ('lines' in result) throw new Error(result.lines.join('\n'))
  return result.policy.alerts
}

describe('the alerts of a policy file', () => {
  it('say which alerts lead to a request, for which server, to which target and where', () => {
    expect(alertsOf(entry)).toEqual([
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
    expect(alertsOf(entry.replace(/to: .*/, 'to: standby'))).toMatchObject([{ to: 'standby' }])
  })

  it('may be missing', () => {
    expect(alertsOf('')).toEqual([])
  })

  it('may have entries that overlap, as long as each can match', () => {
    const more = `
  - { name: other severities, match: { alertname: NodeDown }, server: instance, to: standby, channel: C0OPS00001 }
  - { name: other nodes, match: { alertname: DiskFull, severity: critical }, server: instance, to: standby, channel: C0OPS00001 }
`
    expect(errorsOf(entry + more.trimStart().replace(/^/, '  '))).toEqual([])
  })

  it('keep labels exactly as they are written', () => {
    const alerts = alertsOf(entry.replace(/match: .*/, 'match: { " a b": "  c ", __proto__: d }'))

    expect([...(alerts?.[0]?.match ?? [])]).toEqual([
      [' a b', '  c '],
      ['__proto__', 'd'],
    ])
  })
})

describe('alerts in an invalid policy file give one line for each error:', () => {
  it('invalid and missing values', () => {
    expect(
      errorsOf(`alerts:
  - name: |
      two
      lines
    match: { alertname: 2024, severity: "", node: [a], team: ~ }
    server: [instance]
    to: [standby]
    channel: "#ops"
  - name:
    match: {}
    server:
    to: {}
    channel: C0OPS00001
  - match: NodeDown
    to: { ASH: 7, ash: standby, FRA: "" }
    channel: [C0OPS00001]
  - node down
  -
`),
    ).toMatchInlineSnapshot(`
      [
        "line 9: name must be a name that people will read, in one line of up to 60 characters, not "two\\nlines\\n"",
        "line 12: match must be labels with their values, such as {alertname: NodeDown}, each in one line of up to 1000 characters. Check "alertname": put quotes around it",
        "line 12: match must be labels with their values, such as {alertname: NodeDown}, each in one line of up to 1000 characters. Check "severity"",
        "line 12: match must be labels with their values, such as {alertname: NodeDown}, each in one line of up to 1000 characters. Check "node"",
        "line 12: match must be labels with their values, such as {alertname: NodeDown}, each in one line of up to 1000 characters. Check "team"",
        "line 13: server must be the name of the label that names the server, in one line of up to 200 characters, not a list",
        "line 14: to must be a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}, not a list",
        "line 15: channel must be a channel id (C…, G…), not "#ops"",
        "line 16: name is empty: it must be a name that people will read, in one line of up to 60 characters",
        "line 17: match is empty: it must be labels with their values, such as {alertname: NodeDown}",
        "line 18: server is empty: it must be the name of the label that names the server, in one line of up to 200 characters",
        "line 19: to is empty: it must be a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}",
        "line 21: name is missing: it must be a name that people will read, in one line of up to 60 characters",
        "line 21: match must be labels with their values, such as {alertname: NodeDown}, not "NodeDown"",
        "line 21: server is missing: it must be the name of the label that names the server, in one line of up to 200 characters",
        "line 22: to must be a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}, each in one line of up to 253 characters. Check "ASH": put quotes around it",
        "line 22: to must be a hostname or id, or one for each site by its slug, such as {ASH: standby-ash}, each in one line of up to 253 characters. Check "FRA"",
        "line 23: channel must be a channel id (C…, G…), not a list",
        "line 24: this entry must be keys with values (name, match and so on), not "node down"",
        "line 25: this entry is empty: it must be keys with values (name, match and so on)",
      ]
    `)
  })

  it('unknown keys', () => {
    expect(
      errorsOf(`alert: []
alerts:
  - name: a
    matches: { alertname: NodeDown }
    server: instance
    target: standby
    to: { ASH: standby-ash, ash: standby-ash }
    channel: C0OPS00001
`),
    ).toMatchInlineSnapshot(`
      [
        "line 8: "alert" is not a known key: did you mean alerts?",
        "line 11: "matches" is not a known key: did you mean match?",
        "line 13: "target" is not a known key: remove it. Known keys: name, match, server, to, channel",
        "line 14: to has a site twice, which differs in case only: keep one",
      ]
    `)
  })

  it.each([
    ['a map', 'alerts: { name: a }\n'],
    ['an empty list', 'alerts: []\n'],
    ['nothing', 'alerts:\n'],
  ])('%s in place of entries', (_, alerts) => {
    expect(errorsOf(alerts)).toEqual([expect.stringMatching(/^line 8: alerts (must|is)/)])
  })

  it('entries that can never match, or have the name of another', () => {
    expect(
      errorsOf(`${entry}
  - name: node down
    match: { severity: critical, alertname: NodeDown }
    server: host
    to: standby
    channel: C0OPS00001
  - name: a region
    match: { alertname: NodeDown, region: eu, severity: critical }
    server: instance
    to: standby
    channel: C0OPS00001
`),
    ).toMatchInlineSnapshot(`
      [
        "line 16: name must be unique, and an entry above is called "node down": choose another",
        "line 16: this entry can never match: "node down" above matches every alert that it is for. Move it up, or remove it",
        "line 21: this entry can never match: "node down" above matches every alert that it is for. Move it up, or remove it",
      ]
    `)
  })

  it('a channel in which no rule lets alerts request an evacuation', () => {
    const elsewhere = entry.replace('channel: C0OPS00001', 'channel: C0GENERAL1')
    const ofMoves = 'rules:\n  - { name: moves, changes: ip.move, request: [alerts], approve: [S0ONCALL01] }\n'

    expect(errorsOf(elsewhere)).toMatchInlineSnapshot(`
      [
        "line 14: channel must be one where a rule lets alerts request ip.evacuate: add alerts to its request",
      ]
    `)
    expect(errorsOf(entry, rules.replace('alerts, ', ''))).toHaveLength(1)
    expect(errorsOf(elsewhere, ofMoves)).toEqual([])
  })

  it('no token that was entered in the wrong place', () => {
    const token = 'xoxb-203-113-botbotbot'
    const errors = errorsOf(`alerts:
  - name: ${token}
    match: { "${token}": 1 }
    server: ["${token}"]
    to: { "${token}": 1 }
    channel: ${token}
    "${token}": 1
  - { name: ${token}, match: { a: b }, server: a, to: b, channel: C0OPS00001 }
  - { name: ${token}, match: { a: b }, server: a, to: b, channel: C0OPS00001 }
`)

    expect(errors.length).toBeGreaterThan(3)
    expect(errors.join('\n')).not.toContain('botbotbot')
  })
})

describe('any alerts', () => {
  const anyEntry = fc.record(
    {
      name: fc.oneof(fc.string(), fc.constant('a')),
      match: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.jsonValue()),
      server: fc.oneof(fc.constant('instance'), fc.jsonValue()),
      to: fc.oneof(fc.string(), fc.dictionary(fc.constantFrom('ASH', 'ash', '__proto__', ' '), fc.oneof(fc.string(), fc.integer()))),
      channel: fc.constantFrom<unknown>('C0OPS00001', 'C0GENERAL1', 7),
    },
    { requiredKeys: [] },
  )

  it('give a policy or error lines without line breaks, and never throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.array(anyEntry, { maxLength: 4 })), (alerts) => {
        const errors = errorsOf(stringify({ alerts }))

        for (const error of errors) expect(error).toMatch(/^line \d+: [^\n\r]{10,}$/)
      }),
      { numRuns: 150 },
    )
  })
})
