import { describe, expect, it } from 'vitest'
import type { Requester } from '../../../src/domain/approval.ts'
import { ApiUnreachableError } from '../../../src/domain/errors.ts'
import { modal } from '../../../src/slack/blocks.ts'
import { type Command, type CommandCall, findCommand, type Gate, type Need } from '../../../src/slack/commands.ts'
import { Refusal, toUserMessage } from '../../../src/slack/errors.ts'
import { formButtonValue, formOpeners } from '../../../src/slack/forms.ts'
import { unknownCommand } from '../../../src/slack/help.ts'
import type { Click, InteractionHandlers, SlashCommand } from '../../../src/slack/interactions.ts'
import { pageActionIds } from '../../../src/slack/listing.ts'
import { readMetadata } from '../../../src/slack/payloads.ts'
import { createCommandRouter } from '../../../src/slack/router.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { parseWords } from '../../../src/slack/typed-words.ts'
import type { Message } from '../../../src/slack/web-api.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

function command(words: string, more: Partial<Command> = {}): Command {
  return { words, group: 'View', usage: '[word…]', summary: `Does ${words}`, examples: [], need: 'read', run: async () => {}, ...more }
}

const commands = [
  command('ip move', {
    usage: '[<elastic ip> <server>]',
    group: 'Change',
    summary: 'Move an Elastic IP',
    examples: ['203.0.113.10 web-2'],
    need: 'ip.move',
  }),
  command('ip list', { usage: '[word…]', summary: 'Elastic IPs', examples: ['fra'] }),
  command('moves', { usage: '', summary: 'Moves in progress' }),
  command('plans', { usage: '[word…]', summary: 'Virtual machine plans', examples: ['fra in-stock EUR'] }),
  command('vm rename', {
    group: 'Change',
    usage: '<vm> <new name>',
    summary: 'Rename a virtual machine',
    examples: ['web-1 web-2'],
    need: 'vm.rename',
  }),
]

const requester: Requester = {
  person: { userId: origin.userId, standing: 'member', teamId: origin.teamId },
  place: { channelId: origin.channelId, teamId: origin.teamId, standing: 'usual' },
  membership: new Map(),
}

/** A router for these commands, what it did in order, what it showed, and functions to type and to click. */
function setUp({ routed = commands, refuse, strict }: { routed?: Command[]; refuse?: Need; strict?: Need } = {}) {
  const done: unknown[] = []
  const reads: unknown[] = []
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
  const gate: Gate = async (_, kind) => {
    done.push({ gate: kind })
    if (kind === refuse) throw new Refusal(mrkdwn`Guests can't do this.`)
    return requester
  }
  const router = createCommandRouter({
    commands: recorded,
    gate,
    ruleWithReason: (kind) => (kind === strict ? 'production' : undefined),
    may: async (_, needs) => needs.filter((need) => need !== refuse),
  })
  const openers = formOpeners({ access: { gateForm: gate, gateChosen: gate, ruleWithReason: () => undefined } } as never, recorded)
  const clicks: InteractionHandlers['clicks'] = { ...router.clicks, ...openers.clicks }
  /** Types a command, and opens its form as `serve` does: first the form, then the check of the rights. */
  const type = async (text: string, more: Partial<SlashCommand> = {}) => {
    const typed: SlashCommand = { deliveryKey: 'd1', origin, answer, responseUrl: undefined, triggerId: 't1', ...more }
    const handler = router.command(parseWords(text))
    if (typeof handler === 'function') return handler(typed)
    reads.push(handler.reads)
    const view = await handler.form(typed)
    done.push({ opened: view.title.text, metadata: readMetadata(view.private_metadata ?? '') })
    await handler.allow(typed)
    await handler.fill?.(typed)
  }
  const clickWith = (actionId: string, value: string): Click => ({
    deliveryKey: 'd2',
    origin,
    answer: { ...answer, elsewhere: () => {} },
    actionId,
    responseUrl: undefined,
    value,
    triggerId: 't2',
    messageTs: undefined,
    onHome: false,
    view: undefined,
  })
  const click = async (actionId: string, value: unknown) => {
    const handler = clicks[actionId]
    if (typeof handler === 'function') await handler(clickWith(actionId, JSON.stringify(value)))
  }
  /** Presses a button that opens a form, as `serve` does. */
  const press = async (actionId: string, value: string) => {
    const handler = clicks[actionId]
    if (typeof handler !== 'object') throw new Error(`${actionId} opens no form`)
    const clicked = clickWith(actionId, value)
    const view = await handler.form(clicked)
    done.push({ opened: view.title.text, metadata: readMetadata(view.private_metadata ?? '') })
    await handler.allow(clicked)
    await handler.fill?.(clicked)
  }
  return { done, reads, shown, type, click, press, router }
}

