import { describe, expect, it } from 'vitest'
import type { Requester } from '../../../src/domain/people.ts'
import { pageActionIds } from '../../../src/slack/blocks/listing.ts'
import { modal } from '../../../src/slack/blocks/modal.ts'
import { type Command, type CommandCall, findCommand, type Need } from '../../../src/slack/commands/commands.ts'
import type { Click, SlashCommand } from '../../../src/slack/commands/handlers.ts'
import { helpMessage } from '../../../src/slack/commands/help.ts'
import { parseWords } from '../../../src/slack/commands/parse-words.ts'
import { createCommandRouter } from '../../../src/slack/commands/router.ts'
import { unknownCommand } from '../../../src/slack/commands/unknown-command.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import { readMetadata } from '../../../src/slack/receive/payloads.ts'
import { mrkdwn } from '../../../src/slack/text/text.ts'
import type { Message } from '../../../src/slack/web-api/messenger.ts'
import { charactersIn } from '../../sandbox/slack/characters-in.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

function command(words: string, more: Partial<Command> = {}): Command {
  return { words, usage: '', summary: `Does ${words}.`, example: '', need: 'read', run: async () => {}, ...more }
}

const commands = [
  command('ip move', {
    usage: '[<elastic ip> <server>]',
    summary: 'Moves an Elastic IP to another server, or opens a form.',
    example: '203.0.113.10 web-2',
    need: 'ip.move',
  }),
  command('ip list', { usage: '[word…]', summary: 'Shows Elastic IPs. Words filter.', example: 'fra moving' }),
  command('moves', { summary: 'Shows the moves in flight.' }),
  command('plans', { usage: '[word…]', summary: 'Shows virtual machine plans.', example: 'fra in-stock EUR' }),
  command('vm rename', { usage: '<vm> <new name>', summary: 'Renames a virtual machine.', example: 'web-1 web-2', need: 'vm.rename' }),
]

const requester: Requester = {
  person: { userId: origin.userId, standing: 'member', teamId: origin.teamId },
  place: { channelId: origin.channelId, teamId: origin.teamId, standing: 'usual' },
  membership: new Map(),
}

const everything: Need[] = ['read', 'ip.move', 'vm.rename']

/** A router for these commands, what it did in order, what it showed, and functions to type and to click. */
function setUp({ routed = commands, refuse, strict }: { routed?: Command[]; refuse?: Need; strict?: Need } = {}) {
  const done: unknown[] = []
  const shown: { how: 'ephemeral' | 'replace'; message: Message }[] = []
  const answer = {
    ephemeral: async (message: Message) => void shown.push({ how: 'ephemeral', message }),
    replace: async (message: Message) => void shown.push({ how: 'replace', message }),
  }
  const recorded = routed.map((one) => ({
    ...one,
    run: async (call: CommandCall) => {
      done.push({ ran: one.words, args: call.args })
      await one.run(call)
    },
  }))
  const router = createCommandRouter({
    commands: recorded,
    gate: async (_, kind) => {
      done.push({ gate: kind })
      if (kind === refuse) throw new Refusal(mrkdwn`Guests may not do this.`)
      return requester
    },
    ruleWithReason: (kind) => (kind === strict ? 'production' : undefined),
    may: async (_, needs) => needs.filter((need) => need !== refuse),
  })
  /** Types a command, and opens its form as `serve` does: first the form, then the check of the rights. */
  const type = async (text: string, more: Partial<SlashCommand> = {}) => {
    const typed: SlashCommand = { deliveryKey: 'd1', origin, answer, responseUrl: undefined, triggerId: 't1', ...more }
    const handler = router.command(parseWords(text))
    if (typeof handler === 'function') return handler(typed)
    const view = await handler.form(typed)
    done.push({ opened: view.title.text, metadata: readMetadata(view.private_metadata ?? '') })
    await handler.allow(typed)
  }
  const click = (actionId: keyof typeof router.clicks, value: unknown) => {
    const clicked: Click = {
      deliveryKey: 'd2',
      origin,
      answer,
      actionId,
      responseUrl: undefined,
      value: JSON.stringify(value),
      triggerId: 't2',
      messageTs: undefined,
      onHome: false,
      view: undefined,
    }
    return router.clicks[actionId](clicked)
  }
  return { done, shown, type, click, router }
}

