import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { approveHeld, forgetLists, ops, patchesOf, people, untilCard } from '../../journeys/world.ts'
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

/** What is typed for each kind. Undefined where this cannot be refused. `says`: what the sentence in Slack has, so that it is the one that is meant. */
interface Refused extends Record<Kind, [first: string, second: string] | undefined> {
  start?: string
  says: RegExp
  /** Which of the two is of a project that no rule of the machine covers: for a machine there is no such thing. */
  unseen?: 0 | 1
}

const usual = {
  'ip.move': ['203.0.113.10', 'web-2'],
  'ip.evacuate': ['web-1', 'web-2'],
  'vm.rename': ['preview-1', 'preview-9'],
} satisfies Record<Kind, [string, string]>

const argumentsOf = (kind: Kind, [first, second]: [string, string]) => ({ [kinds[kind].names[0]]: first, [kinds[kind].names[1]]: second })

const refusals: Record<string, Refused> = {
  'an unknown name': {
    'ip.move': ['203.0.113.250', 'web-2'],
    'ip.evacuate': ['web-9', 'web-2'],
    'vm.rename': ['preview-9', 'x'],
    says: /^No (Elastic IP|server|virtual machine) .* Did you mean /,
  },
  'an unknown second name': {
    'ip.move': ['203.0.113.10', 'web-9'],
    'ip.evacuate': ['web-1', 'web-9'],
    'vm.rename': undefined,
    says: /^No server web-9\. Did you mean /,
  },
  'an unknown id': {
    'ip.move': ['eip_0000000000000', 'sv_0000000000000'],
    'ip.evacuate': ['sv_0000000000000', 'web-2'],
    'vm.rename': ['vm_0000000000000', 'x'],
    says: /^(?:No|Not requested: no) /,
    unseen: 0,
  },
  'a name that several have': {
    'ip.move': undefined,
    'ip.evacuate': ['bastion-1', 'web-2'],
    'vm.rename': undefined,
    says: /^2 servers are called /,
  },
  'a name that several have, of which none fits': {
    'ip.move': ['203.0.113.80', 'bastion-1'],
    'ip.evacuate': undefined,
    'vm.rename': undefined,
    says: /it can't leave its project/,
    unseen: 0,
  },
  'another site': {
    'ip.move': ['203.0.113.10', 'edge-fra-1'],
    'ip.evacuate': ['web-1', 'edge-fra-1'],
    'vm.rename': undefined,
    says: /it can't leave its site/,
  },
  'another project': {
    'ip.move': ['203.0.113.10', 'kafka-1'],
    'ip.evacuate': ['web-1', 'kafka-1'],
    'vm.rename': undefined,
    says: /it can't leave its project/,
    unseen: 1,
  },
  'what is so already': {
    'ip.move': ['203.0.113.10', 'web-1'],
    'ip.evacuate': ['web-1', 'web-1'],
    'vm.rename': ['preview-1', 'preview-1'],
    says: /already|itself/,
  },
  'what cannot be changed': {
    'ip.move': ['203.0.113.70', 'web-1'],
    'ip.evacuate': ['web-2', 'web-1'],
    'vm.rename': ['preview-1', 'a_b'],
    says: /BGP|a hostname has only/,
  },
  'an address that is not active': {
    'ip.move': ['203.0.113.102', 'runner-2'],
    'ip.evacuate': ['runner-1', 'gitlab-1'],
    'vm.rename': undefined,
    says: /has status error/,
  },
  'what the rule lets others request': {
    'ip.move': ['203.0.113.80', 'kafka-2'],
    'ip.evacuate': ['kafka-1', 'kafka-2'],
    'vm.rename': ['airflow-1', 'airflow-2'],
    says: /^Only @chiara can request this here/,
    unseen: 0,
  },
  'no approver left': {
    'ip.move': ['203.0.113.100', 'runner-1'],
    'ip.evacuate': ['gitlab-1', 'runner-1'],
    'vm.rename': ['grafana-1', 'grafana-2'],
    says: / needs 1 approver besides you\./,
  },
  'what another request holds': {
    'ip.move': ['203.0.113.11', 'web-2'],
    'ip.evacuate': ['edge-ash-1', 'web-1'],
    'vm.rename': ['preview-2', 'preview-4'],
    says: /^Not requested: @ben has an open request for .* in #ops: “.*” \(waiting for approval\)\.\nWait/,
  },
  'a start that is past': { ...usual, start: 'at 2020-01-01 06:00', says: /^Not requested: .* is past\./ },
  'a start too far ahead': { ...usual, start: 'in 900h', says: /^Not requested: .* is more than 14 days ahead\./ },
  'a token': {
    'ip.move': ['203.0.113.10', 'a'.repeat(36)],
    'ip.evacuate': ['web-1', 'b'.repeat(36)],
    'vm.rename': ['preview-1', 'c'.repeat(36)],
    says: /^Nothing was done, because what you typed looks like a token\./,
  },
}

