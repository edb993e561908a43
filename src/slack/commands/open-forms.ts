import type { Requester } from '../../domain/people.ts'
import { Refusal } from '../errors.ts'
import { writeMetadata } from '../receive/payloads.ts'
import { mrkdwn } from '../text/text.ts'
import type { Command, Need } from './commands.ts'
import { readFormButton } from './form-button.ts'
import type { Click, FormHandler, InteractionHandlers, SlashCommand } from './handlers.ts'

interface OpenFormsParts {
  commands: Command[]
  /** Throws a Refusal if the person does not have the right. */
  pass: (origin: SlashCommand['origin'], need: Need) => Promise<Requester | undefined>
}

/** Creates what opens the forms of commands: an incomplete command, or a button of the help. */
export function createOpenForms({ commands, pass }: OpenFormsParts) {
  /** Returns undefined if the command is complete or has no form. A form that shows what was named opens only after the authorization. */
  function formFor(command: Command, args: string[]): FormHandler<SlashCommand> | undefined {
    const { form, isComplete = () => args.length > 0 } = command
    if (!form || isComplete(args)) return undefined
    return {
      form: ({ origin, responseUrl }) => form(metadataOf({ origin, responseUrl }), { args, command: origin.command }),
      ...(args.length > 0 ? { reads: true } : {}),
      allow: ({ origin }) => allow(command, origin),
    }
  }

  function handlerOfButton(command: Command, form: NonNullable<Command['form']>): FormHandler<Click> {
    return {
      form: ({ value, origin, responseUrl }) => {
        const name = readFormButton(value)
        if (name === undefined) throw new Refusal(mrkdwn`This button is out of date. Run the command again.`)
        return form(metadataOf({ origin: { ...origin, command: name }, responseUrl }), { args: [], command: name })
      },
      allow: ({ origin }) => allow(command, origin),
    }
  }

  async function allow({ need, prepare }: Command, origin: SlashCommand['origin']): Promise<void> {
    await pass(origin, need)
    prepare?.()
  }

  const clicks: InteractionHandlers['clicks'] = Object.fromEntries(
    commands.flatMap((command) =>
      command.button && command.form ? [[command.button.actionId, handlerOfButton(command, command.form)]] : [],
    ),
  )

  return { formFor, clicks }
}

function metadataOf({ origin, responseUrl }: Pick<SlashCommand, 'origin' | 'responseUrl'>): string {
  return writeMetadata({ origin, ...(responseUrl ? { responseUrl } : {}) })
}