describe('a command', () => {
  it.each([
    ['plans', 'plans', []],
    ['Plans FRA', 'plans', ['FRA']],
    ['IP Move eip_1GijF7NsZe3bN Web-2', 'ip move', ['eip_1GijF7NsZe3bN', 'Web-2']],
    ['ip move "my ip" web-2', 'ip move', ['my ip', 'web-2']],
    ['moves ip move', 'moves', ['ip', 'move']],
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

  it('runs after the gate, and not at all if the gate refuses', async () => {
    const allowed = setUp()
    await allowed.type('ip move eip_1GijF7NsZe3bN web-2')
    const refused = setUp({ refuse: 'ip.move' })

    await expect(refused.type('ip move eip_1GijF7NsZe3bN web-2')).rejects.toThrow('Guests may not do this.')

    expect(allowed.done).toEqual([{ gate: 'ip.move' }, { ran: 'ip move', args: ['eip_1GijF7NsZe3bN', 'web-2'] }])
    expect(refused.done).toEqual([{ gate: 'ip.move' }])
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
      const prepare = () => void order.push('prepared')
      const { type } = setUp({ routed: [command('ip move', { need: 'ip.move', form, prepare })], ...(refuse ? { refuse } : {}) })
      return { order, type }
    }
    const allowed = prepared()
    const refused = prepared('ip.move')

    await allowed.type('ip move')
    await expect(refused.type('ip move')).rejects.toThrow('Guests may not do this.')

    expect([allowed.order, refused.order]).toEqual([['prepared'], []])
  })

  it('opens the form with the reason that was typed, and with the rule that requires one', async () => {
    const { type, done } = setUp({ routed, strict: 'ip.move' })

    await type('ip move', { reason: 'OPS-123' })

    expect(done[0]).toMatchObject({ metadata: { reason: 'OPS-123', ruleWithReason: 'production' } })
  })

  it('takes a reason only if it changes something', () => {
    const { takesReason } = setUp().router

    expect(takesReason(['ip', 'move', '203.0.113.10', 'web-2'])).toBe(true)
    expect(takesReason(['ip', 'list'])).toBe(false)
    expect(takesReason(['dance'])).toBe(false)
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
    expect(JSON.stringify(shown)).toContain('This list is from another version of me.')
  })

  it.each([
    ['of a command that no longer exists', { command: 'sites', args: [], page: 0 }],
    ['with an unreadable button', null],
  ])('%s says that it is out of date', async (_, value) => {
    const { click, shown } = setUp()

    await click(pageActionIds.previous, value)

    expect(shown).toMatchObject([
      { how: 'ephemeral', message: { text: 'This list is from another version of me. Ask for it again with the command.' } },
    ])
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
          text: 'I do not know `/infra ip mvoe`. Did you mean `/infra ip move`? `/infra help` shows everything that can be asked.',
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
    [['paln', 'fra', 'in-stock'], '`/infra plans`'],
    [['ip', 'mvoe'], '`/infra ip move`'],
    [['ip', 'lst'], '`/infra ip list`'],
    [['ipp', 'move', 'eip_1GijF7NsZe3bN'], '`/infra ip move`'],
    [['ip-move', 'eip_1GijF7NsZe3bN', 'web-2'], '`/infra ip move`'],
    [['ipmove'], '`/infra ip move`'],
    [['ip move'], '`/infra ip move`'],
    [['vm', 'renmae', 'web-1', 'web-2'], '`/infra vm rename`'],
    [['rename', 'web-1', 'web-2'], '`/infra vm rename`'],
    [['list'], '`/infra ip list`'],
    [['move', 'eip_1GijF7NsZe3bN', 'web-2'], '`/infra ip move` or `/infra moves`'],
    [['ip', 'delete'], '`/infra ip move` or `/infra ip list`'],
    [['vm', 'reboot'], '`/infra vm rename`'],
  ])('gets a suggestion: %j', (words, suggestion) => {
    expect(answerFor(...words)).toContain(` Did you mean ${suggestion}? `)
  })

  it.each([[['weather']], [['hello', 'there']], [['x']], [['delete', 'everything']], [['']], [['👩‍👩‍👧']]])(
    'gets no suggestion if no command is similar: %j',
    (words) => {
      expect(answerFor(...words)).not.toContain('Did you mean')
      expect(answerFor(...words)).toMatch(/^I do not know `\/infra.*`\. `\/infra help` shows everything that can be asked\.$/)
    },
  )

  it('gets a list of the possible next words if it is the beginning of commands', () => {
    expect(answerFor('IP')).toMatchInlineSnapshot(`
      "\`/infra ip\` needs one more word:
      \`/infra ip move\`: Moves an Elastic IP to another server, or opens a form.
      \`/infra ip list\`: Shows Elastic IPs. Words filter."
    `)
  })

  it('is quoted escaped, on one line and cut', () => {
    expect(answerFor('<!channel>`', 'a\nb')).toMatchInlineSnapshot(
      `"I do not know \`/infra &lt;!channel&gt;’ a b\`. \`/infra help\` shows everything that can be asked."`,
    )
    expect(answerFor('x'.repeat(10_000)).length).toBeLessThan(250)
  })

  it('is answered with the slash command that was typed', () => {
    expect(unknownCommand(commands, ['plan'], '/nimbus').text).toBe(
      'I do not know `/nimbus plan`. Did you mean `/nimbus plans`? `/nimbus help` shows everything that can be asked.',
    )
  })
})

describe('help', () => {
  it.each(['', '  ', 'help', 'HELP me'])('is shown for %j', async (text) => {
    const { type, shown, done } = setUp()

    await type(text)

    expect(shown).toEqual([{ how: 'ephemeral', message: helpMessage(commands, '/infra', everything) }])
    expect(done).toEqual([])
  })

  it('lists the commands with examples', () => {
    expect(helpMessage(commands, '/infra', everything).text).toMatchInlineSnapshot(`
      "*What you can ask me*

      \`/infra ip move [&lt;elastic ip&gt; &lt;server&gt;]\`
      Moves an Elastic IP to another server, or opens a form. Example: \`/infra ip move 203.0.113.10 web-2\`

      \`/infra ip list [word…]\`
      Shows Elastic IPs. Words filter. Example: \`/infra ip list fra moving\`

      \`/infra moves\`
      Shows the moves in flight.

      \`/infra plans [word…]\`
      Shows virtual machine plans. Example: \`/infra plans fra in-stock EUR\`

      \`/infra vm rename &lt;vm&gt; &lt;new name&gt;\`
      Renames a virtual machine. Example: \`/infra vm rename web-1 web-2\`

      Every change is approved by another person with a button, and followed until it has really happened."
    `)
  })

  it('lists the commands that the person may not use apart, with the slash command that was typed', () => {
    expect(helpMessage(commands, '/nimbus', ['read']).text).toMatchInlineSnapshot(`
      "*What you can ask me*

      \`/nimbus ip list [word…]\`
      Shows Elastic IPs. Words filter. Example: \`/nimbus ip list fra moving\`

      \`/nimbus moves\`
      Shows the moves in flight.

      \`/nimbus plans [word…]\`
      Shows virtual machine plans. Example: \`/nimbus plans fra in-stock EUR\`

      _Not open to you here:_ \`/nimbus ip move\`, \`/nimbus vm rename\`

      Every change is approved by another person with a button, and followed until it has really happened."
    `)
  })

  it('says how many parts do not fit into a message', () => {
    const many = commands.flatMap((command) => Array.from({ length: 30 }, () => command))

    const { blocks } = helpMessage(many, '/infra', everything)

    expect(charactersIn(blocks)).toBeLessThanOrEqual(10_000)
    expect(charactersIn(blocks)).toBeGreaterThan(7_000)
    expect(JSON.stringify(blocks.at(-1))).toMatch(/\d more parts do not fit in here and are not shown/)
  })

  it('says so if the person may use no command', async () => {
    expect(helpMessage(commands, '/infra', []).text).toMatchInlineSnapshot(`
      "*What you can ask me*

      Nothing: only full members of this workspace can use me.

      _Not open to you here:_ \`/infra ip move\`, \`/infra ip list\`, \`/infra moves\`, \`/infra plans\`, \`/infra vm rename\`

      Every change is approved by another person with a button, and followed until it has really happened."
    `)
  })

  it('depends on the rights of the person', async () => {
    const { type, shown } = setUp({ refuse: 'ip.move' })

    await type('help')

    expect(shown[0]?.message).toEqual(helpMessage(commands, '/infra', ['read', 'vm.rename']))
  })
})
