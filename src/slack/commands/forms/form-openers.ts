import type { Button } from '@slack/web-api'
import type { Origin } from '../../../domain/approval/origin.ts'
import { button } from '../../blocks/blocks.ts'
import { outdatedButton, Refusal, toUserWords } from '../../errors.ts'
import { readMetadata } from '../../receive/metadata.ts'
import { type Mrkdwn, mrkdwn } from '../../text/text.ts'
import type { Command } from '../commands.ts'
import type { Click, FormHandler, InteractionHandlers, Shortcut, Submission, SubmissionAnswer } from '../handlers.ts'
import type { GateForm, RuleWithReason } from '../rights.ts'
import { channelBlock, channelForm, channelFormId, chosenChannel } from './channel-form.ts'
import { readFormButton } from './form-button.ts'
import { formMetadata } from './form-metadata.ts'
import { warnIfUnread } from './warn-if-unread.ts'

interface FormOpenersParts {
  commands: Command[]
  /** Checks the channel that a person is in. */
  gateForm: GateForm
  /** Checks a channel that a person chose. */
  gateChosen: GateForm
  ruleWithReason: RuleWithReason
}

type Opened = Command & Required<Pick<Command, 'form' | 'button'>>

/** Makes the buttons that open the forms of these commands, for the Home tab. */
export function formButtons(commands: Command[]): Button[] {
  return commands.filter(isOpened).map(({ button: own, words }) => button({ ...own, value: words }))
}

/**
 * Creates what opens the forms of commands: their buttons and their shortcuts. On the Home tab and in a global shortcut there is no channel,
 * so a form that asks for it comes first.
 */
export function createFormOpeners({
  commands,
  gateForm,
  gateChosen,
  ruleWithReason,
}: FormOpenersParts): Pick<InteractionHandlers, 'clicks' | 'shortcuts' | 'submissions'> {
  const opened = commands.filter(isOpened)

  function opener({ words, form, need, prepare, button: { opens: title } }: Opened): FormHandler<Click | Shortcut> {
    const metadataIn = (origin: Origin, responseUrl: string | undefined) =>
      formMetadata({ origin, responseUrl }, ruleWithReason(need, origin.channelId))
    return {
      form: (interaction) => {
        const origin = namedOrigin(interaction)
        const { responseUrl } = interaction
        const metadata = { origin, ...(responseUrl ? { responseUrl } : {}) }
        return origin.channelId
          ? form(metadataIn(origin, responseUrl), { args: [], command: origin.command })
          : channelForm({ metadata: { ...metadata, extra: words }, title })
      },
      allow: async ({ origin }) => {
        if (origin.channelId && need !== 'read') await gateForm(origin, need)
      },
      fill: async (interaction) => {
        const origin = namedOrigin(interaction)
        // The form of the command follows the one that asks for the channel.
        if (!origin.channelId) return void prepare?.().catch(() => undefined)
        return warnIfUnread({ form, prepare }, metadataIn(origin, interaction.responseUrl), { args: [], command: origin.command })
      },
    }
  }

  /** Replaces the form that asked for the channel by the form of the command, in that channel. */
  async function submitChannel({ metadata, origin, values }: Submission): Promise<SubmissionAnswer> {
    const before = readMetadata(metadata)
    const command = opened.find(({ words }) => words === before?.extra)
    if (!before || !command) throw new Refusal(mrkdwn`This form is out of date. Nothing was done. Open it again.`)
    const channelId = chosenChannel(values)
    const again = (problem: Mrkdwn) => channelForm({ metadata: before, title: command.button.opens, channelId, problem })
    if (!channelId) return { is: 'refused', problems: { [channelBlock]: mrkdwn`Choose a channel.` }, again }
    const there = { ...origin, channelId }
    try {
      if (command.need !== 'read') await gateChosen(there, command.need)
    } catch (error) {
      const problem = toUserWords(error)
      if (!problem) throw error
      return { is: 'refused', problems: { [channelBlock]: problem }, again }
    }
    const written = formMetadata({ origin: there, responseUrl: before.responseUrl }, ruleWithReason(command.need, channelId))
    return { is: 'next', view: await command.form(written, { args: [], command: there.command }) }
  }

  const clicks = opened.map((command) => [command.button.actionId, opener(command)] as const)
  const shortcuts = opened.flatMap((command) => (command.shortcut ? [[command.shortcut, opener(command)] as const] : []))
  return {
    clicks: Object.fromEntries(clicks),
    shortcuts: Object.fromEntries(shortcuts),
    submissions: { [channelFormId]: submitChannel },
  }
}

/** Adds the name of the slash command, which a button of the help carries. The Home tab and shortcuts name the configured one. */
function namedOrigin(interaction: Click | Shortcut): Origin {
  const { origin } = interaction
  if (!('actionId' in interaction) || interaction.onHome) return origin
  const command = readFormButton(interaction.value)
  if (command === undefined) throw new Refusal(outdatedButton)
  return { ...origin, command }
}

function isOpened(command: Command): command is Opened {
  return command.form !== undefined && command.button !== undefined
}
