import { z } from 'zod'

/**
 * The workspace, channel and person that a command or click came from, as Slack's ids. Answers quote `command`, the name of the slash
 * command.
 */
export const Origin = z.object({
  teamId: z.string().optional(),
  channelId: z.string(),
  userId: z.string(),
  command: z.string(),
})
export type Origin = z.infer<typeof Origin>

/** Stands for alerts in the `userId` of a requester. Policies name them by the same word. No Slack id has this form. */
export const alertsRequester = 'alerts'

/** Whether a machine requested, and no person. */
export function isMachine({ userId }: Pick<Origin, 'userId'>): boolean {
  return userId === alertsRequester
}
