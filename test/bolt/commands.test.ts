import { expect, test } from 'vitest'
import { commandNamed, handlerFor, pageButtons } from '../../src/bolt/router.ts'
import type { Requester } from '../../src/domain/approval.ts'
import { ApiUnreachableError } from '../../src/domain/errors.ts'
import { toGroup } from '../../src/domain/policy.ts'
import { modal } from '../../src/slack/blocks.ts'
import { type Command, type CommandCall, findCommand, type Need } from '../../src/slack/commands.ts'
import { toUserMessage } from '../../src/slack/errors.ts'
import type { Click, SlashCommand } from '../../src/slack/interactions.ts'
import { pageActionIds } from '../../src/slack/listing.ts'
import { readMetadata } from '../../src/slack/payloads.ts'
import { code, mrkdwn } from '../../src/slack/text.ts'
import { parseWords } from '../../src/slack/typed-words.ts'
import type { Message } from '../../src/slack/web-api.ts'
import { fakeApp } from '../fake-app.ts'
import { judging, type People } from '../given/access.ts'
import { ruleFor } from '../given/request.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

function command(words: string, more: Partial<Command> = {}): Command {
  return { words, group: 'View', usage: '[word…]', summary: `Does ${words}`, examples: [], need: 'read', run: async () => {}, ...more }
}

const form = (metadata: string) => modal({ title: 'A form', blocks: [], metadata })

const commands = [
  command('ip move', {
    group: 'Change',
    usage: '[<elastic ip> <server>]',
    summary: 'Move an Elastic IP to another server',
    details: mrkdwn`The Elastic IP by address or id. ${code('to')} is fine.`,
    examples: ['203.0.113.10 web-2', '203.0.113.10'],
    need: 'ip.move',
    form,
    button: { text: 'Move IP', actionId: 'open-move', opens: 'Move an Elastic IP' },
  }),
  command('vm rename', { group: 'Change', usage: '<vm> <new name>', summary: 'Rename a virtual machine', need: 'vm.rename' }),
  command('ip list', { summary: 'Elastic IPs', examples: ['fra'] }),
  command('moves', { usage: '', summary: 'Moves in progress' }),
  command('plans', { summary: 'Virtual machine plans', examples: ['fra in-stock EUR'] }),
  command('pending', { usage: '', summary: 'Requests that need approval' }),
  command('keys', { group: 'Keys', summary: 'API keys', examples: ['terraform'] }),
  command('keys create', {
    group: 'Keys',
    synonyms: ['keys new'],
    usage: '[<name>]',
    summary: 'Request a new API key',
    need: 'key.create',
  }),
  command('whoami', { group: 'You', usage: '', summary: 'What you may request' }),
]
const everything: Need[] = ['read', 'ip.move', 'vm.rename', 'key.create']

const requester: Requester = {
  person: { userId: origin.userId, standing: 'member', teamIds: [String(origin.teamId)] },
  place: { channelId: origin.channelId, teamId: origin.teamId, standing: 'usual' },
  membership: new Map(),
}

interface Setup {
  routed?: Command[]
  /** The rights of the person. */
  allowed?: Need[]
  /** The kind of change that needs a reason. */
  strict?: Need
}

/** What typed commands and clicks do, in order, and what they show. */
function setUp({ routed = commands, allowed = everything, strict }: Setup = {}) {
  const done: unknown[] = []
  const shown: { how: 'ephemeral' | 'replace'; message: Message }[] = []
  const answer = {
    ephemeral: async (message: Message) => void shown.push({ how: 'ephemeral', message }),
    replace: async (message: Message) => void shown.push({ how: 'replace', message }),
    about: () => {},
  }
  const recorded = routed.map((one) => ({
    ...one,
    run: async (call: CommandCall) => {
      done.push({ ran: one.words, args: call.args })
      await one.run(call)
    },
  }))
  let isGate = false
  const people: Partial<People> = {
    // The gate alone reads the person again.
    person: async (_, { fresh = false } = {}) => {
      isGate = fresh
      return { ...requester.person, standing: allowed.includes('read') ? 'member' : 'guest' }
    },
    // Each kind has a group of requesters, which is named by it.
    members: async (ids) => {
      if (isGate) done.push(...ids.map((id) => ({ gate: id.slice(1) })))
      isGate = false
      return new Map(ids.map((id) => [id, new Set(allowed.includes(id.slice(1) as Need) ? [origin.userId] : [])]))
    },
  }
  const rules = everything.map((kind) => {
    const reason = kind === strict ? [{ rule: 'production' }] : []
    return ruleFor({ changes: [kind], request: toGroup([`S${kind}`]), reason })
  })
  const parts = { directory: { knownZone: () => undefined }, errors: { of: () => () => {} } }
  const app = fakeApp(judging({ rules }, people), { ...parts, catalog: { hasProject: () => true, labelOf: (kind) => kind } })

  /** Types a command, and opens its form as the listener does: first the form, then the check of the rights. */
  async function type(text: string, more: Partial<SlashCommand> = {}): Promise<void> {
    const typed: SlashCommand = { deliveryKey: 'd1', origin, answer: answer as never, responseUrl: undefined, triggerId: 't1', ...more }
    const handler = handlerFor(app, recorded, parseWords(text))
    if (typeof handler === 'function') return handler(typed)
    const view = await handler.form(typed)
    done.push({ opened: readMetadata(view.private_metadata ?? '') })
    await handler.allow(typed)
    await handler.fill?.(typed)
  }

  async function clickPage(actionId: string, value: unknown): Promise<void> {
    const click = { origin, answer, actionId, value: JSON.stringify(value) } as unknown as Click
    await pageButtons(app, recorded)[actionId]?.(click)
  }

  return { done, shown, type, clickPage }
}

