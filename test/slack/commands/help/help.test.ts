import { describe, expect, it } from 'vitest'
import { modal } from '../../../../src/slack/blocks.ts'
import type { Command, Need } from '../../../../src/slack/commands.ts'
import { helpMessage } from '../../../../src/slack/help.ts'
import type { SlashCommand } from '../../../../src/slack/interactions.ts'
import { createCommandRouter } from '../../../../src/slack/router.ts'
import { code, mrkdwn } from '../../../../src/slack/text.ts'
import { parseWords } from '../../../../src/slack/typed-words.ts'
import type { Message } from '../../../../src/slack/web-api.ts'
import { charactersIn } from '../../../sandbox/slack/characters-in.ts'

function command(words: string, more: Partial<Command> = {}): Command {
  return { words, group: 'View', usage: '', summary: `Shows ${words}`, examples: [], need: 'read', run: async () => {}, ...more }
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
  command('vm rename', {
    group: 'Change',
    usage: '[<vm> <new name>]',
    summary: 'Rename a virtual machine',
    examples: ['preview-1 preview-eu-1'],
    need: 'vm.rename',
    form,
    button: { text: 'Rename VM', actionId: 'open-rename', opens: 'Rename a virtual machine' },
  }),
  command('ip list', { usage: '[word…]', summary: 'Elastic IPs' }),
  command('moves'),
  command('keys', { group: 'Keys', usage: '[word…]', summary: 'API keys', examples: ['terraform'] }),
  command('keys create', { group: 'Keys', usage: '[<name>]', summary: 'Request a new API key', need: 'key.create' }),
  command('whoami', { group: 'You', summary: 'What you may request' }),
]
const everything: Need[] = ['read', 'ip.move', 'vm.rename', 'key.create']

const buttonsIn = ({ blocks }: Message) =>
  blocks.flatMap((block) => (block.type === 'actions' ? block.elements.flatMap((one) => ('text' in one ? [one.text?.text] : [])) : []))

/** Types a command, and returns the answer. */
async function answerTo(text: string, allowed = everything): Promise<Message> {
  const shown: Message[] = []
  const router = createCommandRouter({
    commands,
    ruleWithReason: () => undefined,
    gate: async () => {
      throw new Error('help requests nothing')
    },
    may: async (_, needs) => needs.filter((need) => allowed.includes(need)),
  })
  const answer = { ephemeral: async (message: Message) => void shown.push(message), replace: async () => {}, about: () => {} }
  const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
  const typed: SlashCommand = { deliveryKey: 'd1', origin, answer, responseUrl: undefined, triggerId: 't1' }
  const handler = router.command(parseWords(text))
  if (typeof handler !== 'function') throw new Error('opens a form')
  await handler(typed)
  const [message, ...others] = shown
  if (!message || others.length > 0) throw new Error(`${shown.length} answers`)
  return message
}

