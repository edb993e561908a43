import type { Button, KnownBlock, ModalView } from '@slack/web-api'
import { pageOf } from '../domain/codes.ts'
import type { Freeze } from '../domain/policy.ts'
import type { Phrase } from '../domain/text.ts'
import { type FreezeNow, type FreezeRecord, freezeSetAt } from '../record/freeze.ts'
import { actions, button, message, modal, problemBlocks, reasonBlocks, reasonInput, startInput, wholeSection } from '../slack/blocks.ts'
import { type Metadata, marksOf, writeMetadata } from '../slack/payloads.ts'
import { dateTime, dayAndTime, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn, quotedTitle } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import { zoneWords } from './submit-words.ts'

export const unfreezeButton = 'unfreeze'

export const startsInOrder = 'Approved changes that nothing else holds start now, or once their button is pressed.'

const causes: Record<NonNullable<FreezeRecord['because']>, string> = {
  'data-lost': 'Redis lost data',
  'set-back': 'Redis went back to an older state',
  'freeze-missing': 'the record of freezes in Redis is missing',
  'freeze-older': 'the record of freezes in Redis is older than one read before',
  'freeze-forged': "Lockkeeper didn't write the record of freezes in Redis",
}

/** `by @ada until 6:00 PM today`, `by @ada from 6:00 PM tomorrow until lifted` */
export function frozenWords(record: FreezeRecord): Mrkdwn {
  return frozenUntil(record, mrkdwn` until ${endOf(record.until)}`)
}

function frozenUntil({ by, because, setAt, from }: FreezeRecord, end: Mrkdwn): Mrkdwn {
  const begin = from > setAt ? mrkdwn` from ${dayAndTime(from)}` : mrkdwn``
  return mrkdwn`${byWords(by)}${begin}${end}${because ? `: ${causes[because]}` : ''}`
}

const byWords = (by: string | undefined): Mrkdwn => (by === undefined ? mrkdwn`by Lockkeeper` : mrkdwn`by ${mention(by)}`)

const endOf = (until: number | undefined): Mrkdwn => (until === undefined ? mrkdwn`lifted` : dayAndTime(until))

/** Empty if that one is over with this one. */
function plannedWords({ next, until }: FreezeRecord): Mrkdwn {
  if (!next || (next.until ?? Number.POSITIVE_INFINITY) <= (until ?? 0)) return mrkdwn``
  return mrkdwn` The freeze ${byWords(next.by)} from ${dayAndTime(next.from)} until ${endOf(next.until)} stays.`
}

function replacesWords({ replaced }: FreezeRecord): Mrkdwn {
  return replaced ? mrkdwn` It replaces the one ${byWords(replaced.by)} until ${endOf(replaced.until)}.` : mrkdwn``
}

/** Where nothing starts because this process cannot read the record. */
export const unreadableFreeze = mrkdwn`No change starts: the record of freezes in Redis was signed with a key that Lockkeeper doesn't have.`

/** Whether a freeze ended at `at` before it began. */
function neverBegan({ from }: FreezeRecord, at: number | undefined): boolean {
  return at !== undefined && from > at
}

/** `Unfrozen`, or that the one that was lifted had not begun. `by`: who lifted it. `held`: what it held, for them. */
export function unfrozenWords(lifted: FreezeRecord, { by, held }: { by?: string | undefined; held?: HeldTitles } = {}): Mrkdwn {
  const who = by === undefined ? mrkdwn`` : mrkdwn` by ${mention(by)}`
  if (neverBegan(lifted, lifted.until)) return mrkdwn`:sunny: *Planned freeze canceled*${who}.`
  const starts = held ? startsNow(held) : mrkdwn`${startsInOrder}`
  return mrkdwn`:sunny: *Unfrozen*${who}. ${starts}${plannedWords(lifted)}`
}

