import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { createKeys } from '../../src/redis/key-names.ts'
import { type Authenticator, createAuthenticator } from '../given/authenticator.ts'
import { systemEnvironment } from './programs.ts'
import { addressOf, readBody, sendJson } from './slack/http.ts'
import { type Json, objectOf, parseJson, stringOf } from './slack/json.ts'

const virtualAuthenticator = readFileSync(new URL('./virtual-authenticator.html', import.meta.url), 'utf8')
const libraryOfPage = /<script nonce="([^"]+)" src="[^"]+"><\/script>/

/**
 * Serves the bot's page for passkeys at the port of the sandbox's page, so that one port is enough for browsers, and adds a virtual
 * authenticator to it. `publicUrl`: `http://localhost:<port>`, the only host without TLS that browsers take passkeys of.
 */
export function serveConfirmation(botUrl: string, publicUrl: () => string) {
  const devices = new Map<string, Authenticator>()

  /** Does what the browser and the device do. `known`: the ids of the passkeys that Lockkeeper excludes or allows. */
  function useDevice({ device, creates, challenge, known }: Json): Json {
    const ids = Array.isArray(known) ? known.map((id) => `${device}/${id}`) : []
    const own = ids.map((id) => devices.get(id)).find((each) => each !== undefined)
    if (creates === true && own) return { error: 'InvalidStateError' }
    if (creates !== true) return own ? { answer: own.get(stringOf(challenge)) } : { error: 'NotAllowedError' }
    const made = createAuthenticator({ origin: publicUrl(), rpId: 'localhost' })
    devices.set(`${device}/${made.id}`, made)
    return { answer: made.create(stringOf(challenge)) }
  }

  async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers, url } = request
    const { origin, 'content-type': type } = headers
    const body = method === 'POST' ? await readBody(request) : undefined
    const sent = { ...(origin && { origin }), ...(type && { 'content-type': type }) }
    const answer = await fetch(`${botUrl}${url}`, { method, headers: sent, ...(body !== undefined && { body }) })
    const content = (await answer.text()).replace(
      libraryOfPage,
      (script, nonce: string) => `${script}\n${virtualAuthenticator.replaceAll('{{nonce}}', nonce)}`,
    )
    const { 'content-length': _, ...rest } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, rest).end(content)
  }

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { pathname } = addressOf(request)
    const isOfDevice = pathname === '/sandbox/authenticator'
    if (!isOfDevice && !pathname.startsWith('/passkeys')) return false
    const answering = isOfDevice
      ? readBody(request).then((body) => sendJson(response, 200, useDevice(objectOf(parseJson(body)))))
      : relay(request, response)
    answering.catch((error: Error) => sendJson(response, 502, { error: error.message }))
    return true
  }
}

/** Does what an operator does on the server, with the newest code that a page shows. Returns the command and what it printed. */
export async function trustNewest(variables: { REDIS_URL: string; REDIS_PREFIX: string }): Promise<string> {
  const redis = new Redis(variables.REDIS_URL)
  const names = await redis.keys(createKeys(variables.REDIS_PREFIX).ofPasskey('passkey-pending', '*'))
  const left = await Promise.all(names.map(async (name) => ({ name, ms: await redis.pttl(name) })))
  redis.disconnect()
  const newest = left.sort((a, b) => b.ms - a.ms)[0]
  if (!newest) return 'No page shows a code. As Ben, type /infra passkeys and press Add a passkey. Later ones are approved in #ops.'
  const code = newest.name.slice(newest.name.lastIndexOf(':') + 1)
  const program = fileURLToPath(new URL('../../src/features/passkeys/trust.ts', import.meta.url))
  const printed = await new Promise<string>((resolve) => {
    const env = { ...systemEnvironment(), ...variables }
    execFile(process.execPath, [program, 'trust', code, '--yes'], { env }, (_, output, errors) => resolve(`${output}${errors}`))
  })
  return `npm run passkeys -- trust ${code}\n${printed}`
}
