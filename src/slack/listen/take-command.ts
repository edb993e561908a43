import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Origin } from '../../domain/approval/origin.ts'
import type { InteractionHandlers, SlashCommand } from '../commands/handlers.ts'
import { longestCommand, refuseLongCommand } from '../commands/limit-words.ts'
import { parseWords } from '../commands/parse-words.ts'
import { splitReason } from '../commands/split-reason.ts'
import { type CommandPayload, deliveryKey } from '../receive/payloads.ts'
import type { AnswerTo, TrackedAnswer } from './answering.ts'
import { hasToken, refuseToken } from './refuse-tokens.ts'
import type { Serve } from './serve.ts'

interface TakeCommandParts {
  handlers: Pick<InteractionHandlers, 'command' | 'commandNamed'>
  answerTo: AnswerTo
  serve: Serve
}

/** Reads a slash command from its payload and serves it. A command without a trigger id counts as new, not as a duplicate. */
export function createTakeCommand({ handlers, answerTo, serve }: TakeCommandParts) {
  function readText(text: string): { words: string[]; reason?: string } {
    const split = splitReason(text)
    const words = split ? parseWords(split.command) : []
    return split && handlers.commandNamed(words).takesReason ? { words, reason: split.reason } : { words: parseWords(text) }
  }

  return async function takeCommand(payload: z.infer<typeof CommandPayload>, ack: () => Promise<void>): Promise<void> {
    const { trigger_id: triggerId, response_url: responseUrl } = payload
    const refuse = payload.text.length > longestCommand ? refuseLongCommand : hasToken(payload.text) ? refuseToken : undefined
    const { words, reason } = refuse ? { words: [] } : readText(payload.text)
    const origin: Origin = { teamId: payload.team_id, channelId: payload.channel_id, userId: payload.user_id, command: payload.command }
    const command: SlashCommand & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('command', payload.user_id, triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl }),
      responseUrl,
      triggerId,
      reason,
    }
    const { name } = refuse ? { name: 'unknown' } : handlers.commandNamed(words)
    await serve(command, `command ${name}`, ack, refuse ?? handlers.command(words))
  }
}