/** The first message of a freeze, once it is over. `last`: the newest one, which may have lifted or replaced it. */
export function endedFreezeMessage(record: FreezeRecord, last?: FreezeRecord): Message {
  const ending = last?.ends === record.id ? last : undefined
  const at = ending?.isOn ? ending.setAt : ending?.until
  const isCanceled = neverBegan(record, at)
  const mark = isCanceled ? 'Canceled: a freeze planned' : 'Was frozen'
  const words = at === undefined || isCanceled ? frozenWords(record) : frozenUntil(record, mrkdwn``)
  const how =
    ending && at !== undefined ? mrkdwn` ${ending.isOn ? 'Replaced' : 'Lifted'} at ${dateTime(at)} ${byWords(ending.by)}.` : mrkdwn``
  return message([...wholeSection(mrkdwn`:snowflake: *${mark}* ${words}.${how}`), ...reasonBlocks('Reason', record.reason, undefined)])
}

/** A message of a freeze that was set or lifted, that has begun later, or is over by its time. */
export function freezeMessage(docsUrl: URL, record: FreezeRecord, when: 'set' | 'begun' | 'over' = 'set', hasButton = false): Message {
  const { id, isOn, by, because, setAt, from, until } = record
  if (when === 'over') return message(wholeSection(mrkdwn`:sunny: *The freeze is over.* ${startsInOrder}${plannedWords(record)}`))
  if (when === 'begun') return message(wholeSection(mrkdwn`:snowflake: *The freeze is on* until ${endOf(until)}. No change starts.`))
  const isSuspect = isOn && because?.startsWith('freeze-')
  const check = isSuspect ? ' Check whether a freeze was on, and who can write to Redis. Only then use the unfreeze command.' : ''
  const mark = from > setAt ? 'Freeze planned' : 'Frozen'
  const after = ` No change starts${from > setAt ? ' in that time' : ''}.${check}`
  const more = !isSuspect ? '' : mrkdwn` More: ${link(pageOf('freeze-not-trusted', docsUrl), 'freeze-not-trusted')}.`
  return message([
    ...wholeSection(
      isOn
        ? mrkdwn`:snowflake: *${mark}* ${frozenWords(record)}.${replacesWords(record)}${plannedWords(record)}${after}${more}`
        : unfrozenWords(record, { by }),
    ),
    ...reasonBlocks('Reason', record.reason, undefined),
    ...(hasButton ? actions([liftButton(id)], `freeze-${id}`) : []),
  ])
}

function liftButton(id: string): Button {
  return button({ text: 'Unfreeze', actionId: unfreezeButton, value: id })
}

const mostTitles = 5

/** The approved changes that only the freeze holds, in the order in which they start. `pressed`: those that start once their requester presses a button. */
export interface HeldTitles {
  starting: Phrase[]
  pressed: Phrase[]
}

function startsNow({ starting, pressed }: HeldTitles): Mrkdwn {
  const named = (titles: Phrase[]) => {
    const more = titles.length > mostTitles ? ` and ${titles.length - mostTitles} more` : ''
    return mrkdwn`: ${joinMrkdwn(titles.slice(0, mostTitles).map(quotedTitle), ', ')}${more}.`
  }
  const count = (titles: Phrase[]) => (titles.length === 1 ? '1 approved change' : `${titles.length} approved changes`)
  const starts = mrkdwn`${count(starting)} ${starting.length === 1 ? 'starts' : 'start'} now${named(starting)}`
  const presses = mrkdwn`${count(pressed)} ${pressed.length === 1 ? 'starts' : 'start'} once the requester presses the button${named(pressed)}`
  const lines = [...(starting.length > 0 ? [starts] : []), ...(pressed.length > 0 ? [presses] : [])]
  return lines.length === 0 ? mrkdwn`No approved change starts now.` : joinMrkdwn(lines, '\n')
}

export function toldOfUnfreeze({ starting, pressed }: HeldTitles): Mrkdwn[] {
  return [...starting, ...pressed].map(quotedTitle)
}

/** What its form tells that freezing does. */
export function toldOfFreeze(set: FreezeRecord | undefined): Mrkdwn[] {
  return set ? [mrkdwn`There is a freeze ${frozenWords(set)}. Freezing at once ${set.from > Date.now() ? 'keeps' : 'replaces'} it.`] : []
}

