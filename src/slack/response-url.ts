import type { KnownBlock } from '@slack/web-api'
import type { App } from '../app.ts'
import type { Secret } from '../domain/signing.ts'
import { context, wholeSection } from './blocks.ts'
import { type Mrkdwn, mrkdwn, type Naming, ownWords } from './text.ts'
import { classifyRefusal, type Done, type Message } from './web-api.ts'

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
  /** Adds the names of the configuration. */
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
