import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { approveHeld, forgetLists, ops, patchesOf, people, untilCard } from '../../journeys/world.ts'
import { elasticIps, servers, virtualMachines } from '../../sandbox/account-api/data.ts'
import { connect, startMachineWorld, textOf } from './machines-world.ts'

/** Each kind of change that a machine can request: how it is called, and in which order people type what the API names. */
const kinds = {
  'ip.move': { tool: 'propose_move', command: 'ip move', names: ['elastic_ip', 'server'] },
  'ip.evacuate': { tool: 'propose_evacuation', command: 'evacuate', names: ['server', 'target'] },
  'vm.rename': { tool: 'propose_rename', command: 'vm rename', names: ['virtual_machine', 'name'] },
} as const
type Kind = keyof typeof kinds

const policy = `
machines: [{name: ci, token: CI_TOKEN, channel: ${ops}}]
rules:
  - {name: front, projects: [{name: Storefront}], request: ["machine:ci", everyone], approve: [S0ONCALL01]}
  - {name: data, projects: [{name: Data platform}], request: [${people.chiara}], approve: [S0ONCALL01]}
  - {name: tools, projects: [{name: Internal tools}], request: ["machine:ci", everyone], approve: [${people.dov}]}
`

/** The rule for Data platform does not name the machine. */
const otherPolicy = `
machines: [{name: ci, token: CI_TOKEN, channel: ${ops}}]
rules:
  - {name: front, projects: [{name: Storefront}], request: ["machine:ci", everyone], approve: [S0ONCALL01], reason: {pattern: 'OPS-\\d+'}}
  - {name: data, projects: [{name: Data platform}], request: everyone, approve: none}
`

/**
 * Lines of a table: what is refused, what is typed for each kind (`-` where this cannot be refused), and which of the two names is of a project
 * that no rule of the machine covers: for a machine there is no such thing.
 */
function readTable(table: string) {
  const lines = table.trim().split('\n').slice(2)
  return lines.map((line) => {
    const [what = '', move = '', evacuation = '', rename = '', start = '', unseen = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim())
    const typed = Object.entries({ 'ip.move': move, 'ip.evacuate': evacuation, 'vm.rename': rename }) as [Kind, string][]
    return {
      what,
      typed: typed.filter(([, words]) => words !== '-'),
      start: start || undefined,
      unseen: unseen === '' ? undefined : Number(unseen),
    }
  })
}

const usual = { 'ip.move': ['203.0.113.10', 'web-2'], 'ip.evacuate': ['web-1', 'web-2'], 'vm.rename': ['preview-1', 'preview-9'] } as const

const argumentsOf = (kind: Kind, [first = '', second = '']: readonly string[]) => ({
  [kinds[kind].names[0]]: first,
  [kinds[kind].names[1]]: second,
})

const [address, server, machine] = [
  elasticIps.find((each) => each.address === '203.0.113.80')?.id,
  servers.find(({ hostname }) => hostname === 'kafka-1')?.id,
  virtualMachines.find(({ name }) => name === 'airflow-1')?.id,
]

const refusals = `
| what is refused                            | ip move                           | evacuate             | vm rename           | start | unseen |
|--------------------------------------------|-----------------------------------|----------------------|---------------------|-------|--------|
| an unknown name                            | 203.0.113.250 web-2               | web-9 web-2          | preview-9 x         |       |        |
| an unknown second name                     | 203.0.113.10 web-9                | web-1 web-9          | -                   |       |        |
| an unknown id                              | eip_0000000000000 sv_000000000000 | sv_0000000000000 web-2 | vm_0000000000000 x |      | 0      |
| a name that several have                   | -                                 | bastion-1 web-2      | -                   |       |        |
| a name that several have, and none fits    | 203.0.113.80 bastion-1            | -                    | -                   |       | 0      |
| another site                               | 203.0.113.10 edge-fra-1           | web-1 edge-fra-1     | -                   |       |        |
| another project                            | 203.0.113.10 kafka-1              | web-1 kafka-1        | -                   |       | 1      |
| another project, by its id                 | 203.0.113.10 ${server}            | web-1 ${server}      | -                   |       | 1      |
| what is so already                         | 203.0.113.10 web-1                | web-1 web-1          | preview-1 preview-1 |       |        |
| what cannot be changed                     | 203.0.113.70 web-1                | web-2 web-1          | preview-1 a_b       |       |        |
| an address that is not active              | 203.0.113.102 runner-2            | runner-1 gitlab-1    | -                   |       |        |
| what the rule lets others request          | 203.0.113.80 kafka-2              | kafka-1 kafka-2      | airflow-1 airflow-2 |       | 0      |
| what the rule lets others request, by its id | ${address} kafka-2              | ${server} kafka-2    | ${machine} airflow-2 |      | 0      |
| no approver left                           | 203.0.113.100 runner-1            | gitlab-1 runner-1    | grafana-1 grafana-2 |       |        |
| what another request holds                 | 203.0.113.11 web-2                | edge-ash-1 web-1     | preview-2 preview-4 |       |        |
| a start that is past                       | 203.0.113.10 web-2                | web-1 web-2          | preview-1 preview-9 | at 2020-01-01 06:00 | |
| a start too far ahead                      | 203.0.113.10 web-2                | web-1 web-2          | preview-1 preview-9 | in 900h |      |
| a token                                    | 203.0.113.10 ${'a'.repeat(36)}    | web-1 ${'b'.repeat(36)} | preview-1 ${'c'.repeat(36)} | |       |
`

