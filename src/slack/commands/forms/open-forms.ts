import type { Command } from '../commands.ts'
import type { FormHandler, SlashCommand } from '../handlers.ts'
import type { GateForm, RuleWithReason } from '../rights.ts'
import { formMetadata } from './form-metadata.ts'
import { warnIfUnread } from './warn-if-unread.ts'

interface OpenFormsParts {
  gateForm: GateForm
  ruleWithReason: RuleWithReason
}

/** Creates the function that returns what opens the form of an incomplete command. */
export function createOpenForms({ gateForm, ruleWithReason }: OpenFormsParts) {
  /** Returns undefined if the command is complete or has no form. A form that shows what was named opens only after the authorization. */
  return function formFor({ form, isComplete, need, prepare }: Command, args: string[]): FormHandler<SlashCommand> | undefined {
    if (!form || (isComplete?.(args) ?? args.length > 0)) return undefined
    const metadataOf = (slashCommand: SlashCommand) => formMetadata(slashCommand, ruleWithReason(need, slashCommand.origin.channelId))
    return {
      form: (slashCommand) => form(metadataOf(slashCommand), { args, command: slashCommand.origin.command }),
      ...(args.length > 0 ? { reads: true } : {}),
      allow: async ({ origin }) => {
        if (need !== 'read') await gateForm(origin, need)
      },
      fill: (slashCommand) => warnIfUnread({ form, prepare }, metadataOf(slashCommand), { args, command: slashCommand.origin.command }),
    }
  }
}
