/** The names of characters that are invisible, or are markup, in a message. */
const named: Record<string, string> = {
  ' ': 'a space',
  _: 'an underscore',
  '*': 'an asterisk',
  '`': 'a backtick',
  '~': 'a tilde',
}

/**
 * Returns a sentence that says why a text is not a hostname, or undefined if it is one (RFC 1123, section 2.1). A hostname has at most 253
 * characters. It consists of labels with dots between them. A label has 1 to 63 letters, digits and hyphens, with no hyphen at its ends. A
 * hostname does not have the form of an IPv4 address.
 */
export function hostnameProblem(text: string): string | undefined {
  if (text === '') return 'The new name is empty.'
  if (text.length > 253) return `A hostname has at most 253 characters. This one has ${text.length}.`
  const odd = new Set([...text].filter((character) => !/[A-Za-z0-9.-]/.test(character)).map(nameOf))
  if (odd.size > 0) return `A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has ${listed([...odd])}.`
  const labels = text.split('.')
  if (labels.includes('')) return 'A hostname has letters or digits before, between and after its dots.'
  const long = labels.find((label) => label.length > 63)
  if (long !== undefined) return `Each part of a hostname has at most 63 characters. One part of this one has ${long.length}.`
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return `A hostname${labels.length > 1 ? ', and each part of it,' : ''} begins and ends with a letter or digit, not with a hyphen.`
  }
  if (/^\d+(\.\d+){3}$/.test(text)) return "A hostname can't look like an IP address."
  return undefined
}

function nameOf(character: string): string {
  return named[character] ?? (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) ? `“${character}”` : 'an invisible character')
}

const mostNamed = 3

function listed(names: string[]): string {
  const shown = names.length > mostNamed ? [...names.slice(0, mostNamed), 'others'] : names
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : shown.join('')
}
