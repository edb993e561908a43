import type { ButtonDenial } from '../../domain/approval/denial.ts'
import type { Origin } from '../../domain/approval/origin.ts'
import type { Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import type { Click, Submission } from '../../slack/commands/handlers.ts'
import type { Refusal } from '../../slack/errors.ts'
import type { Metadata } from '../../slack/receive/metadata.ts'
import type { Access } from '../access/access.ts'
import type { Catalog } from '../catalog.ts'
import type { Decide } from '../lifecycle/decide/decide.ts'
import { belongsTo, readButton } from '../messages/buttons.ts'

interface GenuineRequestParts {
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  find: Decide['find']
  access: Access
  catalog: Catalog
  /** Receives a record that is no longer what was requested. */
  onChanged: (request: Request) => void
  /** Receives the request that a click or a form is about, so that its trace has them. `at`: the id of the button or the form. */
  joinTrace: (request: Request, at: string) => void
}

/** Creates the reads of the request that a button or a form names. They throw a Refusal if the button or the record cannot be trusted. */
export function createGenuineRequest({ signatures, find, access, catalog, onChanged, joinTrace }: GenuineRequestParts) {
  /** Reads the request of a button. A button on a copy of the card elsewhere is refused. */
  async function requestOfClick(click: Click): Promise<Request> {
    const request = await genuine(click.value, click.origin, click.actionId)
    const onCard =
      click.origin.channelId === request.origin.channelId && (request.cardTs === undefined || click.messageTs === request.cardTs)
    if (!onCard && !click.onHome) throw await refused(click.origin, click.actionId, request, 'stale-card')
    return request
  }

  /** Reads the request that a form was opened for. */
  function requestOfForm(metadata: Metadata | undefined, { origin, callbackId }: Submission): Promise<Request> {
    return genuine(metadata?.extra ?? '', origin, callbackId)
  }

  /** Reads the request of a button's value. `at`: the id of the button or the form. */
  async function genuine(value: string, origin: Origin, at: string): Promise<Request> {
    const button = readButton(value)
    if (!button) throw await refused(origin, at, undefined, 'foreign-button')
    const request = await find(button.id)
    if (!request) throw await refused(origin, at, undefined, 'unknown-request')
    if (!belongsTo(button, request)) throw await refused(origin, at, request, 'foreign-button')
    joinTrace(request, at)
    const verdict = signatures.verifyRecord(request)
    if (verdict === 'unknown-key') throw await refused(origin, at, request, 'unknown-key')
    if (verdict !== 'genuine') {
      onChanged(request)
      throw await refused(origin, at, request, 'changed-record')
    }
    // During an update, another version of Lockkeeper may have posted the card.
    if (!catalog.openIfFit(request)) throw await refused(origin, at, request, 'other-version')
    return request
  }

  function refused(origin: Origin, at: string, request: Request | undefined, code: ButtonDenial['code']): Promise<Refusal> {
    return access.refuse(origin, { to: at, request }, { code })
  }

  return { requestOfClick, requestOfForm }
}
export type GenuineRequest = ReturnType<typeof createGenuineRequest>