const buttonsIn = ({ blocks }: Message) =>
  blocks.flatMap((block) => (block.type === 'actions' ? block.elements.flatMap((one) => ('text' in one ? [one.text?.text] : [])) : []))

/** Returns what a person reads who types this, with the buttons below it. */
async function read(text: string, allowed = everything): Promise<string> {
  const { type, shown } = setUp({ allowed })
  const refused = await type(text).then(() => undefined, toUserMessage)
  const words =
    refused ?? shown.map(({ message }) => [message.text, ...buttonsIn(message).map((label) => `[${label}]`)].join('\n\n')).join()
  return `### \`${text}\`\n\n${words.replaceAll('\n', '\n> ').replace(/^/, '> ')}\n`
}

test('what people read who ask for help or mistype a command is in commands.answers.md', async () => {
  const help = ['help', 'help ip move', 'help keys', 'help ip', 'help moves fra', 'help ip please', 'help me', 'help ip mvoe']
  const limited = ['help', 'help ip move']
  const mistyped = [
    'MVOES',
    'paln fra in-stock',
    'ip lst "edge fra" ""',
    'ip lst <@U0ADA00001|ada> <#C0OPS00001|ops>',
    'ip mvoe 203.0.113.11 web-2 because disk full',
    'ipmove',
    'rename web-1 web-2',
    'move',
    'move eip_1 web-2',
    'moev 203.0.113.10 web-1',
    'ip delete fra',
    'hlep',
    'hlep ip move',
    'vn',
    'IP',
    'keys creat',
    'keys NEW ci-deploy',
    'key list',
    'approve 3408167d',
    'weather',
    'how are you',
    '""',
    '👩‍👩‍👧',
    '<!channel>` a',
    `ip lst ${'x'.repeat(600)}`,
    'moves @Chiara "Conti Ops" <#C0OPS00001|ops>',
  ]
  const parts = [
    '# What people read who ask for help or mistype a command\n',
    ...(await Promise.all(help.map((text) => read(text)))),
    '## Without the right to move\n',
    ...(await Promise.all(limited.map((text) => read(text, ['read', 'vm.rename'])))),
    '## Without any right\n',
    await read('help', []),
    '## Mistyped\n',
    ...(await Promise.all(mistyped.map((text) => read(text)))),
  ]
  await expect(parts.join('\n')).toMatchFileSnapshot('commands.answers.md')
})

test.each([
  [['', '  ', 'HELP', '?', '-h', '--help', 'help help'], 'help'],
  [
    ['Help IP Move', '? ip move', 'ip move --help', 'ip move -h', 'ip move ?', 'ip move help', 'ip move 203.0.113.10 --help'],
    'help ip move',
  ],
  [['ip --help', 'ip ?', '-h ip'], 'help ip'],
])('%j are the same help', async (texts, same) => {
  for (const text of texts) expect((await read(text)).split('\n').slice(1)).toEqual((await read(same)).split('\n').slice(1))
})

test('a command is the longest one that fits, in upper and lower case', () => {
  const nested = [command('ip'), command('ip move'), command('ip move back')]
  const found = (...words: string[]) => {
    const { command: { words: name } = {}, args } = findCommand(nested, words) ?? {}
    return [name, args]
  }
  expect(found('IP', 'Move', 'back', 'eip_1')).toEqual(['ip move back', ['eip_1']])
  expect(found('ip', 'move', 'eip_1')).toEqual(['ip move', ['eip_1']])
  expect(found('ip', 'mov')).toEqual(['ip', ['mov']])
  expect(found('moves')).toEqual([undefined, undefined])
})

test.each([
  ['ip move 203.0.113.10 web-2', 'ip move', true],
  ['IP List web', 'ip list', false],
  ['? ip', 'help', false],
  ['', 'help', false],
  ['dance', 'unknown', false],
])('"%s" has the name "%s" in the log and the audit, and takes a reason only if it changes something', (text, name, takesReason) => {
  expect(commandNamed(commands, text.split(' ').filter(Boolean))).toEqual({ name, takesReason })
})

