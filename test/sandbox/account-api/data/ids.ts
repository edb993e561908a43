import { createHash } from 'node:crypto'

/** Ids that look like the real ones and are the same in every run: `sv_b51c90e27f`. */
export function idOf(prefix: string, name: string): string {
  return `${prefix}_${createHash('sha256').update(`${prefix}:${name}`).digest('hex').slice(0, 10)}`
}

export function day(text: string): number {
  return Date.parse(`${text}T09:30:00Z`)
}
