import type { Place, Seen } from './api.ts'
import type { Names } from './inline.ts'

/** The place of blocks, and what their rendering needs from it. */
export interface Surface {
  /** Unique on the page. Names the form of this message or view. */
  key: string
  place: Place
  names: Names
  /** Is sent with every press. */
  seen: Seen
  /** Messages under inputs, by block id. */
  errors?: Record<string, string>
}

/** Returns a document id that ties a label, a hint or a list to an element of this surface. */
export function domId(surface: Surface, ...parts: (string | undefined)[]): string {
  return ['at', surface.key, ...parts].join('-').replace(/[^\w-]/g, '_')
}
