import { isIP } from 'node:net'

/** Splits a text at commas, semicolons and white space. `wrong` are the parts that are neither an address nor a CIDR range. */
export function parseAllowedAddresses(typed: string): { addresses: string[]; wrong: string[] } {
  const parts = [...new Set(typed.split(/[\s,;]+/).filter((part) => part !== ''))]
  return { addresses: parts.filter(isAddressOrRange), wrong: parts.filter((part) => !isAddressOrRange(part)) }
}

/** Accepts `203.0.113.7`, `203.0.113.0/24` and `2001:db8::/32`, but no range of all addresses: an empty list means any address. */
function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}
