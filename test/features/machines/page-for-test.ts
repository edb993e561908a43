import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { findOrInstall } from '../../sandbox/programs.ts'
import { token } from './machines-world.ts'

const page = readFileSync(new URL('../../../docs/machines.md', import.meta.url), 'utf8')

/** The blocks of YAML of docs/machines.md, by the name of their file in the first line. */
export const filesOfPage = new Map(
  [...page.matchAll(/^( *)```yaml\n *# (\S+)\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', name = '', lines = '']) => [
    name,
    lines.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  ]),
)

/** Runs the lines of a recipe, as a shell of a pipeline does, and returns what they print. */
export async function runRecipe(commands: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: mkdtempSync(join(tmpdir(), 'recipe-')),
    env: { PATH: process.env.PATH, ...env },
  })
  return stdout
}

/** What a load balancer does while the bot behind it is replaced. `lost-answer` and `cut`: the bot has got the request. */
const faults = ['503', 'html-502', 'html-200', 'html-404', 'drop', 'lost-answer', 'cut', '503'] as const
type Fault = (typeof faults)[number]

/** Passes on half of an answer, and ends the connection. */
async function cut(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(answer)
  response.writeHead(answer.statusCode ?? 500, answer.headers)
  response.write(body.slice(0, body.length / 2), () => response.destroy())
}

/** Stands between the recipes and a bot: does `all` of this to the requests of each method, and then passes them on. */
export async function startFailingProxy(target: () => string, all: readonly Fault[] = faults) {
  const left: Record<string, Fault[]> = { GET: [...all], POST: [...all] }
  const server = createServer((request, response) => {
    const fault = left[request.method ?? '']?.shift()
    const html = (status: number) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html><h1>The server is being replaced.</h1></html>')
    if (fault === '503') return void response.writeHead(503, { 'retry-after': '0' }).end()
    if (fault?.startsWith('html-')) return void html(Number(fault.slice('html-'.length)))
    if (fault === 'drop') return void request.socket.destroy()
    const { pathname, search } = new URL(request.url ?? '', 'http://localhost')
    // A wait would hold up what the fault is about.
    const path = fault ? pathname : pathname + search
    const onward = send(`${target()}${path}`, { method: request.method, headers: request.headers }, (answer) => {
      if (fault === 'lost-answer') return void request.socket.destroy()
      if (fault === 'cut') return void cut(answer, response)
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => request.socket.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, left }
}

/** The workflow of deploy/machines, its one step, and the variables of a run. */
export async function readWorkflow(url: string) {
  const advice = 'The workflow of deploy/machines needs jq, as the runners of GitHub have it. Install jq.'
  await findOrInstall({ names: ['jq'], packages: ['jq'], missing: 'There is no jq on this machine.', advice })
  const workflow = readFileSync(new URL('../../../deploy/machines/failover-workflow.yml', import.meta.url), 'utf8')
  const [step] = parse(workflow).jobs.move.steps
  const env = { LOCKKEEPER: url, TOKEN: token, KEY: '1', LINK: 'https://github.com/nimbus/shop/actions/runs/1', PAUSE: '0.1' }
  return { workflow, lines: step.run as string, env }
}
