import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { addressOf, parseArguments, readBody, sendJson, sendText } from './http.ts'
import { isObject, isYes, type Json, NotDescribed, parseJson, refuseOthers, stringOf } from './json.ts'
import type { FaultPlan } from './slack.ts'
import type { Parts } from './start-slack.ts'
import { createRateLimits } from './state.ts'
import { problemsWithView } from './validate-blocks.ts'
import type { Person, UserGroup } from './workspace.ts'

export class Refusal extends Error {
  override name = 'Refusal'
  readonly answer: Json

  constructor(error: string, more: Json = {}) {
    super(error)
    this.answer = { ok: false, error, ...more }
  }
}

function messagesOf(errors: string[]): Json {
  return { response_metadata: { messages: errors.map((error) => `[ERROR] ${error}`) } }
}

export function invalidArguments(...errors: string[]): Refusal {
  return new Refusal('invalid_arguments', messagesOf(errors))
}

export function invalidBlocks(errors: string[]): Refusal {
  return new Refusal('invalid_blocks', { errors, ...messagesOf(errors) })
}

export type Stores = Pick<Parts, 'state' | 'directory' | 'messages' | 'views' | 'triggers' | 'app'>

/** A method of the Web API. `run` returns the answer without `ok`, or throws a `Refusal`. */
export interface Method {
  /** The described arguments, except for the token. */
  args: string[]
  /** Any one of these scopes is enough. */
  scopes?: string[]
  /** The scope that these arguments need. Undefined if they do not decide it. */
  scopeFor?(args: Json): string | undefined
  token?: 'bot' | 'app' | 'none'
  run(args: Json): Json
}

export function required(args: Json, ...names: string[]): void {
  const missing = names.filter((name) => stringOf(args[name]) === '' && typeof args[name] !== 'object')
  if (missing.length > 0) throw invalidArguments(...missing.map((name) => `missing required field: ${name}`))
}

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

export interface Answer {
  status: number
  body: Json
  headers?: Record<string, string>
}

/** Returns the answer of a call that may be refused. */
export function answerOf({ notDescribed }: Pick<Parts, 'notDescribed'>, run: () => Json): Json {
  try {
    return { ok: true, ...run() }
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    if (!(error instanceof NotDescribed)) throw error
    notDescribed.push(error.message)
    return { ok: false, error: error.message }
  }
}

interface Call {
  method: string
  /** What a planned fault can be meant for. */
  names: string[]
  args: Json
  answer(): Answer
}

