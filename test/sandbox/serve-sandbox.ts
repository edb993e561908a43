import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Breakage } from './breakage.ts'
import { serveBreakages } from './serve-breakages.ts'
import { servePage } from './serve-page.ts'

/** Creates what serves the page and its drawer, as `serve` of the stand-in Slack expects. */
export function serveSandbox(breakages: () => Breakage[] = () => []) {
  const serveDrawer = serveBreakages(breakages)
  return (request: IncomingMessage, response: ServerResponse): boolean => serveDrawer(request, response) || servePage(request, response)
}
