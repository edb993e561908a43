import { writeMetadata } from '../receive/payloads.ts'
import type { Command } from './commands.ts'
import type { GateForm } from './form-openers.ts'
import type { FormHandler, SlashCommand } from './handlers.ts'

/** Creates the function that returns what opens the form of an incomplete command. */
export function createOpenForms({ gateForm }: { gateForm: GateForm }) {
  /** Returns undefined if the command is complete or has no form. A form that shows what was named opens only after the authorization. */
  return function formFor({ form, isComplete, need, prepare }: Command, args: string[]): FormHandler<SlashCommand> | undefined {
    if (!form || (isComplete?.(args) ?? args.length > 0)) return undefined
    return {
      form: ({ origin, responseUrl }) =>
        form(writeMetadata({ origin, ...(responseUrl ? { responseUrl } : {}) }), { args, command: origin.command }),
      ...(args.length > 0 ? { reads: true } : {}),
      allow: async ({ origin }) => {
        if (need !== 'read') await gateForm(origin, need)
        prepare?.()
      },
    }
  }
}