describe('a command', () => {
  it.each([
    ['plans', 'plans', []],
    ['Plans FRA', 'plans', ['FRA']],
    ['IP Move eip_1GijF7NsZe3bN Web-2', 'ip move', ['eip_1GijF7NsZe3bN', 'Web-2']],
    ['ip move "my ip" web-2', 'ip move', ['my ip', 'web-2']],
    ['plans `fra`, “in stock”', 'plans', ['fra', 'in stock']],
    ['plans <@U0ADA00001|ada> <#C0OPS00001|ops>', 'plans', ['ada', 'ops']],
  ])('is found in upper and lower case, and its arguments stay as typed: %s', async (text, words, args) => {
    const { type, done } = setUp()

    await type(text)

    expect(done).toContainEqual({ ran: words, args })
  })

  it('is the longest one that fits', () => {
    const nested = [command('ip'), command('ip move'), command('ip move back')]

    expect(findCommand(nested, ['ip', 'move', 'back', 'eip_1GijF7NsZe3bN'])).toMatchObject({
      command: { words: 'ip move back' },
      args: ['eip_1GijF7NsZe3bN'],
    })
    expect(findCommand(nested, ['ip', 'move', 'eip_1GijF7NsZe3bN'])).toMatchObject({
      command: { words: 'ip move' },
      args: ['eip_1GijF7NsZe3bN'],
    })
    expect(findCommand(nested, ['ip', 'mov'])).toMatchObject({ command: { words: 'ip' }, args: ['mov'] })
    expect(findCommand(nested, ['moves'])).toBeUndefined()
  })

  it('gets mentions as Slack sends them if it takes them', async () => {
    const { type, done } = setUp({ routed: [command('audit', { takesMentions: true })] })

    await type('audit <@U0ADA00001|ada>')

    expect(done).toEqual([{ ran: 'audit', args: ['<@U0ADA00001|ada>'] }])
  })

  it('that takes no arguments says which words it did not understand, and does not run', async () => {
    const { type, done } = setUp()

    await expect(type('moves fra please')).rejects.toThrow('`/infra moves` takes no arguments. Not understood: `fra please`.')

    expect(done).toEqual([])
  })

  it('that takes no arguments quotes a mention and capital letters as they were typed', async () => {
    const { type } = setUp()

    await expect(type('moves <@U0CHI00001|chiara> Conti')).rejects.toThrow('Not understood: `@chiara Conti`.')
    await expect(type('moves @Chiara "Conti Ops" <#C0OPS00001|ops>')).rejects.toThrow('Not understood: `@Chiara "Conti Ops" #ops`.')
  })

  it('runs after the gate, and not at all if the gate refuses', async () => {
    const allowed = setUp()
    await allowed.type('ip move eip_1GijF7NsZe3bN web-2')
    const refused = setUp({ refuse: 'ip.move' })

    await expect(refused.type('ip move eip_1GijF7NsZe3bN web-2')).rejects.toThrow("Guests can't do this.")

    expect(allowed.done).toEqual([{ gate: 'ip.move' }, { ran: 'ip move', args: ['eip_1GijF7NsZe3bN', 'web-2'] }])
    expect(refused.done).toEqual([{ gate: 'ip.move' }])
  })

  it('that changes something says that nothing was requested if the account API is away, and one that only reads does not', async () => {
    const away = new ApiUnreachableError({ operation: 'servers.list', problem: 'ECONNREFUSED', requestSent: 'no' })
    const run = async () => Promise.reject(away)
    const { type } = setUp({ routed: [command('ip move', { need: 'ip.move', run }), command('servers', { run })] })

    const [change, list] = await Promise.all([type('ip move eip_1 web-2').catch(toUserMessage), type('servers').catch(toUserMessage)])

    expect(change).toBe(
      "Couldn't reach the account API. Nothing was requested. Try again in a minute. If it lasts, run the doctor command.",
    )
    expect(list).toBe("Couldn't reach the account API. Try again in a minute. If it lasts, run the doctor command.")
  })

  it('gets what the gate has read about the person', async () => {
    const received: unknown[] = []
    const run = async (call: CommandCall) => void received.push(call.requester)
    const { type } = setUp({ routed: [command('ip move', { need: 'ip.move', run }), command('plans', { run })] })

    await type('ip move eip_1GijF7NsZe3bN web-2')
    await type('plans')

    expect(received).toEqual([requester, undefined])
  })

  it('answers in an ephemeral message, with text from outside escaped', async () => {
    const { type, shown } = setUp({ routed: [command('moves', { run: ({ say }) => say(mrkdwn`No moves of ${'<!channel>'}.`) })] })

    await type('moves')

    expect(shown).toMatchObject([{ how: 'ephemeral', message: { text: 'No moves of &lt;!channel&gt;.' } }])
  })
})