export const freezeFormId = 'freeze'

/** As it was typed or entered. */
export type TypedFreeze = Partial<Record<'from' | 'until' | 'reason', string | undefined>>

/** `set`: the freeze that is on, or planned. */
export function freezeForm(
  metadata: Metadata,
  { from, until, reason }: TypedFreeze,
  set: FreezeRecord | undefined,
  problem?: Mrkdwn,
): ModalView {
  return modal({
    callbackId: freezeFormId,
    title: 'Freeze all changes',
    submit: 'Freeze',
    metadata: writeMetadata({ ...metadata, told: marksOf(toldOfFreeze(set)) }),
    blocks: [
      ...problemBlocks(problem),
      ...toldOfFreeze(set).flatMap((words) => wholeSection(words)),
      startInput(from, `Such as fri 18:00${zoneWords(metadata.zone)}. Leave empty to freeze at once.`, 'From'),
      startInput(
        until,
        'Such as mon 08:00, in 4h (from now) or for 2h (from its beginning). Leave empty to freeze until somebody lifts it.',
        'Until',
      ),
      reasonInput(reason, 'Everyone in the channel can read it.', { optional: false }),
    ],
  })
}

export function unfreezeForm(metadata: Metadata, held: HeldTitles, problem?: Mrkdwn): ModalView {
  return modal({
    callbackId: unfreezeButton,
    title: 'Lift the freeze?',
    submit: 'Unfreeze',
    metadata: writeMetadata({ ...metadata, told: marksOf(toldOfUnfreeze(held)) }),
    blocks: [...problemBlocks(problem), ...wholeSection(startsNow(held))],
  })
}

export function freezesOfPolicy(freezes: Freeze[]): Mrkdwn | undefined {
  if (freezes.length === 0) return undefined
  const each = freezes.map(({ name, to }) => mrkdwn`“${name}” until ${dayAndTime(to)}`)
  return mrkdwn`Policy freezes: ${joinMrkdwn(each, ', ')}.`
}

/** On the Home tab: what is frozen, with the button for those who may lift it. Empty if nothing is. */
export function frozenBlocks(
  freeze: Pick<FreezeNow, 'record' | 'isUnreadable'>,
  ofPolicy: Freeze[],
  now: number,
  mayLift: boolean,
): KnownBlock[] {
  const on = freezeSetAt(freeze, now)
  const words = freeze.isUnreadable
    ? mrkdwn`:snowflake: *Frozen.* ${unreadableFreeze}`
    : on && mrkdwn`:snowflake: *${on.from > now ? 'Freeze planned' : 'Frozen'}* ${frozenWords(on)}.${plannedWords(on)}`
  const policy = freezesOfPolicy(ofPolicy)
  return [
    ...(words ? [...wholeSection(words), ...reasonBlocks('Reason', on?.reason, undefined)] : []),
    ...(on && mayLift ? actions([liftButton(on.id)], `home-freeze-${on.id}`) : []),
    ...(policy ? wholeSection(mrkdwn`:snowflake: ${policy}`) : []),
  ]
}

/** For the operators, at both ends of a freeze of the policy. */
export function policyFreezeWords({ name, to }: Freeze, isOver: boolean): Mrkdwn {
  return isOver
    ? mrkdwn`:sunny: The policy's freeze “${name}” is over. ${startsInOrder}`
    : mrkdwn`:snowflake: The policy's freeze “${name}” is on until ${dayAndTime(to)}.`
}

export function onlyPlanned(planned: FreezeRecord): Mrkdwn {
  return mrkdwn`No freeze is on, so nothing was lifted. One is planned ${frozenWords(planned)}: to cancel it, press *Unfreeze* under its message or on Home.`
}

export function notFrozen(ofPolicy: Freeze[]): Mrkdwn {
  const policy = freezesOfPolicy(ofPolicy)
  return mrkdwn`No freeze to lift. Nothing was changed.${policy ? mrkdwn` ${policy} Lockkeeper's operators can change them.` : ''}`
}
