import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import { extname } from 'node:path'
import type { Breakage } from './breakages.ts'
import { addressOf, readBody, sendJson } from './slack/http.ts'
import { type Json, objectOf, parseJson } from './slack/json.ts'

const folders = {
  '/page/': new URL('./page/', import.meta.url),
  '/modules/lit-html/': new URL('../../node_modules/lit-html/', import.meta.url),
}

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Creates what serves the page and its drawer. Returns whether it handles the request, as `serve` of the stand-in Slack expects. `breakages`:
 * what the drawer can break.
 */
export function serveSandbox(breakages: () => Breakage[] = () => []) {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (addressOf(request).pathname !== '/sandbox/breakages') return servePage(request, response)
    useBreakages(request, breakages()).then(
      (body) => sendJson(response, 200, { ok: true, ...body }),
      (error: unknown) => sendJson(response, 200, { ok: false, error: error instanceof Error ? error.message : String(error) }),
    )
    return true
  }
}

/** `GET` lists what can be broken, `POST` with `{ id, on }` turns a switch, and with `{ id }` runs an act. */
async function useBreakages(request: IncomingMessage, breakages: Breakage[]): Promise<Json> {
  if (request.method === 'GET') return { breakages }
  const { id, on } = objectOf(parseJson(await readBody(request)))
  const breakage = breakages.find((one) => one.id === id)
  if (!breakage) throw new Error(`There is nothing called "${String(id)}" to break.`)
  const said = breakage.kind === 'act' ? await breakage.run() : await breakage.turn(on === true)
  return { breakages, said }
}

/** Serves the files of the page, TypeScript without its types, and lit-html from `node_modules`. */
function servePage(request: IncomingMessage, response: ServerResponse): boolean {
  const { pathname } = addressOf(request)
  const file = fileOf(pathname === '/' ? '/page/index.html' : pathname)
  if (request.method !== 'GET' || !file) return false
  void send(file, response)
  return true
}

/** The URL parser has resolved every `..`, so the path stays inside the folder. */
function fileOf(pathname: string): URL | undefined {
  for (const [prefix, folder] of Object.entries(folders)) {
    if (!pathname.startsWith(prefix)) continue
    const file = new URL(pathname.slice(prefix.length), folder)
    return file.href.startsWith(folder.href) && extname(file.pathname) in contentTypes ? file : undefined
  }
  return undefined
}

async function send(file: URL, response: ServerResponse): Promise<void> {
  const type = extname(file.pathname)
  const content = await readFile(file, 'utf8').catch(() => undefined)
  if (content === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('Not found')
    return
  }
  response.writeHead(200, {
    'content-type': contentTypes[type],
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(type === '.html' ? { 'content-security-policy': policyFor(content) } : {}),
  })
  response.end(type === '.ts' ? withoutTypes(content) : content)
}

/** Allows only the page's own scripts, whatever a message contains. The import map is the one script inside the document. */
function policyFor(html: string): string {
  const importMap = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(importMap).digest('base64')
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' https: data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    // Two people side by side are two frames of the page itself.
    "frame-src 'self'",
    "frame-ancestors 'self'",
  ].join('; ')
}

/** Node warns once that this function is experimental. In the sandbox that would be the first line for a newcomer. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
