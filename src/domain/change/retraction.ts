import { z } from 'zod'

/** The reason for making an issued secret worthless. */
export const RetractedBecause = z.enum(['not-shown', 'too-slow'])
export type RetractedBecause = z.infer<typeof RetractedBecause>

/** Each reason as the beginning of a sentence. */
export const retractedBecause: Record<RetractedBecause, string> = {
  'not-shown': "Slack didn't confirm the message with its token",
  'too-slow': 'It took too long to show its token',
}
