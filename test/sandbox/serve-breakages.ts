import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Breakage } from './breakage.ts'
import { addressOf, readBody, sendJson } from './slack/http.ts'
import { type Json, objectOf, parseJson } from './slack/json.ts'

const path = '/sandbox/breakages'

/**
 * Creates the routes of the page's drawer: `GET` lists what can be broken, `POST` with `{ id, on }` turns a switch, and with `{ id }` runs
 * an act. Returns whether it handles the request, as `serve` of the stand-in Slack expects.
 */
export function serveBreakages(breakages: () => Breakage[]) {
  async function answer(request: IncomingMessage): Promise<Json> {
    if (request.method === 'GET') return { breakages: breakages().map(shown) }
    const { id, on } = objectOf(parseJson(await readBody(request)))
    const breakage = breakages().find((one) => one.id === id)
    if (!breakage) throw new Error(`There is nothing called "${String(id)}" to break.`)
    const said = breakage.kind === 'act' ? await breakage.run() : await breakage.turn(on === true)
    return { breakages: breakages().map(shown), ...(said ? { said } : {}) }
  }

  return function serve(request: IncomingMessage, response: ServerResponse): boolean {
    if (addressOf(request).pathname !== path) return false
    answer(request).then(
      (body) => sendJson(response, 200, { ok: true, ...body }),
      (error: unknown) => sendJson(response, 200, { ok: false, error: error instanceof Error ? error.message : String(error) }),
    )
    return true
  }
}

function shown(breakage: Breakage): Json {
  const { id, name, effect, kind } = breakage
  return { id, name, effect, ...(breakage.kind === 'switch' ? { kind, isOn: breakage.isOn() } : { kind, verb: breakage.verb }) }
}
