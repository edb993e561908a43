import { z } from 'zod'
import { readJson } from '../../receive/metadata.ts'

/** The value of a button that opens a form: the slash command's name, which Slack does not send with a click. */
const FormButton = z.object({ version: z.literal(1), command: z.string().regex(/^\/\S{1,32}$/) })

export function formButtonValue(command: string): string {
  return JSON.stringify({ version: 1, command } satisfies z.infer<typeof FormButton>)
}

/** Returns the name of the slash command. Undefined for a value that this version of Lockkeeper did not write. */
export function readFormButton(value: string): string | undefined {
  return readJson(FormButton, value)?.command
}
