import type { KnownBlock } from '@slack/web-api'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { Secret } from '../domain/signing.ts'
import { context, message, modal, wholeSection } from './blocks.ts'
import { type Answer, type Answerable, inEachLayout, sendWithTable, withoutTable } from './interactions.ts'
import { type Mrkdwn, mrkdwn, type Naming, ownWords } from './text.ts'
import { classifyRefusal, type Done, fetchInTime, type Message } from './web-api.ts'

interface AnswerPlace {
  origin: Origin
  responseUrl: string | undefined
  /** Opens a modal with the answer on the Home tab, which has no channel. */
  triggerId?: string
  isClick?: boolean
  /** Whether that message is not for one person alone. It is then never replaced: a modified client can send any button with it. */
  isShared?: boolean
}

export interface TrackedAnswer extends Answer {
  /** Whether the person has an answer, here or elsewhere. */
  given: () => boolean
  interim: (message: Message) => Promise<void>
}

/** The first way that works: the response URL, an ephemeral message, a modal (Home tab only), a direct message. Each also without a table. */
export function answerTo(app: Pick<App, 'slack' | 'errors'>, place: AnswerPlace): TrackedAnswer {
  const { origin, responseUrl, triggerId, isClick = false, isShared = false } = place
  const { messenger, respond } = app.slack
  let isGiven = false
  let interim: Promise<boolean> | undefined
  let subject: Mrkdwn | undefined

  async function say(answer: Answerable, replaces: boolean): Promise<boolean> {
    const said = interim
    interim = undefined
    const replaceOriginal = ((await said) === true && !isClick) || replaces
    const answered = responseUrl ? await sendWithTable(answer, (one) => respond(responseUrl, one, { replaceOriginal })) : undefined
    if (answered?.is === 'sent') return true
    const posted = origin.channelId ? await sendWithTable(answer, (one) => messenger.postEphemeral(origin, one)) : undefined
    if (posted?.is === 'sent') return false
    const shown = !origin.channelId && triggerId ? await messenger.openView(triggerId, asModal(answer)) : undefined
    if (shown?.is === 'opened') return false
    const sent = await sendWithTable(answer, (one) => messenger.post({ channelId: origin.userId }, one))
    const failure = JSON.stringify(answered ?? posted ?? shown ?? sent)
    if (sent.is !== 'sent') app.errors.shownToPerson(new Error(`an answer could not be delivered: ${failure}`), { at: 'answer' })
    return false
  }

  async function give(answer: Answerable, replaces: boolean): Promise<void> {
    isGiven = true
    await say(answer, replaces)
  }

  return {
    ephemeral(answer, { isWhole = false } = {}) {
      const about = isWhole ? undefined : subject
      return give(about ? inEachLayout(answer, ({ blocks }) => message([...wholeSection(about), ...blocks])) : answer, false)
    },
    replace: (page) => give(page, !isShared),
    about: (words) => {
      subject = words
    },
    elsewhere: () => {
      isGiven = true
    },
    given: () => isGiven,
    interim: async (words) => {
      interim = say(words, false)
      await interim
    },
  }
}

function asModal(answer: Answerable) {
  return modal({ title: 'Lockkeeper', close: 'Close', blocks: withoutTable(answer).blocks })
}

/** Lists the allowed origins of response URLs. Slack's are on other hosts than its Web API; those of a stand-in are on the same host. */
export function responseOrigins(apiUrl: URL): string[] {
  return [apiUrl.origin, 'https://hooks.slack.com', 'https://hooks.slack-gov.com']
}

interface ResponderParts {
  allowedOrigins: string[]
  named?: Naming['inAll']
  fetch?: typeof globalThis.fetch
}

/** Five answers within 30 minutes, also where the bot is no member (docs.slack.dev, "Handling user interaction"). Other origins are refused. */
export function createResponder({ allowedOrigins, named = (sent) => sent, fetch = fetchInTime }: ResponderParts) {
  return async (url: string, message: Message, { replaceOriginal = false } = {}): Promise<Done> => {
    if (!URL.canParse(url) || !allowedOrigins.includes(new URL(url).origin)) return { is: 'refused', error: 'foreign_response_url' }
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.timeout(4_000),
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({
          ...named(message),
          response_type: 'ephemeral',
          replace_original: replaceOriginal,
          parse: 'none',
          link_names: false,
        }),
      })
      return resultOf(response.status, await response.text())
    } catch (error) {
      return { is: 'unknown', problem: problemOf(error) }
    }
  }
}
export type Respond = ReturnType<typeof createResponder>

/** What `fetch` fails with has a cause with the code (`ECONNREFUSED`). After a timeout, it is a TimeoutError, without one. */
function problemOf(error: unknown): string {
  const { name, cause } = error as Error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : name
  return /^\w{1,60}$/.test(code) && code !== 'TypeError' ? code : 'no answer'
}

/** Undocumented: the statuses 200, 400, 404 and 500, with the code as text or JSON (bolt-js, issue 377; node-slack-sdk, issue 1627). */
function resultOf(status: number, body: string): Done {
  const code = errorCodeIn(body)
  if (code !== undefined && status !== 429) {
    const failure = classifyRefusal(code)
    if (failure.is === 'refused') return failure
  }
  if (status < 300 && code === undefined) return { is: 'sent' }
  return status >= 500 || status < 300 ? { is: 'unknown', problem: `HTTP status ${status}` } : { is: 'refused', error: `http_${status}` }
}

/** Finds Slack's code in a body such as `invalid_payload` or `{"ok":false,"error":"invalid_blocks"}`. Undefined for `ok` and for anything else. */
function errorCodeIn(body: string): string | undefined {
  const text = body.trim()
  if (/^[a-z]+(_[a-z]+)+$/.test(text)) return text
  const [, error] = /^\{\s*"ok"\s*:\s*false\b.*"error"\s*:\s*"([a-z0-9_]+)"/s.exec(text) ?? []
  return error
}

/** A repeated ephemeral message does no harm: only the same person sees it. */
const maxAttempts = 3

/**
 * Shows a secret once, in answer to a click. No other function sends a token out of this process. The message has no buttons, because a click
 * would send it, and with it the secret, back. `undelivered`: they may have seen it, but it counts as not seen.
 */
export async function showSecret(
  app: App,
  place: { responseUrl: string | undefined; channelId: string; userId: string },
  words: { heading: Mrkdwn; note: Mrkdwn },
  secret: Secret,
): Promise<'shown' | 'undelivered'> {
  // A notification shows the text on a phone and the first blocks on a desktop (docs.slack.dev, changelog of July 13, 2026): neither has the secret.
  const notification = mrkdwn`${words.heading} is in this message, only visible to you.`
  const blocks: KnownBlock[] = [
    ...wholeSection(notification),
    ...wholeSection(ownWords(`\`\`\`${secret.reveal()}\`\`\``)),
    ...context([words.note]),
  ]
  const shown: Message = { blocks, text: notification.text }
  for (let attempt = 0; attempt < maxAttempts && place.responseUrl; attempt += 1) {
    const answered = await app.slack.respond(place.responseUrl, shown)
    if (answered.is === 'sent') return 'shown'
    if (answered.is === 'refused') break
  }
  const posted = await app.slack.messenger.postEphemeral(place, shown)
  return posted.is === 'sent' ? 'shown' : 'undelivered'
}
