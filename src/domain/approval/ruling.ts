import { z } from 'zod'
import type { Denial } from './denial.ts'

/**
 * The reason why something is allowed. `rule` is the name of the policy rule, if one was needed. `via` is the user id or user group id that
 * the rule names, or `member` (every full member may), `alerts` (alerts may), `requester` (only the requester may) or `no-approval` (the
 * rule needs none).
 */
export const Grant = z.object({ rule: z.string().optional(), via: z.string() })
export type Grant = z.infer<typeof Grant>

export type Ruling = { allowed: true; grant: Grant } | { allowed: false; denial: Denial }

export function allow(grant: Grant): Ruling {
  return { allowed: true, grant }
}

export function deny(denial: Denial): Ruling {
  return { allowed: false, denial }
}
