import { labelOf } from '../../domain/account.ts'
import { message, sectionWithButton, wholeSection } from '../../slack/blocks.ts'
import { itemButton } from '../../slack/table.ts'
import { dateTime, joinMrkdwn, type Mrkdwn, mrkdwn, nameWords, ownWords } from '../../slack/text.ts'
import type { Message } from '../../slack/web-api.ts'
import type { Difference, OutsideMessage } from './differences.ts'

const mostListed = 20

/** For the operators: what happened outside Lockkeeper since they were told last. */
export function changesWords(changes: Difference[]): Mrkdwn {
  const lines = changes.slice(0, mostListed).map((each) => mrkdwn`•  ${whatWords(each)}`)
  const more = changes.length - lines.length
  return joinMrkdwn([mrkdwn`:eyes: *Changed outside Lockkeeper*`, ...lines, ...(more > 0 ? [mrkdwn`•  ${more} more`] : [])], '\n')
}

function whatWords({ list, name, what, from, to, isGap, since, at }: Difference): Mrkdwn {
  const thing = list === 'apiKeys' ? mrkdwn`API key ${nameWords(labelOf(name))}` : mrkdwn`Elastic IP ${nameWords(name)}`
  const happened =
    what === 'moved' && from && to
      ? mrkdwn`moved from ${nameWords(from.name)} to ${nameWords(to.name)}`
      : mrkdwn`was ${what === 'created' ? 'created' : 'removed'}`
  const gap = isGap
    ? mrkdwn` Lockkeeper didn't check between ${dateTime(since)} and ${dateTime(at)}, so it happened in that time.`
    : mrkdwn``
  return mrkdwn`${thing} ${happened} outside Lockkeeper.${gap}`
}

export function outsideMessage({ words, items }: OutsideMessage): Message {
  const listed = items.flatMap(({ words: each, button: action }) => {
    const [opens] = action ? itemButton({ ...action, style: 'danger' }, { id: action.id, text: action.text }) : []
    return opens ? [sectionWithButton(ownWords(each), opens)] : wholeSection(ownWords(each))
  })
  return message([...wholeSection(ownWords(words)), ...listed])
}
