import type { App } from '../app.ts'
import type { ButtonDenial } from '../domain/approval.ts'
import { noteRequest } from '../domain/lane.ts'
import type { Request } from '../domain/request.ts'
import { belongsTo, readButton } from '../messages/button-ids.ts'
import { unverifiedDescription } from '../messages/why-not.ts'
import { subjectWords } from '../messages/request-words.ts'
import { onDistrusted } from '../outbox/operators.ts'
import { refuse } from '../rights/authorize.ts'
import type { Answer, Click } from '../slack/interactions.ts'
import { boldPhrase } from '../slack/text.ts'

/** Reads the request of a button. Throws a Refusal if the button or the record cannot be trusted. A button on a copy of the message is refused. */
export function requestOfClick(app: App, click: Click): Promise<Request> {
  const { value, origin, answer, actionId: at, onHome, messageTs } = click
  const isThere = ({ origin: { channelId }, cardTs }: Request) =>
    onHome || (origin.channelId === channelId && (cardTs === undefined || messageTs === cardTs))
  return requireRequest(app, { value, origin, answer, at }, isThere)
}

/** A click or a form that was sent. `at`: the id of the button or the form. */
type Pressed = Pick<Click, 'value' | 'origin'> & { answer: Answer; at: string }

/** Reads the request of a button's value. Throws a Refusal if it is none that Lockkeeper wrote. `isThere`: whether the person sees the request where they clicked, so that the answer may name it. */
export async function requireRequest(
  app: App,
  { value, origin, answer, at }: Pressed,
  isThere: (request: Request) => boolean,
): Promise<Request> {
  const { store, signatures, catalog, slack } = app
  const refused = (code: ButtonDenial['code'], request?: Request) => refuse(app, origin, { to: at, request }, { code })
  const button = readButton(value)
  if (!button) throw await refused('foreign-button')
  const request = await store.find(button.id)
  if (!request) throw await refused('unknown-request')
  if (!belongsTo(button, request)) throw await refused('foreign-button', request)
  noteRequest(request.id)
  const verdict = signatures.verifyRecord(request)
  if (isThere(request)) {
    const subject = subjectWords(catalog.titleOf(request), { id: request.id, link: slack.identity.linkTo(request) })
    answer.about(verdict === 'genuine' ? subject : boldPhrase(unverifiedDescription(request).title))
  }
  if (verdict === 'unknown-key') throw await refused('unknown-key', request)
  if (verdict !== 'genuine') {
    void onDistrusted(app, request, { code: 'record-changed' })
    throw await refused('record-changed', request)
  }
  // During an update, another version of Lockkeeper may have posted the card.
  if (!catalog.openIfFit(request)) throw await refused('other-version', request)
  if (!isThere(request)) throw await refused('stale-card', request)
  return request
}
