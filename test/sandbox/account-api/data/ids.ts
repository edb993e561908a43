import { createHash } from 'node:crypto'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Ids as the vendor writes them, the same in every run: a prefix and 13 letters and digits, whose case matters (`eip_KeQbB4BoO6x10`). */
export function idOf(prefix: string, name: string): string {
  const bytes = createHash('sha256').update(`${prefix}:${name}`).digest()
  return `${prefix}_${Array.from(bytes.subarray(0, 13), (byte) => letters[byte % letters.length]).join('')}`
}

export function day(text: string): number {
  return Date.parse(`${text}T09:30:00Z`)
}
