import { readMetadata, writeMetadata } from '../../../slack/receive/metadata.ts'

/** What identifies the change in a form: the values of its fields, such as both servers. */
type Choice = (string | undefined)[]

/** The purpose of a form. `isOther`: the person chose another change than the one that an earlier request filled in. */
export interface Purpose {
  title: string
  isOther: boolean
}

/** Returns the title of a form. A form that was opened to undo a request has another one only while its fields still do that. */
export function purposeOf(metadata: string, choice: Choice, usualTitle: string): Purpose {
  const { filled } = readMetadata(metadata) ?? {}
  const isOther = filled !== undefined && filled.choice !== textOf(choice)
  return { title: (isOther ? undefined : filled?.title) ?? usualTitle, isOther }
}

/** Notes in the metadata of a form what an earlier request filled in, and what the form is called while that stays. */
export function withPurpose(metadata: string, choice: Choice, title: string | undefined): string {
  const known = readMetadata(metadata)
  if (!known?.undoes && !known?.repeats) return metadata
  return writeMetadata({ ...known, filled: { choice: textOf(choice), ...(title === undefined ? {} : { title }) } })
}

/** No value contains a line break. */
function textOf(choice: Choice): string {
  return choice.map((value) => value ?? '').join('\n')
}
