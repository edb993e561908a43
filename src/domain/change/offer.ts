import { z } from 'zod'

/** The kinds of things on the account that can be looked up. */
export type ThingKind = 'elastic-ip' | 'server' | 'virtual-machine'

/** A button that opens the filled form of a change for a thing of this kind. */
export interface Offer {
  of: ThingKind
  /** `Move…` */
  label: string
  /** The id of the button. Its value is an `OfferedThing`. */
  actionId: string
}

/** The thing that a button offers to change, and the server that was named beside it, if there was exactly one. */
export const OfferedThing = z.object({ version: z.literal(1), id: z.string(), serverId: z.string().optional() })
export type OfferedThing = z.infer<typeof OfferedThing>
