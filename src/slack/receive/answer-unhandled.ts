import { type Mrkdwn, mrkdwn } from '../text/text.ts'
import { keepForm } from './keep-form.ts'
import { readMetadata } from './metadata.ts'
import { membersOf, type UnhandledPayload } from './read-payload.ts'

/**
 * Makes the acknowledgement of a payload that no listener handled (docs.slack.dev, "Handling user interaction"). A form stays open with an
 * error, a picker gets an empty list, and a command gets a sentence. Everything else is acknowledged with an empty body.
 */
export function acknowledgementFor(unhandled: UnhandledPayload, body: unknown): unknown {
  const { view } = membersOf(body)
  if (unhandled.kind === 'view_submission') return keepForm(view, problemWith('form', unhandled))
  if (unhandled.kind === 'command') return { response_type: 'ephemeral', text: problemWith('command', unhandled).text }
  if (loadsOptions(unhandled.kind, body)) return { options: [] }
  return undefined
}

/**
 * Makes the message that follows the acknowledgement, for clicks and shortcuts: Slack does not show the content of their acknowledgement.
 */
export function followUpFor(unhandled: UnhandledPayload, body: unknown): { responseUrl: string; words: Mrkdwn } | undefined {
  const { response_url: given, view } = membersOf(body)
  const isAnswered = acknowledgementFor(unhandled, body) !== undefined
  if (isAnswered || unhandled.kind === 'dialog_cancellation') return undefined
  const responseUrl = typeof given === 'string' ? given : responseUrlIn(membersOf(view).private_metadata)
  if (responseUrl === undefined) return undefined
  if (unhandled.why !== 'no-listener') return { responseUrl, words: problemWith('click', unhandled) }
  return { responseUrl, words: mrkdwn`Lockkeeper doesn't handle this. Nothing was changed. Use its command instead.` }
}

/**
 * Reads the response URL from a modal's metadata. A modal has no response URL, so its metadata has that of the command or click that opened
 * it.
 */
function responseUrlIn(metadata: unknown): string | undefined {
  return typeof metadata === 'string' ? readMetadata(metadata)?.responseUrl : undefined
}

function problemWith(what: 'form' | 'command' | 'click', { why }: UnhandledPayload): Mrkdwn {
  return why === 'listener-failed'
    ? mrkdwn`Something went wrong with this ${what}. Tell the people who run Lockkeeper. The log has the details.`
    : mrkdwn`Couldn't read this ${what}. Nothing was changed. Try again. If it lasts, tell the people who run Lockkeeper.`
}

/** Whether a payload loads options. Dialogs and attachments, which Lockkeeper does not use, load them with different payloads. */
function loadsOptions(kind: string, body: unknown): boolean {
  if (kind === 'interactive_message') return membersOf(body).actions === undefined
  return kind === 'block_suggestion' || kind === 'dialog_suggestion'
}
