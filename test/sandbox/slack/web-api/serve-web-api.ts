import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { FaultBox } from '../faults.ts'
import { addressOf, parseArguments, readBody, sendJson, sendText } from '../http.ts'
import { type Json, parseJson, stringOf } from '../json.ts'
import { createRateLimits } from '../rate-limits.ts'
import { NotDescribed, refuseOthers } from '../schema.ts'
import type { FaultPlan, JournalEntry } from '../slack.ts'
import type { Method, Stores } from './method.ts'
import { Refusal } from './refusal.ts'

/** The scopes of the token, unless a test says otherwise: those of the bot's manifest. */
export const usualScopes = [
  'commands',
  'chat:write',
  'users:read',
  'usergroups:read',
  'channels:read',
  'groups:read',
  'channels:history',
  'groups:history',
]

export interface WebApiOptions {
  stores: Stores
  methods: Record<string, Method>
  tokens: { bot: string; app: string }
  scopes: string[]
  limits: boolean
  /** How far Slack's clock, in its `Date` header, is ahead of this machine. */
  clockSkewMs: number
  faults: FaultBox
  record: (entry: JournalEntry) => void
  notDescribed: string[]
  /** Returns the error of every call while the app is revoked. */
  revoked: () => string | null
}

interface Answer {
  status: number
  body: Json
  headers?: Record<string, string>
}

/** Arguments that are JSON strings in a form. What cannot be parsed stays a string, and the method reports it. */
const jsonArguments = new Set(['blocks', 'view', 'metadata'])

function opened(args: Json): Json {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const parsed = jsonArguments.has(name) && typeof value === 'string' ? parseJson(value) : undefined
      return [name, parsed ?? value]
    }),
  )
}

/** Serves Slack's Web API at `/api/<method>`: tokens, scopes, limits and faults around the methods. */
export function serveWebApi(options: WebApiOptions) {
  const { stores, methods, tokens, scopes, faults } = options
  const limits = createRateLimits(stores.state.now)

  function checkToken(method: Method, token: string, args: Json): void {
    if (method.token === 'none') return
    const revoked = options.revoked()
    if (revoked !== null) throw new Refusal(revoked)
    if (token === '') throw new Refusal('not_authed')
    if (token !== tokens.bot && token !== tokens.app) throw new Refusal('invalid_auth')
    if (token !== tokens[method.token ?? 'bot']) throw new Refusal('not_allowed_token_type')
    const exact = method.scopeFor?.(args)
    const enough = exact === undefined ? method.scopes : [exact]
    if (enough && !enough.some((scope) => scopes.includes(scope))) {
      throw new Refusal('missing_scope', { needed: enough[0], provided: scopes.join(',') })
    }
  }

  function answer(name: string, token: string, args: Json): Answer {
    const method = methods[name]
    const headers = {
      'x-oauth-scopes': scopes.join(','),
      ...(method?.scopes ? { 'x-accepted-oauth-scopes': method.scopes.join(',') } : {}),
    }
    try {
      if (method === undefined) throw new NotDescribed(`the method ${name}`)
      refuseOthers(args, method.args, `as an argument of ${name}`)
      checkToken(method, token, args)
      const retryAfter = options.limits ? limits.retryAfter(name, args) : undefined
      if (retryAfter !== undefined) return tooMany(retryAfter)
      return { status: 200, body: { ok: true, ...method.run(args) }, headers }
    } catch (error) {
      if (error instanceof NotDescribed) {
        options.notDescribed.push(error.message)
        return { status: 200, body: { ok: false, error: error.message } }
      }
      if (!(error instanceof Refusal)) throw error
      const known = token === tokens.bot || token === tokens.app
      return { status: 200, body: error.answer, ...(known ? { headers } : {}) }
    }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('date', new Date(stores.state.now() + options.clockSkewMs).toUTCString())
    const url = addressOf(request)
    const name = url.pathname.replace(/^\/api\//, '')
    const body = await readBody(request)
    const sent = parseArguments(request.headers['content-type'] ?? '', body)
    if (sent === undefined) return sendJson(response, 200, { ok: false, error: 'invalid_post_type' })

    const { token: tokenArgument, ...rest } = { ...Object.fromEntries(url.searchParams), ...sent } as Json
    const args = opened(rest)
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? stringOf(tokenArgument)
    const record = (status: number, result: Json, fault?: FaultPlan) =>
      options.record({ at: stores.state.now(), method: name, args, status, result, ...(fault ? { fault: fault.kind } : {}) })

    const fault = faults.take([name, '*'], args)
    if (fault?.kind === 'drop-before') {
      record(0, {}, fault)
      request.socket.destroy()
      return
    }
    if (fault?.kind === 'status') {
      record(fault.status ?? 503, {}, fault)
      return sendText(response, fault.status ?? 503, fault.body ?? 'upstream connect error')
    }
    if (fault?.kind === 'delay') await wait(fault.delayMs ?? 1000)

    const result = faulty(fault) ?? answer(name, token, args)
    record(fault?.kind === 'drop-after' ? 0 : result.status, result.body, fault)
    if (fault?.kind === 'drop-after') request.socket.destroy()
    else sendJson(response, result.status, result.body, result.headers)
  }
}

function tooMany(seconds: number): Answer {
  return { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': String(seconds) } }
}

function faulty(fault: FaultPlan | undefined): Answer | undefined {
  if (fault?.kind === '429') return tooMany(fault.retryAfter ?? 1)
  if (fault?.kind === 'error') return { status: 200, body: { ok: false, error: fault.error ?? 'internal_error' } }
  return undefined
}
