import type { Button, KnownBlock, ModalView } from '@slack/web-api'
import type { Freeze } from '../domain/policy.ts'
import type { Phrase } from '../domain/text.ts'
import { type FreezeNow, type FreezeProblem, type FreezeRecord, freezeOnAt } from '../requests/freeze.ts'
import { actions, button, message, modal, reasonBlocks, wholeSection } from '../slack/blocks.ts'
import { type Metadata, writeMetadata } from '../slack/payloads.ts'
import { dayAndTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, quotedTitle } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

export const unfreezeButton = 'unfreeze'

const startsInOrder = 'What is due starts now.'

const causes: Record<NonNullable<FreezeRecord['because']>, string> = {
  'data-lost': 'because Redis lost data',
  'set-back': 'because Redis went back to an older state',
}

const problems: Record<FreezeProblem, string> = {
  missing: 'is gone',
  older: 'is older than one read before',
  forged: "isn't one that Lockkeeper wrote",
  'unknown-key': "was signed with a key that Lockkeeper doesn't have",
}

/** `by @ada until 6:00 PM today`, `by @ada until lifted` */
export function frozenWords({ by, because, until }: Pick<FreezeRecord, 'by' | 'because' | 'until'>): Mrkdwn {
  const who = by === undefined ? mrkdwn`by Lockkeeper${because ? ` ${causes[because]},` : ''}` : mrkdwn`by ${mention(by)}`
  return mrkdwn`${who} until ${until === undefined ? 'lifted' : dayAndTime(until)}`
}

/** For operators, on a freeze whose record cannot be trusted. */
export function untrustedWords(problem: FreezeProblem): Mrkdwn {
  return mrkdwn`No change starts: the record of freezes in Redis ${problems[problem]}.`
}

/** `hasEnded`: on the message about its begin. */
interface Shown {
  isOver?: boolean
  hasEnded?: boolean
  hasButton?: boolean
}

/** A message of a freeze that was set or lifted, or is over by its time. */
export function freezeMessage(record: FreezeRecord, { isOver, hasEnded, hasButton }: Shown): Message {
  const { number, isOn, by, ends } = record
  if (isOver) return message(wholeSection(mrkdwn`:sunny: *The freeze is over.* ${startsInOrder}`))
  const who = by === undefined ? mrkdwn`` : mrkdwn` by ${mention(by)}`
  const replaces = ends === undefined ? '' : ' It replaces another freeze.'
  const after = hasEnded ? '' : ' No change starts.'
  return message([
    ...wholeSection(
      isOn
        ? mrkdwn`:snowflake: *${hasEnded ? 'Was frozen' : 'Frozen'}* ${frozenWords(record)}.${replaces}${after}`
        : mrkdwn`:sunny: *Unfrozen*${who}. ${startsInOrder}`,
    ),
    ...reasonBlocks('Reason', record.reason, undefined),
    ...(hasButton ? actions([liftButton(String(number))], `freeze-${number}`) : []),
  ])
}

/** `value`: the number of the freeze, or `untrusted`. */
function liftButton(value: string): Button {
  return button({ text: 'Unfreeze', actionId: unfreezeButton, value })
}

const mostTitles = 5

/** `titles`: of the approved changes that only the freeze holds, in the order in which they start. */
function startsNow(titles: Phrase[]): Mrkdwn {
  if (titles.length === 0) return mrkdwn`No approved change waits for it.`
  const named = joinMrkdwn(titles.slice(0, mostTitles).map(quotedTitle), ', ')
  const more = titles.length > mostTitles ? ` and ${titles.length - mostTitles} more` : ''
  return mrkdwn`${titles.length === 1 ? '1 approved change starts' : `${titles.length} approved changes start`} now: ${named}${more}.`
}

export function unfreezeForm(metadata: Metadata, titles: Phrase[]): ModalView {
  return modal({
    callbackId: unfreezeButton,
    title: 'Lift the freeze?',
    submit: 'Unfreeze',
    metadata: writeMetadata(metadata),
    blocks: wholeSection(startsNow(titles)),
  })
}

export function freezesOfPolicy(freezes: Freeze[]): Mrkdwn | undefined {
  if (freezes.length === 0) return undefined
  const each = freezes.map(({ name, to }) => mrkdwn`“${name}” until ${dayAndTime(to)}`)
  return mrkdwn`Policy freezes: ${joinMrkdwn(each, ', ')}.`
}

/** On the Home tab: what is frozen, with the button for those who may lift it. Empty if nothing is. */
export function frozenBlocks(
  freeze: Pick<FreezeNow, 'record' | 'problem'>,
  ofPolicy: Freeze[],
  now: number,
  mayLift: boolean,
): KnownBlock[] {
  const { problem } = freeze
  const on = freezeOnAt(freeze, now)
  const words = problem ? mrkdwn`:snowflake: *Frozen.* ${untrustedWords(problem)}` : on && mrkdwn`:snowflake: *Frozen* ${frozenWords(on)}.`
  const value = problem ? 'untrusted' : String(on?.number)
  const policy = freezesOfPolicy(ofPolicy)
  return [
    ...(words ? [...wholeSection(words), ...reasonBlocks('Reason', on?.reason, undefined)] : []),
    ...(words && mayLift ? actions([liftButton(value)], `home-freeze-${value}`) : []),
    ...(policy ? wholeSection(mrkdwn`:snowflake: ${policy}`) : []),
  ]
}

/** For the operators, at both ends of a freeze of the policy. */
export function policyFreezeWords({ name, to }: Freeze, isOver: boolean): Mrkdwn {
  return isOver
    ? mrkdwn`:sunny: The policy's freeze “${name}” is over. ${startsInOrder}`
    : mrkdwn`:snowflake: The policy's freeze “${name}” is on until ${dayAndTime(to)}.`
}

export function notFrozen(ofPolicy: Freeze[]): Mrkdwn {
  const policy = freezesOfPolicy(ofPolicy)
  return mrkdwn`No freeze to lift. Nothing was changed.${policy ? mrkdwn` ${policy} Lockkeeper's operators can change them.` : ''}`
}
