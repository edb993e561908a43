import { isIP } from 'node:net'

/** Splits what was typed at commas and white space, and tells the parts that are neither an address nor a CIDR range. Pure. */
export function parseAllowedAddresses(typed: string): { addresses: string[]; wrong: string[] } {
  const parts = [...new Set(typed.split(/[\s,;]+/).filter((part) => part !== ''))]
  return { addresses: parts.filter(isAddressOrRange), wrong: parts.filter((part) => !isAddressOrRange(part)) }
}

/** `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`. A range of everything is none: leave the list empty for that. */
function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}