const otherRefusals = `
| what is refused                        | ip move                | evacuate          | vm rename           | start | unseen |
|----------------------------------------|------------------------|-------------------|---------------------|-------|--------|
| no reason, where the rule requires one | 203.0.113.10 web-2     | web-1 web-2       | preview-1 preview-9 |       |        |
| what no rule covers                    | 203.0.113.100 runner-1 | gitlab-1 runner-1 | grafana-1 grafana-2 |       | 0      |
`

const away = `
| what is refused          | ip move            | evacuate    | vm rename           | start | unseen |
|--------------------------|--------------------|-------------|---------------------|-------|--------|
| no answer of the account | 203.0.113.10 web-2 | web-1 web-2 | preview-1 preview-9 |       |        |
`

/** What is another sentence on purpose: the API has lists and ids where Slack has suggestions, buttons and a form. */
const inApi: [RegExp, (...found: string[]) => string][] = [
  [/^No (.*?)\. (?:Did you mean|See \/infra) .*$/, (_, what = '') => `Not requested: no ${what}. List what there is, and use an id.`],
  [/ Which one should .*$/s, (question) => ` Use the id: ${question.match(/\b(sv|vm)_\w{13}/g)?.join(', ')}.`],
  [/\nYou typed: .*$/, () => ''],
  [/^T(he rule .*) Nothing was requested yet\.$/, (_, why = '') => `Not requested: t${why}`],
]

/** And a machine is no person, who could ask another one, or be counted among the approvers. */
const forMachine: [RegExp, (...found: string[]) => string][] = [[/ besides you(?=\.)/, () => '']]

const kindsOfThings: Record<Kind, [string, string]> = {
  'ip.move': ['Elastic IP', 'server'],
  'ip.evacuate': ['server', 'server'],
  'vm.rename': ['virtual machine', ''],
}
const unknownTo = (kind: Kind, typed: string[], which: number) =>
  `Not requested: no ${kindsOfThings[kind][which]} ${typed[which]}. List what there is, and use an id.`

const reworded = (text: string, pairs: typeof inApi) => pairs.reduce((words, [from, to]) => words.replace(from, to), text)

/** What the API says for these: Lockkeeper has read their names by then. */
const named: Record<string, string> = { [people.ben]: '@ben', [people.chiara]: '@chiara', [ops]: '#ops' }