describe('help', () => {
  it.each(['', '  ', 'help', 'HELP', '?', '-h', '--help', 'help help'])('lists the commands for %j', async (text) => {
    expect(await answerTo(text)).toEqual(helpMessage(commands, { name: '/infra', allowed: everything }))
  })

  it('has four groups with a line for each command, and buttons that open forms', async () => {
    const message = await answerTo('help')

    expect(message.text).toMatchInlineSnapshot(`
      "*What you can do*
      *Change*
      \`/infra ip move [&lt;elastic ip&gt; &lt;server&gt;]\` Move an Elastic IP to another server
      \`/infra vm rename [&lt;vm&gt; &lt;new name&gt;]\` Rename a virtual machine
      *View*
      \`/infra ip list [word…]\` Elastic IPs
      \`/infra moves\` Shows moves
      *Keys*
      \`/infra keys [word…]\` API keys
      \`/infra keys create [&lt;name&gt;]\` Request a new API key
      *You*
      \`/infra whoami\` What you may request
      Changes need another person's approval, unless a rule says otherwise. To give a reason, end a change with \`because\` and the reason. Details and examples of a command: \`/infra help ip move\`"
    `)
    expect(buttonsIn(message)).toEqual(['Move IP', 'Rename VM'])
  })

  it('only names the commands that the person may not use, without their buttons', async () => {
    const message = await answerTo('help', ['read', 'vm.rename'])

    expect(message.text).toMatchInlineSnapshot(`
      "*What you can do*
      *Change*
      \`/infra vm rename [&lt;vm&gt; &lt;new name&gt;]\` Rename a virtual machine
      *View*
      \`/infra ip list [word…]\` Elastic IPs
      \`/infra moves\` Shows moves
      *Keys*
      \`/infra keys [word…]\` API keys
      *You*
      \`/infra whoami\` What you may request
      _Not available to you here:_ \`/infra ip move\`, \`/infra keys create\`
      Changes need another person's approval, unless a rule says otherwise. To give a reason, end a change with \`because\` and the reason. Details and examples of a command: \`/infra help vm rename\`"
    `)
    expect(buttonsIn(message)).toEqual(['Rename VM'])
  })

  it('says so if the person may use no command', async () => {
    expect((await answerTo('help', [])).text).toMatchInlineSnapshot(`
      "*What you can do*
      Nothing: only full members of this workspace can use Lockkeeper.
      _Not available to you here:_ \`/infra ip move\`, \`/infra vm rename\`, \`/infra ip list\`, \`/infra moves\`, \`/infra keys\`, \`/infra keys create\`, \`/infra whoami\`
      Changes need another person's approval, unless a rule says otherwise. To give a reason, end a change with \`because\` and the reason."
    `)
  })

  it('says how many parts do not fit into a message', () => {
    const listed = commands.filter(({ button }) => !button)
    const many = listed.flatMap((each) => Array.from({ length: 40 }, () => each))

    const { blocks } = helpMessage(many, { name: '/infra', allowed: everything })

    expect(charactersIn(blocks)).toBeLessThanOrEqual(10_000)
  })

  it.each(['help ip move', 'Help IP Move', '? ip move', 'ip move --help', 'ip move -h', 'ip move ?', 'ip move 203.0.113.10 --help'])(
    'explains one command for %j',
    async (text) => {
      const message = await answerTo(text)

      expect(message.text).toBe((await answerTo('help ip move')).text)
      expect(buttonsIn(message)).toEqual(['Move IP'])
    },
  )

  it('explains a command with its details and examples', async () => {
    expect((await answerTo('help ip move')).text).toMatchInlineSnapshot(`
      "*\`/infra ip move [&lt;elastic ip&gt; &lt;server&gt;]\`*
      Move an Elastic IP to another server.
      The Elastic IP by address or id. \`to\` is fine.
      *Examples*
      \`/infra ip move 203.0.113.10 web-2\`
      \`/infra ip move 203.0.113.10\`
      To give a reason, end the command with \`because\` and the reason. Approvers see it."
    `)
  })

  it('says if the person may not use the command', async () => {
    const message = await answerTo('help ip move', ['read'])

    expect(message.text).toMatch(/_Not available to you here\._$/)
    expect(buttonsIn(message)).toEqual([])
  })

  it('names the longer commands that begin with the same word', async () => {
    expect((await answerTo('help keys')).text).toMatchInlineSnapshot(`
      "*\`/infra keys [word…]\`*
      API keys.
      *Examples*
      \`/infra keys terraform\`
      *More*
      \`/infra keys create [&lt;name&gt;]\` Request a new API key"
    `)
  })

  it.each(['help ip', 'ip --help', 'ip ?', '-h ip'])('lists the commands of a group for %j', async (text) => {
    expect((await answerTo(text)).text).toBe(
      '`/infra ip move [&lt;elastic ip&gt; &lt;server&gt;]` Move an Elastic IP to another server\n`/infra ip list [word…]` Elastic IPs',
    )
  })

  it('lists the commands below a heading', async () => {
    expect((await answerTo('help you')).text).toBe('`/infra whoami` What you may request')
  })

  it.each([
    ['help moves fra', 'Not understood: `fra`.'],
    ['help ip please', 'Not understood: `please`.'],
    ['help me', "`/infra me` isn't a command."],
    ['help ip mvoe', 'Not understood: `mvoe`.'],
    ['help mvoes', 'Did you mean `/infra moves`?'],
  ])('says what it does not understand: %j', async (text, words) => {
    expect((await answerTo(text)).text).toContain(words)
  })
})
