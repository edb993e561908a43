import type { Place } from './api.ts'
import type { ModalView } from './block-shapes.ts'
import type { Names } from './inline.ts'

/** Where blocks stand, and what they need to know about it. */
export interface Surface {
  /** Unique on the page; names the form of this message or view. */
  key: string
  place: Place
  names: Names
  /** Of a view: its blocks, whose values go with every press. */
  view?: ModalView
  /** Messages under inputs, by block id. */
  errors?: Record<string, string>
}

/** An id for the document that ties a label, a hint or a list to the element of this surface. */
export function domId(surface: Surface, ...parts: (string | undefined)[]): string {
  return ['at', surface.key, ...parts].join('-').replace(/[^\w-]/g, '_')
}
