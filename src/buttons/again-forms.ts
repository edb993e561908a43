import type { ModalView } from '@slack/web-api'
import type { App } from '../app.ts'
import { formMetadata } from '../bolt/open-forms.ts'
import { isMachine, type Origin } from '../domain/approval.ts'
import type { ChangeKind } from '../domain/policy.ts'
import { canReverse, isOpen, type Request } from '../domain/request.ts'
import { utcTime } from '../domain/text.ts'
import { changedSince, doneInput } from '../life/history.ts'
import { retryLabel } from '../messages/button-ids.ts'
import { itemViews, restOf } from '../messages/items.ts'
import { alreadyChanged, tooLate } from '../messages/why-not.ts'
import { gate } from '../rights/authorize.ts'
import { ruleOf } from '../rights/judge.ts'
import { Refusal } from '../slack/errors.ts'
import { type Click, type FormHandler, handlerOf } from '../slack/interactions.ts'
import type { Metadata } from '../slack/payloads.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import { requestOfClick } from './request-buttons.ts'

/** What a form is filled with. */
export interface Filling {
  input: unknown
  facts: unknown
  reason: string | undefined
  /** Default: the title of an empty form. */
  title?: string | undefined
  /** Shown on top: why the form opened. */
  problem?: Mrkdwn | undefined
}

export type FilledForm = (metadata: string, filling: Filling) => ModalView

/** The form of a kind of change, filled with an earlier request, with the change that undoes one, or with the words of a command. */
export interface ChangeForms {
  filled: FilledForm
  /**
   * Reads the account, and renders the same with what can be requested now, if that can be another form. It replaces the filled form once that is
   * open. Throws a Refusal if what it is about is gone.
   */
  fresh: (...content: Parameters<FilledForm>) => Promise<ModalView | undefined>
}

/** What an ended request offers to request: the content of a form, and the earlier request that it names. */
type FillAgain = (app: App, request: Request, userId: string) => Again | Promise<Again>

interface Again {
  filling: Filling
  start?: string | undefined
  metadata: Pick<Metadata, 'undoes' | 'repeats'>
}

/** A button of an ended request. The person who sends the form is the requester, and it needs approval like any other. */
export function formAgain(app: App, forms: Record<ChangeKind, ChangeForms>, fill: FillAgain): FormHandler<Click> {
  async function opened(click: Click) {
    const request = await requestOfClick(app, click)
    const { channelId, command } = request.origin
    // The request of the person who clicked, in the channel and with the command of the earlier one.
    return { request, origin: { ...click.origin, channelId, command } }
  }

  /** Returns what the form shows, as its arguments. */
  async function contentOf(request: Request, origin: Origin, responseUrl: string | undefined): Promise<Parameters<FilledForm>> {
    const { filling, start, metadata } = await fill(app, request, origin.userId)
    const terms = ruleOf(app, request)?.reason[0]
    return [formMetadata(app, { origin, responseUrl, start }, terms, { ...metadata, message: request.fromMessage }), filling]
  }

  return {
    form: async (click) => {
      const { request, origin } = await opened(click)
      // The Home tab and lists also show requests of private channels that the person is not in. It is checked before the form opens, because an open form
      // can be sent before a refusal replaces it.
      if (click.onHome || click.isPrivate) await gate(app, origin, request.kind, 'channel-chosen')
      const form = handlerOf(forms, request.kind)
      if (!form) throw new Refusal('not-from-here', cannot)
      return form.filled(...(await contentOf(request, origin, click.responseUrl)))
    },
    allow: async (click) => {
      const { request, origin } = await opened(click)
      await gate(app, origin, request.kind, 'opened')
    },
    fill: async (click) => {
      const { request, origin } = await opened(click)
      return handlerOf(forms, request.kind)?.fresh(...(await contentOf(request, origin, click.responseUrl)))
    },
  }
}

const cannot = mrkdwn`This can't be requested from here. Request it where it was requested first.`

/** *Request again*: the same change, also at the same time if that is still ahead and counts. */
export const fillAgain: FillAgain = (app, request) => {
  const { change, input, facts } = app.catalog.open(request)
  const title = request.undoes && change.reverse?.(input, facts)?.label
  // Approvers may have let it start before.
  const { start = 0, startNow } = request
  return {
    filling: { input, facts, reason: reasonAgain(request), title },
    start: start > Date.now() && !startNow ? utcTime(start) : undefined,
    metadata: repeating(app, request),
  }
}

/** *Move back* and the like: the change that undoes it. */
export const fillReverse: FillAgain = async (app, request, userId) => {
  if (!canReverse(request)) throw tooLate(request, userId)
  const later = await changedSince(app, request)
  if (later)
    throw new Refusal('changed-since', alreadyChanged(app.catalog.titleOf(later), { id: later.id, link: app.slack.identity.linkTo(later) }))
  const { change, input, latest } = app.catalog.open(request)
  const back = change.reverse?.(doneInput(request, change, input), latest)
  if (!back) throw new Refusal('not-from-here', cannot)
  const { label: title, ...content } = back
  return { filling: { ...content, reason: undefined, title }, metadata: { undoes: linked(app, request) } }
}

/** *Retry the rest*: what did not succeed. */
export const fillRetry: FillAgain = (app, request, userId) => {
  const opened = app.catalog.open(request)
  const { change, input, facts } = opened
  const rest = restOf(itemViews(request, opened, app.catalog)).map(({ id }) => id)
  if (isOpen(request.state) || !change.items || rest.length === 0) throw tooLate(request, userId)
  const filling = { input: change.items.narrow(input, rest), facts, reason: reasonAgain(request), title: retryLabel }
  return { filling, metadata: repeating(app, request) }
}

/** If the repeated request was to undo another one, the new one undoes that one, too. */
function repeating(app: App, request: Request): Pick<Metadata, 'undoes' | 'repeats'> {
  const { undoes } = request
  return { repeats: linked(app, request), undoes: undoes && linked(app, { id: undoes.id, origin: undoes, cardTs: undoes.cardTs }) }
}

function linked({ slack }: App, request: Parameters<App['slack']['identity']['linkTo']>[0] & { id: string }) {
  return { id: request.id, link: slack.identity.linkTo(request) }
}

/** What an alert gave as the reason may no longer be true when a person requests it again. */
function reasonAgain({ origin, reason }: Request): string | undefined {
  return isMachine(origin) ? undefined : reason
}
