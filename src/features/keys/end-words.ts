import { replacedWords } from '../../domain/key-ends.ts'
import { utcTime } from '../../domain/text.ts'
import { endsWhen, type KeyEnd, type KeyEndMessage } from '../../kit/key-ends.ts'
import { sameKey } from '../../messages/operator-notices.ts'
import { actionsFor, message, wholeSection } from '../../slack/blocks.ts'
import { itemButton } from '../../slack/table.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, phraseWords } from '../../slack/text.ts'
import type { Message } from '../../slack/web-api.ts'

/** How forms name a key: `ci-deploy (…x7Qz, replaced by a newer key, ends 2027-01-02 10:00 UTC)`. */
export function keyInForm(key: Partial<Pick<KeyEnd, 'lastSlice' | 'end' | 'isReplaced'>> & { label: string }): string {
  const { label, lastSlice, end, isReplaced } = key
  const slice = lastSlice === undefined ? [] : [`…${lastSlice}`]
  const more = [...slice, ...(isReplaced ? [replacedWords] : []), ...(end === undefined ? [] : [`ends ${utcTime(end)}`])].join(', ')
  return more === '' ? label : `${label} (${more})`
}

function named({ label, lastSlice }: Pick<KeyEnd, 'label' | 'lastSlice'>): Mrkdwn {
  return mrkdwn`*${label}*${lastSlice === undefined ? '' : mrkdwn` (token ends in ${code(lastSlice)})`}`
}

/** `isDirect`: to its owner alone, where nothing can be requested. */
export function keyEndMessage(
  { key, told }: KeyEndMessage,
  { isDirect, command, offers }: { isDirect: boolean; command: string; offers: Parameters<typeof itemButton>[0][] },
): Message {
  const { keyId, requester, isReplaced } = key
  const owner = mention(requester)
  const newer = isReplaced ? " The token of the newer key that replaced it isn't affected." : ''
  if (told === 'ended')
    return message(
      wholeSection(
        mrkdwn`:no_entry_sign: API key ${named(key)} has ended. It was deleted, and its token no longer works.${newer} cc ${owner}`,
      ),
    )
  const how = isDirect ? mrkdwn` To keep it, use ${code(`${command} keys extend ${keyId} 30d`)} in a channel with Lockkeeper.` : ''
  const words = mrkdwn`:hourglass: ${owner}, API key ${named(key)} ends ${phraseWords(endsWhen(key))}. Its token stops working then.${how}`
  // Another token for a key that was replaced helps nobody.
  const offered = offers.filter(({ kind }) => !isReplaced || kind !== 'key.rotate')
  const buttons = actionsFor(
    command,
    'ending',
    offered.flatMap((action) => itemButton(action, { id: keyId, text: keyInForm(key) })),
  )
  return message([...wholeSection(words), ...(isDirect ? [] : buttons)])
}

/** For Home: one line for each key. */
export function ownKeyWords(key: KeyEndMessage['key']): Mrkdwn {
  return mrkdwn`:key: ${named(key)}  ·  ends ${phraseWords(endsWhen(key))}`
}

/** `places`: where the records are in Redis, which are the ids of the keys. */
export function untrustedEnds(places: string[]): Mrkdwn {
  const shown = places.slice(0, 10).map((place) => code(place))
  return mrkdwn`:warning: Lockkeeper can't verify its records of when these API keys end, so it won't delete them: ${joinMrkdwn(shown, ', ')}${places.length > shown.length ? ' and more' : ''}. ${sameKey} Otherwise find out who can write to Redis.`
}

export function overdueEnd({ keyId, label, requester, end }: KeyEnd): Mrkdwn {
  return mrkdwn`:rotating_light: API key ${label} of ${mention(requester)} (${code(keyId)}) should have ended ${dateTime(end)}, and still works. Lockkeeper keeps trying to delete it. If this notice repeats, delete it in the account's dashboard. If Lockkeeper uses this key itself, set another one first.`
}

export function undeliveredEnd({ keyId, label, requester, end }: KeyEnd, error: string): Mrkdwn {
  return mrkdwn`:warning: Couldn't tell ${mention(requester)} that API key ${label} (${code(keyId)}) ends ${dateTime(end)}, in its channel or directly: ${error}. Tell the people who use it.`
}