describe('a command with a form', () => {
  const form = (metadata: string) => modal({ title: 'Move an Elastic IP', blocks: [], metadata })
  const routed = [command('ip move', { need: 'ip.move', form })]

  it('opens the form before the gate if it has no arguments, because a trigger expires after 3 s', async () => {
    const { type, done } = setUp({ routed })

    await type('ip move', { responseUrl: 'https://hooks.slack.example/commands/1' })

    expect(done).toEqual([
      { opened: 'Move an Elastic IP', metadata: { version: 1, origin, responseUrl: 'https://hooks.slack.example/commands/1' } },
      { gate: 'ip.move' },
    ])
  })

  it('prepares the data of the form only after the gate', async () => {
    const prepared = (refuse?: Need) => {
      const order: string[] = []
      const prepare = async () => void order.push('prepared')
      const { type } = setUp({ routed: [command('ip move', { need: 'ip.move', form, prepare })], ...(refuse ? { refuse } : {}) })
      return { order, type }
    }
    const allowed = prepared()
    const refused = prepared('ip.move')

    await allowed.type('ip move')
    await expect(refused.type('ip move')).rejects.toThrow("Guests can't do this.")

    expect([allowed.order, refused.order]).toEqual([['prepared'], []])
  })

  it('opens the form with the reason that was typed, and with the rule that requires one', async () => {
    const { type, done } = setUp({ routed, strict: 'ip.move' })

    await type('ip move', { reason: 'OPS-123' })

    expect(done[0]).toMatchObject({ metadata: { reason: 'OPS-123', ruleWithReason: 'production' } })
  })

  it.each([
    ['ip move 203.0.113.10 web-2', 'ip move', true],
    ['IP List web', 'ip list', false],
    ['? ip', 'help', false],
    ['', 'help', false],
    ['dance', 'unknown', false],
  ])(
    'of "%s" has the name "%s", without what else was typed, and takes a reason only if it changes something',
    (text, name, takesReason) => {
      expect(setUp().router.commandNamed(text.split(' ').filter(Boolean))).toEqual({ name, takesReason })
    },
  )

  it('opens the form with what was given if it is incomplete, and only after the authorization, because it shows what was named', async () => {
    const given: unknown[] = []
    const remember: Command['form'] = (metadata, words) => {
      given.push(words)
      return form(metadata)
    }
    const isComplete = (args: string[]) => args.length > 1
    const { type, reads, done } = setUp({ routed: [command('ip move', { need: 'ip.move', form: remember, isComplete })] })

    await type('ip move')
    await type('ip move `203.0.113.10`')
    await type('ip move 203.0.113.10 web-2')

    expect(given).toEqual([
      { args: [], command: '/infra' },
      { args: ['203.0.113.10'], command: '/infra' },
    ])
    expect(reads).toEqual([undefined, true])
    expect(done.at(-1)).toEqual({ ran: 'ip move', args: ['203.0.113.10', 'web-2'] })
  })

  it('opens from the button of the help, which names the slash command, because Slack does not send it with a click', async () => {
    const withButton = command('ip move', {
      need: 'ip.move',
      form,
      button: { text: 'Move IP', actionId: 'open-move', opens: 'Move an Elastic IP' },
    })
    const { press, done } = setUp({ routed: [withButton] })

    await press('open-move', formButtonValue('/nimbus'))

    expect(done).toEqual([
      { opened: 'Move an Elastic IP', metadata: { version: 1, origin: { ...origin, command: '/nimbus' } } },
      { gate: 'ip.move' },
    ])
  })

  it.each(['', '{}', '{"version":1,"command":"<!channel>"}'])('does not open from a button with another value: %j', async (value) => {
    const { press, done } = setUp({
      routed: [
        command('ip move', { need: 'ip.move', form, button: { text: 'Move IP', actionId: 'open-move', opens: 'Move an Elastic IP' } }),
      ],
    })

    await expect(press('open-move', value)).rejects.toThrow('This button is out of date. Run the command again.')

    expect(done).toEqual([])
  })

  it('runs without the form if it has arguments', async () => {
    const { type, done } = setUp({ routed })

    await type('ip move eip_1GijF7NsZe3bN web-2')

    expect(done).toEqual([{ gate: 'ip.move' }, { ran: 'ip move', args: ['eip_1GijF7NsZe3bN', 'web-2'] }])
  })
})

