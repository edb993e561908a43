import { z } from 'zod'

/** The reason for making an issued secret worthless. */
export const RetractedBecause = z.enum(['not-shown', 'too-slow'])
export type RetractedBecause = z.infer<typeof RetractedBecause>

/** Each reason as a clause. */
export const retractedBecause: Record<RetractedBecause, string> = {
  'not-shown': 'Slack did not confirm the message that shows its token',
  'too-slow': 'that took so long that its token could not be shown any more',
}
