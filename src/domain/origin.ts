import { z } from 'zod'

/** Where something was asked, by whom, and with which command name: the answer quotes that name. All ids are Slack's. */
export const Origin = z.object({
  teamId: z.string().optional(),
  channelId: z.string(),
  userId: z.string(),
  command: z.string(),
})
export type Origin = z.infer<typeof Origin>