describe('a list', () => {
  const rows = Array.from({ length: 12 }, (_, index) => mrkdwn`vm.${index + 1}`)
  const plans = command('plans', { run: ({ list }) => list({ title: mrkdwn`12 plans`, rows, empty: mrkdwn`None.` }) })

  it('is shown as an ephemeral message, and another page replaces the page that was clicked', async () => {
    const { type, click, shown } = setUp({ routed: [plans] })

    await type('plans fra')
    await click(pageActionIds.next, { version: 1, command: 'plans', args: ['fra'], page: 1 })

    expect(shown.map(({ how, message }) => [how, message.text.split('\n')[0]])).toEqual([
      ['ephemeral', '*12 plans* (page 1 of 2)'],
      ['replace', '*12 plans* (page 2 of 2)'],
    ])
  })

  it('that only reads is not judged again, because everybody is judged when the command or the click arrives', async () => {
    const { type, click, done } = setUp({ routed: [plans] })

    await type('plans fra')
    await click(pageActionIds.next, { version: 1, command: 'plans', args: ['fra'], page: 1 })

    expect(done).toEqual([
      { ran: 'plans', args: ['fra'] },
      { ran: 'plans', args: ['fra'] },
    ])
  })

  it('shows no other page of a command that requests a change', async () => {
    const { click, done, shown } = setUp({ routed: [{ ...plans, need: 'ip.move' }] })

    await click(pageActionIds.next, { version: 1, command: 'plans', args: [], page: 1 })

    expect(done).toEqual([])
    expect(JSON.stringify(shown)).toContain('This button is out of date.')
  })

  it.each([
    ['of a command that no longer exists', { command: 'sites', args: [], page: 0 }],
    ['with an unreadable button', null],
  ])('%s says that it is out of date', async (_, value) => {
    const { click, shown } = setUp()

    await click(pageActionIds.previous, value)

    expect(shown).toMatchObject([{ how: 'ephemeral', message: { text: 'This button is out of date. Run the command again.' } }])
  })
})

