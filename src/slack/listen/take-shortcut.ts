import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Origin } from '../../domain/approval/origin.ts'
import { MessageRef } from '../../domain/request/message-ref.ts'
import { handlerOf, type InteractionHandlers, type Shortcut, type ShortcutMessage } from '../commands/handlers.ts'
import { Refusal } from '../errors.ts'
import { deliveryKey, type GlobalShortcutPayload, type MessageShortcutPayload } from '../receive/payloads.ts'
import { mrkdwn } from '../text/text.ts'
import type { AnswerTo, TrackedAnswer } from './answering.ts'
import type { Serve } from './serve.ts'

type MessagePayload = z.infer<typeof MessageShortcutPayload>
type ShortcutPayload = z.infer<typeof GlobalShortcutPayload> | MessagePayload

interface TakeShortcutParts {
  handlers: Pick<InteractionHandlers, 'shortcuts'>
  answerTo: AnswerTo
  serve: Serve
  /** The slash command that answers name. */
  command: string
}

/** Reads a shortcut from its payload and serves it. A shortcut without any id counts as new, not as a duplicate. */
export function createTakeShortcut({ handlers, answerTo, serve, command }: TakeShortcutParts) {
  return async function takeShortcut(payload: ShortcutPayload, ack: () => Promise<void>): Promise<void> {
    const { callback_id: callbackId, trigger_id: triggerId, user, team } = payload
    const onMessage = payload.type === 'message_action' ? payload : undefined
    const responseUrl = onMessage?.response_url
    const origin: Origin = {
      teamId: team?.id ?? user.team_id,
      channelId: onMessage?.channel.id ?? '',
      userId: user.id,
      command,
    }
    const shortcut: Shortcut & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('shortcut', user.id, callbackId, payload.action_ts || triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl, triggerId }),
      callbackId,
      responseUrl,
      triggerId,
      message: onMessage && messageOf(onMessage),
    }
    await serve(shortcut, `shortcut ${callbackId}`, ack, handlerOf(handlers.shortcuts, callbackId) ?? refuseUnknown)
  }
}

function messageOf({ channel, message }: MessagePayload): ShortcutMessage {
  const { ts, thread_ts: threadTs, text, blocks, attachments } = message
  const isReply = threadTs !== undefined && threadTs !== ts
  const ref = MessageRef.safeParse({ channelId: channel.id, ts, ...(isReply ? { threadTs } : {}) })
  return { ref: ref.data, text, blocks, attachments }
}

async function refuseUnknown(): Promise<void> {
  throw new Refusal(mrkdwn`This shortcut is out of date. Reload Slack, or use Lockkeeper's command instead.`)
}
