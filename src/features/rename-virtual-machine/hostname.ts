/** Characters that do not show, or that mean something else, in a message. */
const named: Record<string, string> = {
  ' ': 'a space',
  _: 'an underscore',
  '*': 'an asterisk',
  '`': 'a backtick',
  '~': 'a tilde',
}

/**
 * Why a text is no hostname, as a sentence; undefined when it is one. RFC 1123, section 2.1: labels of letters, digits and hyphens
 * with dots between them, each of 1 to 63 characters without a hyphen at its ends, 253 together, and never of the form of an address. Pure.
 */
export function hostnameProblem(text: string): string | undefined {
  if (text === '') return 'A hostname is needed, and this is empty.'
  if (text.length > 253) return `A hostname has at most 253 characters, and this has ${text.length}.`
  const odd = [...text].find((character) => !/[A-Za-z0-9.-]/.test(character))
  if (odd !== undefined) return `A hostname has only letters from a to z, digits, hyphens and dots, and this has ${nameOf(odd)}.`
  const labels = text.split('.')
  if (labels.includes('')) return 'A hostname has something before, between and after its dots.'
  const long = labels.find((label) => label.length > 63)
  if (long !== undefined) return `Each part of a hostname has at most 63 characters, and one part of this has ${long.length}.`
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return `A hostname${labels.length > 1 ? ', and each part of it,' : ''} begins and ends with a letter or digit, not with a hyphen.`
  }
  if (/^\d+(\.\d+){3}$/.test(text)) return 'A hostname cannot look like an IP address.'
  return undefined
}

function nameOf(character: string): string {
  return named[character] ?? (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) ? `“${character}”` : 'a character that does not show')
}
