import { noteRequest } from '../../domain/account/lane.ts'
import type { ButtonDenial } from '../../domain/approval/denial.ts'
import type { Origin } from '../../domain/approval/origin.ts'
import type { LinkTo, Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import type { Answer, Click, Submission } from '../../slack/commands/handlers.ts'
import type { Refusal } from '../../slack/errors.ts'
import type { Metadata } from '../../slack/receive/metadata.ts'
import { boldPhrase } from '../../slack/text/phrase-words.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'
import type { Access } from '../access/access.ts'
import type { Catalog } from '../catalog.ts'
import type { Decide } from '../lifecycle/decide/decide.ts'
import { belongsTo, readButton } from '../messages/buttons.ts'
import { unverifiedDescription } from '../messages/refusals/unverified.ts'
import { subjectWords } from '../messages/related.ts'

interface GenuineRequestParts {
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  find: Decide['find']
  access: Access
  catalog: Catalog
  /** Receives a record that is no longer what was requested. */
  onChanged: (request: Request) => void
  linkTo: LinkTo
}

/** A click or a form that was sent. `at`: the id of the button or the form. */
interface Interaction {
  value: string
  origin: Origin
  answer: Answer
  at: string
}

/** Creates the reads of the request that a button or a form names. They throw a Refusal if the button or the record cannot be trusted. */
export function createGenuineRequest({ signatures, find, access, catalog, onChanged, linkTo }: GenuineRequestParts) {
  /** Reads the request of a button. A button on a copy of the card elsewhere is refused. */
  async function requestOfClick(click: Click): Promise<Request> {
    const { value, origin, answer, actionId: at } = click
    const request = await genuine({ value, origin, answer, at }, (found) => click.onHome || isOnCard(click, found))
    if (!click.onHome && !isOnCard(click, request)) throw await refused(origin, at, request, 'stale-card')
    return request
  }

  /** Reads the request that a form was opened for. */
  function requestOfForm(metadata: Metadata | undefined, { origin, answer, callbackId }: Submission): Promise<Request> {
    return genuine({ value: metadata?.extra ?? '', origin, answer, at: callbackId }, () => true)
  }

  /** Reads the request of a button's value. `mayName`: whether the person sees the request where they clicked, so that the answer may name it. */
  async function genuine({ value, origin, answer, at }: Interaction, mayName: (request: Request) => boolean): Promise<Request> {
    const button = readButton(value)
    if (!button) throw await refused(origin, at, undefined, 'foreign-button')
    const request = await find(button.id)
    if (!request) throw await refused(origin, at, undefined, 'unknown-request')
    if (!belongsTo(button, request)) throw await refused(origin, at, request, 'foreign-button')
    noteRequest(request.id)
    const verdict = signatures.verifyRecord(request)
    if (mayName(request)) answer.about(verdict === 'genuine' ? subjectOf(request) : boldPhrase(unverifiedDescription(request).title))
    if (verdict === 'unknown-key') throw await refused(origin, at, request, 'unknown-key')
    if (verdict !== 'genuine') {
      onChanged(request)
      throw await refused(origin, at, request, 'changed-record')
    }
    // During an update, another version of Lockkeeper may have posted the card.
    if (!catalog.openIfFit(request)) throw await refused(origin, at, request, 'other-version')
    return request
  }

  function subjectOf(request: Request): Mrkdwn {
    return subjectWords(catalog.titleOf(request), { id: request.id, link: linkTo(request) })
  }

  function refused(origin: Origin, at: string, request: Request | undefined, code: ButtonDenial['code']): Promise<Refusal> {
    return access.refuse(origin, { to: at, request }, { code })
  }

  return { requestOfClick, requestOfForm }
}
export type GenuineRequest = ReturnType<typeof createGenuineRequest>

/** Whether the button is on the request message, and not on a copy of it. */
function isOnCard({ origin, messageTs }: Pick<Click, 'origin' | 'messageTs'>, { origin: { channelId }, cardTs }: Request): boolean {
  return origin.channelId === channelId && (cardTs === undefined || messageTs === cardTs)
}