/** Answers a call of the bot, or does what a planned fault says instead. */
export async function serveCall(
  { state, faults, record }: Pick<Parts, 'state' | 'faults' | 'record'>,
  { method, names, args, answer }: Call,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const fault = faults.take(names, args)
  const recordAnswer = (status: number, result: Json) => record({ at: state.now(), method, args, status, result, fault: fault?.kind })
  if (fault?.kind === 'delay') await wait(fault.delayMs ?? 1000)
  if (fault?.kind === 'status') {
    recordAnswer(fault.status ?? 503, {})
    return sendText(response, fault.status ?? 503, 'upstream connect error')
  }
  const isLost = fault?.kind === 'drop-before' || fault?.kind === 'drop-after'
  const { status, body, headers } = fault?.kind === 'drop-before' ? { status: 0, body: {} } : (faulty(fault) ?? answer())
  recordAnswer(isLost ? 0 : status, body)
  if (isLost) request.socket.destroy()
  else sendJson(response, status, body, headers)
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
export function serveWebApi(parts: Parts, methods: Record<string, Method>) {
  const { state, app } = parts
  const { tokens, scopes } = app
  const limits = createRateLimits(state.now)

  function checkToken(method: Method, token: string, args: Json): void {
    if (method.token === 'none') return
    if (app.revokedWith !== null) throw new Refusal(app.revokedWith)
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
    let retryAfter: number | undefined
    const body = answerOf(parts, () => {
      if (method === undefined) throw new NotDescribed(`the method ${name}`)
      refuseOthers(args, method.args, `as an argument of ${name}`)
      checkToken(method, token, args)
      retryAfter = app.limits ? limits.retryAfter(name, args) : undefined
      return retryAfter === undefined ? method.run(args) : {}
    })
    if (retryAfter !== undefined) return tooMany(retryAfter)
    const isKnown = token === tokens.bot || token === tokens.app
    return { status: 200, body, ...(isKnown && { headers: { 'x-oauth-scopes': scopes.join(',') } }) }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('date', new Date(state.now() + app.clockSkewMs).toUTCString())
    const url = addressOf(request)
    const name = url.pathname.replace(/^\/api\//, '')
    const body = await readBody(request)
    const sent = parseArguments(request.headers['content-type'] ?? '', body)
    if (sent === undefined) return sendJson(response, 200, { ok: false, error: 'invalid_post_type' })

    const { token: tokenArgument, ...rest } = { ...Object.fromEntries(url.searchParams), ...sent } as Json
    const args = opened(rest)
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? stringOf(tokenArgument)
    await serveCall(parts, { method: name, names: [name, '*'], args, answer: () => answer(name, token, args) }, request, response)
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

/** The methods about the app itself. `socketUrl` makes a WebSocket URL that works once. */
export function appMethods({ directory }: Stores, socketUrl: () => string): Record<string, Method> {
  const { bot, team } = directory
  return {
    'api.test': { token: 'none', args: [], run: () => ({}) },

    'auth.test': {
      args: [],
      run: () => ({
        url: `https://${team.domain}.slack.com/`,
        team: team.name,
        user: bot.handle,
        team_id: team.id,
        user_id: bot.userId,
        bot_id: bot.botId,
        is_enterprise_install: false,
      }),
    },

    'apps.connections.open': { token: 'app', args: [], run: () => ({ url: socketUrl() }) },
  }
}

export function peopleMethods({ directory }: Stores): Record<string, Method> {
  const { team, bot, workspace } = directory

  function toSlackUser(person: Person): Json {
    return {
      id: person.id,
      team_id: person.teamId ?? team.id,
      name: person.handle,
      deleted: person.deleted ?? false,
      real_name: person.name,
      tz: workspace.zone ?? 'Europe/Berlin',
      tz_offset: 3600,
      profile: { title: person.title ?? '', real_name: person.name, display_name: person.handle, team: person.teamId ?? team.id },
      is_restricted: person.isRestricted ?? false,
      is_ultra_restricted: person.isUltraRestricted ?? false,
      is_bot: person.isBot ?? false,
      // Absent for the people of this workspace.
      is_stranger: person.isStranger,
    }
  }

  function toSlackGroup({ id, name, handle, disabled }: UserGroup): Json {
    return { id, team_id: team.id, is_usergroup: true, name, handle, is_external: false, date_delete: disabled ? 1_760_000_000 : 0 }
  }

  return {
    'users.info': {
      args: ['user'],
      scopes: ['users:read'],
      run(args) {
        required(args, 'user')
        const person = directory.findPerson(stringOf(args.user))
        if (person === undefined) throw new Refusal('user_not_found')
        return { user: toSlackUser(person) }
      },
    },

    'users.list': {
      args: ['limit', 'cursor'],
      scopes: ['users:read'],
      run(args) {
        const all = [...workspace.people.map(toSlackUser), toSlackUser(directory.person(bot.userId))]
        const from = Number(args.cursor ?? 0)
        const to = from + Number(args.limit ?? all.length)
        return { members: all.slice(from, to), response_metadata: { next_cursor: to < all.length ? String(to) : '' } }
      },
    },

    'usergroups.list': {
      scopes: ['usergroups:read'],
      args: ['include_disabled'],
      run: (args) => ({
        usergroups: workspace.userGroups.filter((group) => isYes(args.include_disabled) || !group.disabled).map(toSlackGroup),
      }),
    },

    'usergroups.users.list': {
      args: ['usergroup', 'include_disabled'],
      scopes: ['usergroups:read'],
      run(args) {
        required(args, 'usergroup')
        const group = directory.userGroup(stringOf(args.usergroup))
        if (group === undefined) throw new Refusal('no_such_subteam')
        return { users: group.disabled && !isYes(args.include_disabled) ? [] : [...group.members] }
      },
    },
  }
}

const largestView = 250_000

export function viewMethods({ directory, views, triggers }: Stores): Record<string, Method> {
  function viewOf(args: Json, surface: 'modal' | 'home'): Json {
    required(args, 'view')
    const { view } = args
    if (!isObject(view)) throw invalidArguments('must be a valid view [json-pointer:/view]')
    if (JSON.stringify(view).length > largestView) throw new Refusal('view_too_large')
    const problems = problemsWithView(view, surface)
    if (problems.length > 0) throw invalidArguments(...problems)
    return view
  }

  return {
    'views.open': {
      args: ['trigger_id', 'view'],
      run(args) {
        const view = viewOf(args, 'modal')
        required(args, 'trigger_id')
        const trigger = triggers.exchange(stringOf(args.trigger_id))
        if ('error' in trigger) throw new Refusal(trigger.error)
        return { view: views.toSlack(views.open(trigger.userId, view, trigger.channel)) }
      },
    },

    'views.update': {
      args: ['view_id', 'view'],
      run(args) {
        const stored = views.find(stringOf(args.view_id))
        if (stored === undefined) throw new Refusal('not_found')
        views.update(stored, viewOf(args, 'modal'))
        return { view: views.toSlack(stored) }
      },
    },

    'views.publish': {
      args: ['user_id', 'view'],
      run(args) {
        required(args, 'user_id')
        const userId = stringOf(args.user_id)
        if (directory.findPerson(userId) === undefined) throw new Refusal('user_not_found')
        return { view: views.toSlack(views.publish(userId, viewOf(args, 'home'))) }
      },
    },
  }
}
