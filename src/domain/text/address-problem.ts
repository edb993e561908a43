import { isIP } from 'node:net'
import { hostnameProblem } from './hostname.ts'

/** Numbers with dots between them, of which the last may have letters: `203.0.113.1O`. */
const likeIpv4 = /^\d+(\.\d*){2,}$|^(\d+\.){3}\d\w*$/

/** At least two colons, which no name of a server has. */
const likeIpv6 = /^[\da-z.]*(:[\da-z.]*){2,}$/i

/**
 * Says what is wrong with a text that plainly tries to be an IP address, with or without a prefix: `isn't an IP address: 999 is more than
 * 255.` Undefined for an address, and for any other text.
 */
export function addressProblem(text: string): string | undefined {
  const [address = '', ...prefixes] = text.split('/')
  const version = likeIpv4.test(address) ? 4 : likeIpv6.test(address) ? 6 : undefined
  if (version === undefined) return undefined
  const problem = (version === 4 ? ipv4Problem(address) : ipv6Problem(address)) ?? prefixProblem(prefixes, version)
  return problem === undefined ? undefined : `isn't an IP address: ${problem}.`
}

/** Says the same of a text that names a server, and what is wrong with one that plainly tries to be a hostname, because it has a dot. */
export function serverNameProblem(text: string): string | undefined {
  const problem = text.includes('.') ? hostnameProblem(text) : undefined
  return addressProblem(text) ?? (problem === undefined || isIP(text) !== 0 ? undefined : `isn't a hostname. ${problem}`)
}

function ipv4Problem(address: string): string | undefined {
  const parts = address.split('.')
  if (parts.includes('')) return 'a number is missing'
  if (parts.length !== 4) return `an IPv4 address has 4 numbers, and this one has ${parts.length}`
  const odd = parts.find((part) => !/^\d+$/.test(part))
  if (odd !== undefined) return `${odd} isn't a number`
  const large = parts.find((part) => Number(part) > 255)
  if (large !== undefined) return `${large} is more than 255`
  const padded = parts.find((part) => /^0\d/.test(part))
  return padded === undefined ? undefined : `${padded} begins with a zero`
}

function ipv6Problem(address: string): string | undefined {
  if (isIP(address) === 6) return undefined
  const groups = address.split(':')
  const odd = groups.find((group) => /[^\da-f.]/i.test(group))
  if (odd !== undefined) return `${odd} has other characters than 0 to 9 and a to f`
  const long = groups.find((group) => group.length > 4 && !group.includes('.'))
  if (long !== undefined) return `${long} has more than 4 digits`
  if (address.split('::').length > 2) return ':: stands in it more than once'
  const count = groups.filter((group) => group !== '').length
  return count === 8 ? 'it has a colon too many' : `an IPv6 address has 8 groups, and this one has ${count}`
}

function prefixProblem([prefix, ...others]: string[], version: 4 | 6): string | undefined {
  if (prefix === undefined) return undefined
  if (others.length > 0) return 'it has more than one slash'
  const longest = version === 4 ? 32 : 128
  if (!/^\d+$/.test(prefix)) return `/${prefix} isn't the length of a prefix`
  return Number(prefix) > longest ? `/${prefix} is longer than /${longest}` : undefined
}