test('arguments stay as typed, and a mention is a name unless the command takes mentions', async () => {
  const { type, done } = setUp({ routed: [...commands, command('audit', { takesMentions: true })] })

  await type('Plans FRA <@U0ADA00001|ada> <#C0OPS00001|ops>')
  await type('audit <@U0ADA00001|ada>')

  expect(done).toEqual([
    { ran: 'plans', args: ['FRA', 'ada', 'ops'] },
    { ran: 'audit', args: ['<@U0ADA00001|ada>'] },
  ])
})

test('a command that changes something runs after the gate with what it has read, and not at all if the gate refuses', async () => {
  const received: unknown[] = []
  const routed = [command('ip move', { need: 'ip.move', run: async (call) => void received.push(call.requester) })]
  const allowed = setUp({ routed })
  const refused = setUp({ routed, allowed: ['read'] })

  await allowed.type('ip move eip_1 web-2')
  await expect(refused.type('ip move eip_1 web-2')).rejects.toMatchObject({ code: 'not-a-requester' })

  expect(allowed.done).toEqual([{ gate: 'ip.move' }, { ran: 'ip move', args: ['eip_1', 'web-2'] }])
  expect(received).toEqual([{ ...requester, membership: new Map([['Sip.move', new Set([origin.userId])]]) }])
  expect(refused.done).toEqual([{ gate: 'ip.move' }])
})

test('a command that changes something says that nothing was requested if the account API is away, and one that reads does not', async () => {
  const away = new ApiUnreachableError({ operation: 'servers.list', problem: 'ECONNREFUSED', requestSent: 'no' })
  const run = async () => Promise.reject(away)
  const { type } = setUp({ routed: [command('ip move', { need: 'ip.move', run }), command('servers', { run })] })

  const [change, list] = await Promise.all([type('ip move eip_1 web-2').catch(toUserMessage), type('servers').catch(toUserMessage)])

  expect(change).toMatch(/^Not requested: couldn't reach the account API\. Try again/)
  expect(list).toMatch(/^Couldn't reach the account API. Try again/)
})

test('a form opens before the gate, and is prepared after it', async () => {
  const isComplete = (args: string[]) => args.length > 1
  const prepared: string[] = []
  const prepare = async () => void prepared.push('prepared')
  const routed = [command('ip move', { need: 'ip.move', form, isComplete, prepare })]
  const { type, done } = setUp({ routed, strict: 'ip.move' })
  const refused = setUp({ routed, allowed: ['read'] })

  await type('ip move', { reason: 'OPS-123', responseUrl: 'https://hooks.slack.example/commands/1' })
  await type('ip move 203.0.113.10')
  await type('ip move 203.0.113.10 web-2')
  await expect(refused.type('ip move')).rejects.toMatchObject({ code: 'not-a-requester' })

  expect(done).toMatchObject([
    { opened: { origin, reason: 'OPS-123', responseUrl: 'https://hooks.slack.example/commands/1', reasonTerms: { rule: 'production' } } },
    { gate: 'ip.move' },
    { opened: { origin, reasonTerms: { rule: 'production' } } },
    { gate: 'ip.move' },
    { gate: 'ip.move' },
    { ran: 'ip move', args: ['203.0.113.10', 'web-2'] },
  ])
  expect(prepared).toEqual(['prepared', 'prepared'])
})

const rows = Array.from({ length: 12 }, (_, index) => mrkdwn`vm.${index + 1}`)
const listing = command('plans', { run: ({ list }) => list({ title: mrkdwn`12 plans`, rows, empty: mrkdwn`None.` }) })

test('a list is shown as an ephemeral message, and another page replaces the page that was clicked', async () => {
  const { type, clickPage, shown } = setUp({ routed: [listing] })

  await type('plans fra')
  await clickPage(pageActionIds.next, { version: 1, command: 'plans', args: ['fra'], page: 1 })

  expect(shown.map(({ how, message }) => [how, message.text.split('\n')[0]])).toEqual([
    ['ephemeral', '*12 plans* (page 1 of 2)'],
    ['replace', '*12 plans* (page 2 of 2)'],
  ])
})

const outdated = 'This button is out of date. Run the command again.'
test.each<[string, unknown, string]>([
  ['of a command that requests a change', { version: 1, command: 'ip move', args: [], page: 1 }, outdated],
  ['of a command that no longer exists', { version: 1, command: 'sites', args: [], page: 0 }, outdated],
  ['that cannot be read', null, outdated],
  [
    'whose words would not fit into the next one',
    { version: 1, command: 'plans', args: ['x'.repeat(1_000)], page: 0 },
    'The words of this search are too long. Use fewer or shorter ones.',
  ],
])('a page button %s is refused, and nothing runs', async (_, value, refusal) => {
  const { clickPage, done } = setUp()

  await expect(clickPage(pageActionIds.previous, value)).rejects.toThrow(refusal)
  expect(done).toEqual([])
})
