import { createHash } from 'node:crypto'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Makes ids like the vendor's, the same in every run: a prefix and 13 case-sensitive letters and digits (`eip_KeQbB4BoO6x10`). */
export function idOf(prefix: string, name: string): string {
  const bytes = createHash('sha256').update(`${prefix}:${name}`).digest()
  return `${prefix}_${Array.from(bytes.subarray(0, 13), (byte) => letters[byte % letters.length]).join('')}`
}

export function day(text: string): number {
  return Date.parse(`${text}T09:30:00Z`)
}
