import { actionsFor, message, wholeSection } from '../../slack/blocks.ts'
import { itemButton } from '../../slack/table.ts'
import { code, dayAndTime, type Mrkdwn, mention, mrkdwn } from '../../slack/text.ts'
import type { Message } from '../../slack/web-api.ts'
import type { KeyEndMessage } from './ends.ts'

/** `isDirect`: to its owner alone, where nothing can be requested. */
export function keyEndMessage(
  { key, told }: KeyEndMessage,
  { isDirect, command, offers }: { isDirect: boolean; command: string; offers: Parameters<typeof itemButton>[0][] },
): Message {
  const { keyId, label, requester, end, lastSlice } = key
  const named = mrkdwn`API key *${label}*${lastSlice === undefined ? '' : mrkdwn` (token ends in ${code(lastSlice)})`}`
  const owner = mention(requester)
  if (told === 'ended')
    return message(wholeSection(mrkdwn`:no_entry_sign: ${named} has ended. It was deleted, and its token no longer works. cc ${owner}`))
  const how = isDirect ? mrkdwn` To keep it, use ${code(`${command} keys extend ${keyId} 30d`)} in a channel with Lockkeeper.` : ''
  const words = mrkdwn`:hourglass: ${owner}, ${named} ends ${dayAndTime(end)}. Its token stops working then.${how}`
  const buttons = actionsFor(
    command,
    'ending',
    offers.flatMap((action) => itemButton(action, { id: keyId, text: label })),
  )
  return message([...wholeSection(words), ...(isDirect ? [] : buttons)])
}

/** For Home: one line for each key. */
export function ownKeyWords({ label, end }: KeyEndMessage['key']): Mrkdwn {
  return mrkdwn`:key: *${label}*  ·  ends ${dayAndTime(end)}`
}
