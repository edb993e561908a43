import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import { extname } from 'node:path'

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
 * Serves the page: its files as they are, TypeScript without its types, lit-html from `node_modules`. Answers whether it has taken
 * the request, as the stand-in Slack's `serve` wants it.
 */
export function servePage(request: IncomingMessage, response: ServerResponse): boolean {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const file = fileOf(pathname === '/' ? '/page/index.html' : pathname)
  if (request.method !== 'GET' || !file) return false
  void send(file, response)
  return true
}

/** A URL's own rules take `..` out of the path, so what is found stays inside the folder. */
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

/** Only the page's own scripts run, whatever a message says; the import map is the one script inside the document. */
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
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Node says once that this function is experimental; here that would be the first thing a newcomer reads. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