const otherRefusals: Record<string, Refused> = {
  'no reason, where the rule requires one': { ...usual, says: /requires a reason/ },
  'what no rule covers': {
    'ip.move': ['203.0.113.100', 'runner-1'],
    'ip.evacuate': ['gitlab-1', 'runner-1'],
    'vm.rename': ['grafana-1', 'grafana-2'],
    says: /^No policy rule allows /,
    unseen: 0,
  },
}

const none: Record<string, Refused> = {
  'no answer of the account': { ...usual, says: /^Not requested: the account API returned an error \(503\)\./ },
}

/** What is another sentence on purpose: the API has lists and ids where Slack has suggestions, buttons and a form. */
const inApi: [RegExp, (...found: string[]) => string][] = [
  [/^No (.*?)\. (?:Did you mean|See \/infra) .*$/, (_, what = '') => `Not requested: no ${what}. List what there is, and use an id.`],
  [/ Which one should .*$/s, (question) => ` Use the id: ${question.match(/\b(sv|vm)_\w{13}/g)?.join(', ')}.`],
  [/^T(he rule .*) Nothing was requested yet\.$/, (_, why = '') => `Not requested: t${why}`],
]

/** And a machine is no person, who could ask another one, or be counted among the approvers. */
const forMachine: [RegExp, (...found: string[]) => string][] = [[/ besides you(?=\.)/, () => '']]

const kindsOfThings: Record<Kind, [string, string]> = {
  'ip.move': ['Elastic IP', 'server'],
  'ip.evacuate': ['server', 'server'],
  'vm.rename': ['virtual machine', ''],
}
const unknownTo = (kind: Kind, typed: [string, string], which: 0 | 1) =>
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
  async function ask(kind: Kind, [first, second]: [string, string], start?: string) {
    await world.records.redis.del(world.records.keys.machineCalls('machine:ci'))
    const name = kinds[kind].tool
    const args = { ...argumentsOf(kind, [first, second]), start }
    const key = [kind, first, second, start].join().replaceAll(' ', '-')
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
    ['without an answer', policy, none],
  ])('%s', async (_, yaml, all) => {
    const world = await open(yaml)
    if (all === refusals)
      for (const held of ['ip move 203.0.113.11 web-1', 'evacuate edge-ash-1 web-2', 'vm rename preview-2 preview-3']) {
        await world.ben.command(`/infra ${held}`, { channel: ops })
        await untilCard(world.slack, new RegExp(`${held.split(' ').at(-2)}[^]*needs approval`))
      }
    if (all === none) {
      await forgetLists(world)
      world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: 1_000 })
    }
    for (const [what, { start, says, unseen, ...typedFor }] of Object.entries(all))
      for (const [kind, typed] of Object.entries(typedFor) as [Kind, [string, string] | undefined][]) {
        if (!typed) continue
        const said = await world.type([kinds[kind].command, ...typed, start].join(' ').trim())
        const machine = unseen === undefined ? reworded(reworded(said, inApi), forMachine) : unknownTo(kind, typed, unseen)

        const { status, ...answers } = await world.ask(kind, typed, start)

        expect([what, said]).toEqual([what, expect.stringMatching(says)])
        expect([what, kind, answers]).toEqual([what, kind, { http: machine, mcp: machine }])
        expect(status).toBeGreaterThanOrEqual(403)
      }
    expect(await world.records.all()).toHaveLength(all === refusals ? 3 : 0)
    expect(patchesOf(world)).toEqual([])
    // Each tool that proposes something was tried.
    const { tools } = await world.client.listTools()
    const proposing = tools.map(({ name }) => name).filter((name) => name.startsWith('propose_'))
    expect(proposing).toEqual(Object.values(kinds).map(({ tool }) => tool))
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
    const typed = { ...usual, 'ip.move': ['203.0.113.11', 'web-2'] } satisfies typeof usual
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
