import { keepForm } from './keep-form.ts'
import { readMetadata } from './payloads.ts'
import { membersOf, type Untaken } from './read-payload.ts'
import { type Mrkdwn, mrkdwn } from './text.ts'

/**
 * The body of the acknowledgement of something that no listener took (docs.slack.dev, "Handling user interaction"): a form stays, a
 * picker gets an empty list, a command is answered in words. Everything else takes an empty body. Pure.
 */
export function acknowledgementOf(untaken: Untaken, body: unknown): unknown {
  const { view } = membersOf(body)
  if (untaken.kind === 'view_submission') return keepForm(view, problemWith('form', untaken))
  if (untaken.kind === 'command') return { response_type: 'ephemeral', text: problemWith('command', untaken).text }
  if (loadsOptions(untaken.kind, body)) return { options: [] }
  return undefined
}

/** What the person is told besides, and where: for clicks and the like, which show nothing of their acknowledgement. Pure. */
export function answerTo(untaken: Untaken, body: unknown): { responseUrl: string; words: Mrkdwn } | undefined {
  const { response_url: given, view } = membersOf(body)
  const isAnswered = acknowledgementOf(untaken, body) !== undefined
  if (isAnswered || untaken.kind === 'dialog_cancellation') return undefined
  const responseUrl = typeof given === 'string' ? given : responseUrlIn(membersOf(view).private_metadata)
  if (responseUrl === undefined) return undefined
  if (untaken.why !== 'unheard') return { responseUrl, words: problemWith('click', untaken) }
  return { responseUrl, words: mrkdwn`Lockkeeper doesn't handle this. Nothing was changed. Use its command instead.` }
}

/** Modals have no response address of their own: they carry that of the command or click that opened them. */
function responseUrlIn(metadata: unknown): string | undefined {
  return typeof metadata === 'string' ? readMetadata(metadata)?.responseUrl : undefined
}

function problemWith(what: 'form' | 'command' | 'click', { why }: Untaken): Mrkdwn {
  return why === 'unanswered'
    ? mrkdwn`Something went wrong with this ${what}. The log says what. Tell the people who run Lockkeeper.`
    : mrkdwn`Couldn't read this ${what}. Nothing was changed. Try again; if that doesn't help, tell the people who run Lockkeeper.`
}

/** Dialogs and attachments, which this bot does not use, load the options of their menus in ways of their own. */
function loadsOptions(kind: string, body: unknown): boolean {
  if (kind === 'interactive_message') return membersOf(body).actions === undefined
  return kind === 'block_suggestion' || kind === 'dialog_suggestion'
}
