import { hash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../app.ts'
import { claim } from '../redis/scripts.ts'
import { Refusal } from '../slack/errors.ts'
import type { AssistantRequest } from '../slack/http-receiver.ts'
import { mrkdwn } from '../slack/text.ts'
import { type Caller, countCall, createOperations } from './machine-operations.ts'
import { answerMcp } from './mcp.ts'

/** docs.slack.dev, "Slackbot MCP client": who asked, in what Slack has signed. */
const Identity = z.object({ slack: z.object({ user_id: z.string().regex(/^[UW][A-Z0-9]{2,}$/), team_id: z.string() }) })

const more = {
  channel: z
    .string()
    .regex(/^[CG][A-Z0-9]{2,}$/, { error: 'must be the id of a channel (C…, G…)' })
    .optional()
    .describe('The id of the channel in which people approve it. The person who asked must be a member'),
}

const mostBytes = 65_536

/** Twice as long as Slack's time stamp is accepted, because that may be ahead. */
const onceMs = 11 * 60_000

/** Serves the tools of machines to Slack's own assistant, for the person who asked it. All of it is judged as if they had typed it. */
export function createSlackbot(app: App) {
  const operations = createOperations(app)
  const stopping = new AbortController()

  async function answer({ request, body, response }: AssistantRequest): Promise<void> {
    if (Buffer.byteLength(body) > mostBytes) return void response.writeHead(413, { 'content-length': 0 }).end()
    const isFirst = await accept(request.headers['x-slack-request-timestamp'], body).catch(() => undefined)
    // Slack signs each try separately.
    if (isFirst) return answerMcp(app, { request, body, response }, { operations, callerOf, more, signal: stopping.signal })
    response.writeHead(isFirst === false ? 401 : 503, { 'content-length': 0 }).end()
  }

  /** What is signed is the time and the body, and the header that carries the signature may be written in several ways. */
  async function accept(timestamp: unknown, body: string): Promise<boolean> {
    const key = app.keys.delivery(`slackbot/${hash('sha256', `${Number(timestamp)}:${body}`)}`)
    return (await claim(app.redis, key, { token: randomUUID(), lastsMs: onceMs })) === undefined
  }

  async function callerOf(meta: Record<string, unknown>): Promise<Caller> {
    const { data } = Identity.safeParse(meta)
    const teamId = app.slack.identity.current()?.teamId
    if (!data || data.slack.team_id !== teamId)
      throw new Refusal(mrkdwn`Slack didn't say which member of this workspace asked. Nothing was done. Ask in this workspace's Slackbot.`)
    const caller = { origin: { teamId, channelId: onlyChannel(app) ?? '', userId: data.slack.user_id, command: app.config.slack.command } }
    await countCall(app, caller)
    return caller
  }

  return { answer, stop: () => stopping.abort() }
}

/** If the policy has one channel for everything, nobody has to name it. */
function onlyChannel({ config }: App): string | undefined {
  const channels = config.policy.rules.filter(({ approve }) => approve).map((rule) => rule.channels)
  const [only, ...others] = new Set(channels.flat())
  return others.length === 0 ? only : undefined
}
