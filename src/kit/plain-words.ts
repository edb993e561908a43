import type { App } from '../app.ts'
import { type Mrkdwn, ownWords, quotation, toPlainText, unlinked } from '../slack/text.ts'

/** Emoji of Lockkeeper's own. Code and quotations are matched first and left unchanged: people wrote what is in them. */
const emoji = /`[^`]*`|“[^”]*”|:[a-z_]+:\s*/g

/**
 * Words without markup and emoji, for pages and machines. People, user groups and channels have their names as far as these are known without a call.
 * A name that people could take for a part of the sentence is in quotation marks.
 */
export function plainWords({ directory }: Pick<App, 'directory'>, words: Mrkdwn): string {
  const shown = unlinked(words).text.replace(emoji, (found) => (found.startsWith(':') ? '' : found))
  return toPlainText(ownWords(shown), (id) => {
    const [, mark = '', name = ''] = /^([@#]?)([\s\S]*)/.exec(directory.knownName(id) ?? '') ?? []
    if (name === '') return undefined
    return mark + (/^[\p{L}\d._-]+$/u.test(name) ? name : toPlainText(quotation(name)))
  }).trim()
}
