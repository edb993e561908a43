import type { ServerResponse } from 'node:http'

export type FaultKind = 'drop-before' | 'drop-after' | 'delay' | 'status' | 'html' | 'truncate' | 'drip' | 'redirect'

/**
 * `drop-before`: the connection breaks and nothing was done. `drop-after`: it is done and the answer is lost. `delay`: waits, then does it.
 * `status`: an answer with this status and body, and nothing was done. `html`, `truncate`, `drip`: it is done, and the answer is useless.
 */
export interface FaultPlan {
  method?: string
  path: RegExp
  kind: FaultKind
  /** How often it happens. Default: 1. */
  times?: number
  delayMs?: number
  status?: number
  body?: unknown
  headers?: Record<string, string>
}

export interface Fault extends FaultPlan {
  readonly fired: number
}

export function createFaults() {
  let faults: { plan: FaultPlan; fired: number }[] = []

  function add(plan: FaultPlan): Fault {
    const entry = { plan, fired: 0 }
    faults.push(entry)
    return {
      ...plan,
      get fired() {
        return entry.fired
      },
    }
  }

  /** The fault for this request, if there is one left. */
  function take(method: string, path: string): FaultPlan | undefined {
    const entry = faults.find(({ plan, fired }) => fired < (plan.times ?? 1) && (plan.method ?? method) === method && plan.path.test(path))
    if (!entry) return undefined
    entry.fired += 1
    return entry.plan
  }

  function clear(): void {
    faults = []
  }

  return { add, take, clear }
}

const html = '<!doctype html><title>502 Bad Gateway</title><h1>502 Bad Gateway</h1>'

/** Answers as the fault wants it, after the request was carried out. */
export async function answerBadly(response: ServerResponse, fault: FaultPlan, body: string): Promise<void> {
  if (fault.kind === 'drop-after') return void response.destroy()
  if (fault.kind === 'html') return void response.writeHead(fault.status ?? 200, { 'content-type': 'text/html' }).end(html)
  if (fault.kind === 'truncate') {
    response.writeHead(200, { 'content-type': 'application/vnd.api+json', 'content-length': Buffer.byteLength(body) })
    response.write(body.slice(0, Math.floor(body.length / 2)))
    setTimeout(() => response.destroy(), 20)
    return
  }
  if (fault.kind === 'redirect') return void response.writeHead(307, { location: 'http://127.0.0.1:9/elsewhere' }).end()
  response.writeHead(200, { 'content-type': 'application/vnd.api+json' })
  for (const character of body) {
    if (response.destroyed) return
    response.write(character)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  response.end()
}
