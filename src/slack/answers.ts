import type { KnownBlock } from '@slack/web-api'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { Secret } from '../domain/signing.ts'
import { context, modal, wholeSection, withSubject } from './blocks.ts'
import { type Answerable, type ClickAnswer, hasTable, inEachLayout, sendWithTable } from './interactions.ts'
import { type Mrkdwn, mrkdwn, type Naming, ownWords } from './text.ts'
import { classifyRefusal, type Done, type Message } from './web-api.ts'

interface AnswerPlace {
  origin: Origin
  responseUrl: string | undefined
  /** Opens a modal with the answer on the Home tab, which has no channel. */
  triggerId?: string
  /** Whether the response URL belongs to a message that was clicked. */
  isClick?: boolean
  /** Whether that message is not for one person alone. It is then never replaced: a modified client can send any button with it. */
  isShared?: boolean
}

export interface TrackedAnswer extends ClickAnswer {
  /** Whether the person has an answer, here or elsewhere. */
  given: () => boolean
  interim: (message: Message) => Promise<void>
}

/**
 * Answers a person in the first way that works: through the response URL, as an ephemeral message in the channel, in a modal (on the Home
 * tab only), or as a direct message. Where Slack refuses a table, the same way is tried without it.
 */
export function answerTo(app: Pick<App, 'slack' | 'errors'>, place: AnswerPlace): TrackedAnswer {
  const { origin, responseUrl, triggerId, isClick = false, isShared = false } = place
  const { messenger, respond } = app.slack
  let isGiven = false
  let interim: Promise<boolean> | undefined
  let subject: Mrkdwn | undefined

  async function takeInterim(): Promise<boolean> {
    const saying = interim
    interim = undefined
    return (await saying) === true && !isClick
  }

  async function say(answer: Answerable, replaces: boolean): Promise<boolean> {
    const replaceOriginal = (await takeInterim()) || replaces
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

  function named(answer: Answerable): Answerable {
    const about = subject
    return about ? inEachLayout(answer, (message) => withSubject(about, message)) : answer
  }

  return {
    ephemeral: (answer, { isWhole = false } = {}) => give(isWhole ? answer : named(answer), false),
    replace: (message) => give(message, !isShared),
    about: (words) => {
      subject = words
    },
    elsewhere: () => {
      isGiven = true
    },
    given: () => isGiven,
    interim: async (message) => {
      interim = say(message, false)
      await interim
    },
  }
}

function asModal(answer: Answerable) {
  const { blocks } = hasTable(answer) ? answer.instead : answer
  return modal({ title: 'Lockkeeper', close: 'Close', blocks })
}

interface RespondOptions {
  /** Replaces the message that was clicked, or the interim answer to a command. Otherwise an ephemeral message is added. */
  replaceOriginal?: boolean
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

/**
 * Creates the function that answers through a `response_url`. Slack takes five answers within 30 minutes, also in channels where the bot is
 * not a member (docs.slack.dev, "Handling user interaction"). A URL of another origin than those allowed is refused.
 */
export function createResponder({ allowedOrigins, named = (sent) => sent, fetch = globalThis.fetch }: ResponderParts) {
  return async (url: string, message: Message, { replaceOriginal = false }: RespondOptions = {}): Promise<Done> => {
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
      return { is: 'unknown', problem: error instanceof Error ? error.name : 'no answer' }
    }
  }
}
export type Respond = ReturnType<typeof createResponder>

/**
 * Reads the result of an answer. Slack documents no codes for it: errors came with the statuses 200, 400, 404 and 500, and the code as text or
 * in JSON (bolt-js, issue 377; node-slack-sdk, issue 1627).
 */
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

interface SecretPlace {
  responseUrl: string | undefined
  channelId: string
  userId: string
}

/** A repeated ephemeral message does no harm: only the same person sees it. */
const maxAttempts = 3

/**
 * Shows a secret to one person, once, in answer to their click. No other function sends a token out of this process. The message has no
 * buttons, because a click would send the message, and with it the secret, back. `undelivered`: they may have seen it, but it counts as
 * not seen.
 */
export async function showSecret(
  app: App,
  place: SecretPlace,
  words: { heading: Mrkdwn; note: Mrkdwn },
  secret: Secret,
): Promise<'shown' | 'undelivered'> {
  const blocks: KnownBlock[] = [
    ...wholeSection(words.heading),
    ...wholeSection(ownWords(`\`\`\`${secret.reveal()}\`\`\``)),
    ...context([words.note]),
  ]
  // Notifications show the text, so it must not hold the secret.
  const shown: Message = { blocks, text: mrkdwn`${words.heading} It is in this message, only visible to you.`.text }
  for (let attempt = 0; attempt < maxAttempts && place.responseUrl; attempt += 1) {
    const answered = await app.slack.respond(place.responseUrl, shown)
    if (answered.is === 'sent') return 'shown'
    if (answered.is === 'refused') break
  }
  const posted = await app.slack.messenger.postEphemeral(place, shown)
  return posted.is === 'sent' ? 'shown' : 'undelivered'
}
