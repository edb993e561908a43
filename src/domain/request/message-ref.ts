import { z } from 'zod'

const timestamp = z.string().regex(/^\d{1,12}\.\d{1,6}$/)

/** A message in Slack, by its channel and its timestamp. `threadTs`: the first message of its thread, if it is a reply. */
export const MessageRef = z.object({ channelId: z.string().regex(/^[A-Z0-9]{2,30}$/), ts: timestamp, threadTs: timestamp.optional() })
export type MessageRef = z.infer<typeof MessageRef>