/** What Slack shows, without markup. */
const plain = (text: string) =>
  text
    .replaceAll(/<[@#]([A-Z0-9]+)>/g, (_, id) => named[id] ?? id)
    .replaceAll(/<https:[^|>]*\|([^>]*)>/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replace(/^:[a-z_]+: /, '')

async function open(yaml: string, env: Record<string, string> = {}) {
  const world = await startMachineWorld({ env }, yaml)
  // The times of machines are in UTC, and those of people in their zone.
  Object.assign(world.slack.workspace, { zone: 'UTC' })
  const client = await connect(world)

  /** Ada types it. Resolves with the sentence that she sees, above a form or by itself. */
  async function type(text: string): Promise<string> {
    const before = world.slack.ephemerals(people.ada).length
    await world.ada.command(`/infra ${text}`, { channel: ops })
    const shown = () => world.ada.openViews()[0]?.view.blocks as { text?: { text: string } }[] | undefined
    const said = () => world.slack.ephemerals(people.ada)[before]?.text ?? shown()?.[0]?.text?.text
    const sentence = plain(await world.slack.until(said, { what: `the answer to ${text}` }))
    if (shown()) await world.ada.close()
    return sentence
  }

  /** The same request over both ways in. Nobody's limit of calls counts. */
  async function ask(kind: Kind, names: string[], start?: string) {
    await world.records.redis.del(world.records.keys.machineCalls('machine:ci'))
    const name = kinds[kind].tool
    const args = { ...argumentsOf(kind, names), start }
    const key = [kind, ...names, start].join().replaceAll(' ', '-')
    const { status, json } = await world.call('POST /v1/requests', { body: { change: kind, ...args }, key })
    const mcp = await client.callTool({ name, arguments: args })
    return { status, http: json.detail, mcp: textOf(mcp) }
  }

  return { ...world, client, type, ask }
}

describe('what Slack refuses is refused in the same words over HTTP and over MCP', () => {
  test.each([
    ['by the check and the rights', policy, refusals],
    ['by the rule', otherPolicy, otherRefusals],
    ['without an answer', policy, away],
  ])('%s', async (about, yaml, table) => {
    const world = await open(yaml)
    const held = table === refusals ? ['ip move 203.0.113.11 web-1', 'evacuate edge-ash-1 web-2', 'vm rename preview-2 preview-3'] : []
    for (const each of held) {
      await world.ben.command(`/infra ${each}`, { channel: ops })
      await untilCard(world.slack, new RegExp(`${each.split(' ').at(-2)}[^]*needs approval`))
    }
    if (table === away) {
      await forgetLists(world)
      world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: 1_000 })
    }
    const sentences: string[] = []
    for (const { what, typed, start, unseen } of readTable(table))
      for (const [kind, words] of typed) {
        const names = words.split(' ')
        const said = await world.type([kinds[kind].command, words, start].join(' ').trim())
        const machine = unseen === undefined ? reworded(reworded(said, inApi), forMachine) : unknownTo(kind, names, unseen)

        const { status, ...answers } = await world.ask(kind, names, start)

        sentences.push(`${what}, ${kinds[kind].command}:\n${said}\n`)
        expect([what, kind, answers]).toEqual([what, kind, { http: machine, mcp: machine }])
        expect(status).toBeGreaterThanOrEqual(403)
      }
    expect(await world.records.all()).toHaveLength(held.length)
    expect(patchesOf(world)).toEqual([])
    // Each tool that proposes something was tried.
    const { tools } = await world.client.listTools()
    const proposing = tools.map(({ name }) => name).filter((name) => name.startsWith('propose_'))
    expect(proposing).toEqual(Object.values(kinds).map(({ tool }) => tool))
    const inDays = /\w{3} \d+ \w{3}, \d\d:\d\d(?= \(UTC\)| is more)/g
    await expect(`What Slack refuses ${about}\n\n${sentences.join('\n').replaceAll(inDays, 'DATE')}`).toMatchFileSnapshot(
      `refusals.${about.replaceAll(' ', '-')}.txt`,
    )
  })
})

describe('a machine reads what holds its change, as people do on the message, before and after the approval:', () => {
  const inTwoDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'][(Temporal.Now.zonedDateTimeISO('UTC').dayOfWeek + 1) % 7]
  const windowed = policy
    .replace('rules:', `windows: {far: {days: [${inTwoDays}], from: "09:00", to: "17:00", zone: UTC}}\nrules:`)
    .replaceAll('approve:', 'window: far, approve:')

  test.each([
    ['a freeze', policy, true, /Held by a freeze until lifted/],
    ['a window', windowed, false, /(Starts|until) .*the window “far” opens/],
  ])('%s', async (_, yaml, isFrozen, words) => {
    const world = await open(yaml)
    if (isFrozen) {
      await world.ben.command('/infra freeze because the network is rebuilt', { channel: ops })
      await untilCard(world.slack, /\*Frozen\* by/)
    }
    const typed = { ...usual, 'ip.move': ['203.0.113.11', 'web-2'] }
    for (const kind of Object.keys(kinds) as Kind[]) {
      const { json } = await world.call('POST /v1/requests', { body: { change: kind, ...argumentsOf(kind, typed[kind]) }, key: kind })
      const card = await untilCard(world.slack, new RegExp(`${typed[kind][0]}[^]*ci \\(machine\\) needs approval`))
      expect([kind, json.message, card.text]).toEqual([kind, expect.stringMatching(words), expect.stringMatching(words)])
      await approveHeld(world, world.ben, card)
      const now = async () => (await world.call(`GET ${json.links.self}`)).json
      await expect.poll(now).toMatchObject({ state: 'approved', ended: false, message: expect.stringMatching(words) })
    }
    expect(patchesOf(world)).toEqual([])
  })
})
