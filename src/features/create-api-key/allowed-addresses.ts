import { isIP } from 'node:net'

/** Splits a text at commas, semicolons and white space. `wrong` are the parts that are neither an address nor a CIDR range. */
export function parseAllowedAddresses(typed: string): { addresses: string[]; wrong: string[] } {
  const parts = [...new Set(typed.split(/[\s,;]+/).filter((part) => part !== ''))]
  return { addresses: parts.filter(isAddressOrRange), wrong: parts.filter((part) => !isAddressOrRange(part)) }
}

/** The shortest prefixes. Two ranges with a prefix of 1 are all addresses, and would not be shown as that. */
const shortestPrefix = { 4: 8, 6: 16 } as const

/** Accepts `203.0.113.7`, `203.0.113.0/24` and `2001:db8::/32`, but no range that is much larger: an empty list means any address. */
function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  const [shortest, longest] = version === 4 ? [shortestPrefix[4], 32] : [shortestPrefix[6], 128]
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) >= shortest && Number(prefix) <= longest
}
