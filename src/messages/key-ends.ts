import type { KeyEndMessage } from '../requests/key-ends.ts'
import { actionsFor, message, wholeSection } from '../slack/blocks.ts'
import { itemButton } from '../slack/table.ts'
import { code, dayAndTime, type Mrkdwn, mention, mrkdwn } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

/** What a key offers for its end: buttons of its thread. */
const offered = [
  { of: 'api-key', kind: 'key.extend', label: 'Extend…' },
  { of: 'api-key', kind: 'key.rotate', label: 'Rotate…' },
]

/** `isDirect`: to its owner alone, where nothing can be requested. */
export function keyEndMessage({ key, told }: KeyEndMessage, { isDirect, command }: { isDirect: boolean; command: string }): Message {
  const { keyId, label, requester, end } = key
  const owner = mention(requester)
  if (told === 'ended')
    return message(
      wholeSection(mrkdwn`:no_entry_sign: API key *${label}* has ended. It was deleted, and its token no longer works. ${owner}`),
    )
  const how = isDirect ? mrkdwn` To keep it, use ${code(`${command} keys extend ${keyId} 30d`)} in a channel.` : ''
  const words = mrkdwn`:hourglass: ${owner}, API key *${label}* ends ${dayAndTime(end)}. Its token stops working then.${how}`
  const buttons = actionsFor(
    command,
    'ending',
    offered.flatMap((action) => itemButton(action, { id: keyId, text: label })),
  )
  return message([...wholeSection(words), ...(isDirect ? [] : buttons)])
}

/** For Home: one line for each key. */
export function ownKeyWords({ label, end }: KeyEndMessage['key']): Mrkdwn {
  return mrkdwn`:key: *${label}*  ·  ends ${dayAndTime(end)}`
}
