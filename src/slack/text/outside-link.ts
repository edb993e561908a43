import { code, type Mrkdwn, mrkdwn, ownWords } from './text.ts'

/** A longer address takes too much room in a message. */
const longestAddress = 1_500

/** Whether an address leads to the host that it appears to. A name before `@` and letters of other scripts can imitate another host. */
export function isPlainAddress(url: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(url) || !URL.canParse(url)) return false
  const { hostname, username, password } = new URL(url)
  return hostname !== '' && username === '' && password === ''
}

/**
 * Links to an address from outside. `text` is Lockkeeper's own, and the host stands beside it, because nobody should follow an address without
 * seeing where it leads. Undefined unless it is an address of http or https without a name and a password in it.
 */
export function outsideLink(address: string | undefined, text: string): Mrkdwn | undefined {
  if (address === undefined || address.length > longestAddress || !/^https?:\/\//i.test(address) || !isPlainAddress(address))
    return undefined
  const url = new URL(address)
  const escaped = url.href
    .replaceAll('&', '&amp;')
    .replaceAll('<', '%3C')
    .replaceAll('>', '%3E')
    .replaceAll('|', '%7C')
    .replaceAll('`', '%60')
  return mrkdwn`${ownWords(`<${escaped}|${text}>`)} (${code(url.host)})`
}