describe('an unknown command', () => {
  const answerFor = (...words: string[]) => unknownCommand(commands, words, '/infra').text

  it('is answered in an ephemeral message with the command that was probably meant', async () => {
    const { type, shown, done } = setUp()

    await type('ip mvoe eip_1GijF7NsZe3bN web-2')

    expect(shown).toMatchObject([
      {
        how: 'ephemeral',
        message: {
          text: "`/infra ip mvoe` isn't a command. Did you mean `/infra ip move eip_1GijF7NsZe3bN web-2`? See `/infra help`.",
        },
      },
    ])
    expect(done).toEqual([])
  })

  it.each([
    [['mvoe'], '`/infra moves`'],
    [['MVOES'], '`/infra moves`'],
    [['mvoe', 'eip_1GijF7NsZe3bN', 'web-2'], '`/infra moves`'],
    [['plan'], '`/infra plans`'],
    [['paln', 'fra', 'in-stock'], '`/infra plans fra in-stock`'],
    [['ip', 'mvoe'], '`/infra ip move`'],
    [['ip', 'lst'], '`/infra ip list`'],
    [['ip', 'lst', 'edge fra', ''], '`/infra ip list "edge fra" ""`'],
    [['ip', 'lst', '<@U0ADA00001|ada>', '<#C0OPS00001|ops>'], '`/infra ip list @ada #ops`'],
    [['ipp', 'move', 'eip_1GijF7NsZe3bN'], '`/infra ip move eip_1GijF7NsZe3bN`'],
    [['ip', 'mvoe', '203.0.113.11', 'web-2', 'because', 'disk', 'full'], '`/infra ip move 203.0.113.11 web-2 because disk full`'],
    [['ipmove'], '`/infra ip move`'],
    [['ip move'], '`/infra ip move`'],
    [['vm', 'renmae', 'web-1', 'web-2'], '`/infra vm rename web-1 web-2`'],
    [['rename', 'web-1', 'web-2'], '`/infra vm rename web-1 web-2`'],
    [['list'], '`/infra ip list`'],
    [['move'], '`/infra ip move` or `/infra moves`'],
    [['move', 'eip_1GijF7NsZe3bN', 'web-2'], '`/infra ip move eip_1GijF7NsZe3bN web-2`'],
    [['ip', 'delete', 'fra'], '`/infra ip move fra` or `/infra ip list fra`'],
    [['vm', 'reboot'], '`/infra vm rename`'],
    [['hlep'], '`/infra help`'],
    [['halp'], '`/infra help`'],
    [['hlep', 'ip', 'move'], '`/infra help ip move`'],
    [['ips', 'fra'], '`/infra ip move fra` or `/infra ip list fra`'],
    [['vn'], '`/infra vm rename`'],
    [['ip', 'lst', 'x'.repeat(600)], '`/infra ip list`'],
  ])('gets a suggestion, whole, to copy: %j', (words, suggestion) => {
    expect(answerFor(...words)).toContain(` Did you mean ${suggestion}?`)
  })

  it('that is the name of a button is answered with where the button is', () => {
    const pending = { ...commands[0], words: 'pending' } as Command
    expect(unknownCommand([...commands, pending], ['Approve', '3408167d'], '/infra').text).toBe(
      "`/infra approve` isn't a command. Press *Approve* on the request message. `/infra pending` lists the requests that need approval, with links.",
    )
    expect(answerFor('approve')).not.toContain('pending')
  })

  it.each([[['weather']], [['how', 'are', 'you']], [['x']], [['delete', 'everything']], [['']], [['👩‍👩‍👧']]])(
    'gets no suggestion if no command is similar: %j',
    (words) => {
      expect(answerFor(...words)).not.toContain('Did you mean')
      expect(answerFor(...words)).toMatch(/^`\/infra.*` isn't a command\. See `\/infra help`\.$/)
    },
  )

  it('gets no second link to the help if the help is what was meant', () => {
    expect(answerFor('hlep')).toBe("`/infra hlep` isn't a command. Did you mean `/infra help`?")
  })

  it('gets a list of the possible next words if it is the beginning of commands', () => {
    expect(answerFor('IP')).toMatchInlineSnapshot(`
      "\`/infra ip\` needs one more word:
      \`/infra ip move\`: Move an Elastic IP
      \`/infra ip list\`: Elastic IPs"
    `)
  })

  it('is quoted escaped, on one line and cut', () => {
    expect(answerFor('<!channel>`', 'a\nb')).toMatchInlineSnapshot(
      `"\`/infra &lt;!channel&gt;’ a b\` isn't a command. See \`/infra help\`."`,
    )
    expect(answerFor('x'.repeat(10_000)).length).toBeLessThan(250)
  })

  it('is answered with the slash command that was typed', () => {
    expect(unknownCommand(commands, ['plan'], '/nimbus').text).toBe(
      "`/nimbus plan` isn't a command. Did you mean `/nimbus plans`? See `/nimbus help`.",
    )
  })
})
