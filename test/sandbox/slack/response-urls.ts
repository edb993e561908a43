import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Directory } from './directory.ts'
import type { FaultBox } from './faults.ts'
import { addressOf, parseArguments, readBody, sendJson, sendText } from './http.ts'
import { isYes, type Json } from './json.ts'
import type { MessageStore, StoredMessage } from './message-store.ts'
import { NotDescribed, refuseOthers } from './schema.ts'
import type { JournalEntry } from './slack.ts'
import type { State } from './state.ts'
import { contentArguments, contentOf } from './web-api/chat.ts'
import { Refusal } from './web-api/refusal.ts'

const lifeMs = 30 * 60_000
const mostUses = 5

export interface Address {
  channel: string
  userId: string
  /** The message that `replace_original` means: the clicked one, or the first one that the URL of a command made. */
  original?: { ts: string }
}

interface StoredAddress extends Address {
  madeAt: number
  uses: number
}

export interface ResponseUrlOptions {
  baseUrl: () => string
  state: State
  directory: Directory
  messages: MessageStore
  faults: FaultBox
  record: (entry: JournalEntry) => void
  notDescribed: string[]
}

export function refuseOtherThanEphemeral(responseType: unknown): void {
  if (responseType !== undefined && responseType !== 'ephemeral') throw new NotDescribed(`the response type "${String(responseType)}"`)
}

/**
 * Response URLs: five uses within thirty minutes, ephemeral, also where the bot is not a member
 * (docs.slack.dev/interactivity/handling-user-interaction#message_responses).
 */
export function createResponseUrls(options: ResponseUrlOptions) {
  const { state, directory, messages, faults } = options
  const addresses = new Map<string, StoredAddress>()

  function original(address: StoredAddress): StoredMessage {
    const found = address.original && messages.find(address.channel, address.original.ts)
    if (found === undefined) throw new Refusal('message_not_found')
    return found
  }

  function post(address: StoredAddress, args: Json): void {
    const message = messages.post({
      channel: address.channel,
      user: directory.bot.userId,
      ...contentOf(args, state.tables === 'taken'),
      visibleTo: address.userId,
    })
    if (address.original === undefined) address.original = { ts: message.ts }
  }

  function use(address: StoredAddress, args: Json): void {
    const { response_type: kind, replace_original: replaces, ...content } = args
    refuseOtherThanEphemeral(kind)
    refuseOthers(content, contentArguments, 'as an argument of a response address')
    // The URL of a command has no original before its first message.
    if (isYes(replaces) && address.original) messages.replace(original(address), contentOf(content, state.tables === 'taken'))
    else post(address, content)
  }

  function answer(address: StoredAddress | undefined, args: Json | undefined): { status: number; body: Json } {
    if (address === undefined || state.now() - address.madeAt > lifeMs) return { status: 404, body: { ok: false, error: 'expired_url' } }
    if (address.uses >= mostUses) return { status: 404, body: { ok: false, error: 'used_url' } }
    if (args === undefined) return { status: 400, body: { ok: false, error: 'invalid_payload' } }
    try {
      use(address, args)
      address.uses += 1
      return { status: 200, body: { ok: true } }
    } catch (error) {
      if (error instanceof NotDescribed) {
        options.notDescribed.push(error.message)
        return { status: 400, body: { ok: false, error: error.message } }
      }
      if (!(error instanceof Refusal)) throw error
      return { status: error.message === 'message_not_found' ? 404 : 400, body: error.answer }
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = addressOf(request).pathname.replace(/^\/response\//, '')
    const args = parseArguments(request.headers['content-type'] ?? '', await readBody(request))
    const fault = faults.take(['response_url'], args ?? {})
    const record = (status: number, result: Json) =>
      options.record({ at: state.now(), method: 'response_url', args: args ?? {}, status, result, ...(fault ? { fault: fault.kind } : {}) })

    if (fault?.kind === 'delay') await wait(fault.delayMs ?? 1000)
    if (fault?.kind === 'drop-before') {
      record(0, {})
      request.socket.destroy()
      return
    }
    if (fault?.kind === 'status' || fault?.kind === '429' || fault?.kind === 'error') {
      const status = fault.kind === '429' ? 429 : (fault.status ?? (fault.kind === 'error' ? 500 : 503))
      const body = fault.body ?? JSON.stringify({ ok: false, error: fault.error ?? 'internal_error' })
      record(status, {})
      if (fault.kind === '429') response.setHeader('retry-after', String(fault.retryAfter ?? 1))
      return sendText(response, status, body)
    }
    const result = answer(addresses.get(id), args)
    record(fault?.kind === 'drop-after' ? 0 : result.status, result.body)
    if (fault?.kind === 'drop-after') request.socket.destroy()
    else sendJson(response, result.status, result.body)
  }

  return {
    serve,
    issue(address: Address): string {
      const id = randomBytes(18).toString('base64url')
      addresses.set(id, { ...address, madeAt: state.now(), uses: 0 })
      return `${options.baseUrl()}/response/${id}`
    },
    /** The acknowledgement of a command made this message. From now on `replace_original` means it. */
    made(url: string, message: StoredMessage): void {
      const address = addresses.get(url.split('/').at(-1) ?? '')
      if (address) address.original = { ts: message.ts }
    },
  }
}
export type ResponseUrls = ReturnType<typeof createResponseUrls>
