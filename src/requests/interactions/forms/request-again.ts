import { isMachine, type Origin } from '../../../domain/approval/origin.ts'
import type { ChangeKind } from '../../../domain/policy/change-kind.ts'
import { canReverse, isOpen, type LinkTo, type Request } from '../../../domain/request/request.ts'
import { restOf } from '../../../domain/request/request-item.ts'
import { formMetadata } from '../../../slack/commands/forms/form-metadata.ts'
import { type Click, type FormHandler, handlerOf } from '../../../slack/commands/handlers.ts'
import { Refusal } from '../../../slack/errors.ts'
import type { Metadata } from '../../../slack/receive/metadata.ts'
import { mrkdwn } from '../../../slack/text/text.ts'
import type { Access } from '../../access/access.ts'
import type { Catalog } from '../../catalog.ts'
import { doneInput } from '../../lifecycle/submit/done-input.ts'
import { retryLabel } from '../../messages/buttons.ts'
import { tooLate } from '../../messages/refusals/refusals.ts'
import type { GenuineRequest } from '../genuine-request.ts'
import type { FilledForm, Filling, FreshForm } from './filled-form.ts'

interface RequestAgainParts {
  requests: GenuineRequest
  catalog: Catalog
  access: Access
  forms: Record<ChangeKind, FilledForm>
  freshForms: Record<ChangeKind, FreshForm>
  linkTo: LinkTo
}

/** What a form is filled with, and the earlier request that it names. */
interface Filled {
  filling: Filling
  metadata?: Pick<Metadata, 'undoes' | 'repeats'>
}

/**
 * Creates the buttons that open a filled form from an ended request: for the same change again, or for the change that undoes it. The person
 * who sends the form is the requester, and it needs approval like any other.
 */
export function createRequestAgain({ requests, catalog, access, forms, freshForms, linkTo }: RequestAgainParts) {
  function opener(fill: (request: Request, userId: string) => Filled): FormHandler<Click> {
    /** Returns what the form shows, as its arguments. */
    async function contentOf(request: Request, click: Click): Promise<Parameters<FilledForm>> {
      const { filling, metadata } = fill(request, click.origin.userId)
      const rule = access.ruleOf(request)
      const opened = { origin: originOf(click, request), responseUrl: click.responseUrl }
      const message = request.fromMessage ? { message: request.fromMessage } : {}
      return [formMetadata(opened, rule?.needsReason ? rule.name : undefined, { ...metadata, ...message }), filling]
    }

    return {
      reads: true,
      form: async (click) => {
        const request = await requests.requestOfClick(click)
        // The Home tab also shows requests of private channels that the person is not in. It is checked before the form opens, because an open form
        // can be sent before a refusal replaces it.
        if (click.onHome) await access.gateChosen(originOf(click, request), request.kind)
        const form = handlerOf(forms, request.kind)
        if (!form) throw new Refusal(cannot)
        return form(...(await contentOf(request, click)))
      },
      allow: async (click) => {
        const request = await requests.requestOfClick(click)
        await access.gateForm(originOf(click, request), request.kind)
      },
      fill: async (click) => {
        const request = await requests.requestOfClick(click)
        return handlerOf(freshForms, request.kind)?.(...(await contentOf(request, click)))
      },
    }
  }

  const openAgain = opener((request) => {
    const { change, input, facts } = catalog.open(request)
    const title = request.undoes && change.reverse?.(input, facts)?.label
    return { filling: { input, facts, reason: reasonAgain(request), title }, metadata: repeating(request) }
  })

  const openReverse = opener((request, userId) => {
    if (!canReverse(request)) throw new Refusal(tooLate(request, userId))
    const { change, input, latest } = catalog.open(request)
    const back = change.reverse?.(doneInput(request, change, input), latest)
    if (!back) throw new Refusal(cannot)
    const { label: title, ...content } = back
    return { filling: { ...content, reason: undefined, title }, metadata: { undoes: linked(request) } }
  })

  const openRetry = opener((request, userId) => {
    const { change, input, facts } = catalog.open(request)
    const rest = restOf(request.items ?? []).map(({ id }) => id)
    if (isOpen(request.state) || !change.items || rest.length === 0) throw new Refusal(tooLate(request, userId))
    return {
      filling: { input: change.items.narrow(input, rest), facts, reason: reasonAgain(request), title: retryLabel },
      metadata: repeating(request),
    }
  })

  /** If the repeated request was to undo another one, the new one undoes that one, too. */
  function repeating(request: Request): Pick<Metadata, 'undoes' | 'repeats'> {
    const { undoes } = request
    return { repeats: linked(request), ...(undoes ? { undoes: linked({ id: undoes.id, origin: undoes, cardTs: undoes.cardTs }) } : {}) }
  }

  function linked(request: Pick<Request, 'id'> & Parameters<LinkTo>[0]) {
    const link = linkTo(request)
    return { id: request.id, ...(link ? { link } : {}) }
  }

  return { openAgain, openReverse, openRetry }
}

/** What an alert gave as the reason may no longer be true when a person requests it again. */
function reasonAgain({ origin, reason }: Request): string | undefined {
  return isMachine(origin) ? undefined : reason
}

const cannot = mrkdwn`This can't be requested from here. Use the command.`

/** Returns the origin of a request that a click makes: the person who clicked, with the channel and the command of the earlier request. */
function originOf(click: Click, request: Request): Origin {
  const { channelId, command } = request.origin
  return { ...click.origin, channelId, command }
}
