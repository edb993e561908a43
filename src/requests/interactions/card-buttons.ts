import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import type { LinkTo, Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import { notice } from '../../slack/blocks/notice.ts'
import type { OpenForm } from '../../slack/commands/forms/form.ts'
import type { Click, InteractionHandlers } from '../../slack/commands/handlers.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { Access } from '../access/access.ts'
import type { Catalog } from '../catalog.ts'
import type { HandOver } from '../hand-over/hand-over.ts'
import type { Decide } from '../lifecycle/decide/decide.ts'
import { breakGlassCallbackId, cardButtons, rejectCallbackId } from '../messages/buttons.ts'
import { breakGlassForm } from '../messages/forms/forms.ts'
import { counted } from '../messages/refusals/refusals.ts'
import { createDecisionForms } from './forms/decision-forms.ts'
import type { FilledForm, FreshForm } from './forms/filled-form.ts'
import { createRequestAgain } from './forms/request-again.ts'
import { createGenuineRequest } from './genuine-request.ts'
import type { Home } from './home.ts'

export interface CardButtonsParts {
  signatures: RequestSignatures
  decide: Decide
  handOver: HandOver
  catalog: Catalog
  access: Access
  openForm: OpenForm
  home: Pick<Home, 'show'>
  /** Renders the details that the card of a finished request leaves out. */
  details: (request: Request) => Message
  /** Receives a record that no longer matches what was requested. */
  onChanged: (request: Request) => void
  forms: Record<ChangeKind, FilledForm>
  freshForms: Record<ChangeKind, FreshForm>
  linkTo: LinkTo
}

/** Creates the handlers of a card's buttons and their forms, for every kind of change. The Home tab has the same buttons. */
export function createCardButtons({
  signatures,
  decide,
  handOver,
  catalog,
  access,
  openForm,
  home,
  details,
  onChanged,
  forms,
  freshForms,
  linkTo,
}: CardButtonsParts): Pick<InteractionHandlers, 'clicks' | 'submissions'> {
  const requests = createGenuineRequest({ signatures, find: decide.find, access, catalog, onChanged, linkTo })
  const { openReject, submitReject, submitBreakGlass } = createDecisionForms({ decide, requests, catalog, home })
  const { openAgain, openReverse, openRetry } = createRequestAgain({ requests, catalog, access, forms, freshForms, linkTo })

  /** Wraps the work of a button. After a click on the Home tab, the tab is shown again. */
  function button(work: (request: Request, click: Click) => Promise<void>) {
    return async (click: Click): Promise<void> => {
      try {
        await work(await requests.requestOfClick(click), click)
      } finally {
        if (click.onHome) await home.show(click.origin)
      }
    }
  }

  async function approve(request: Request, click: Click): Promise<void> {
    const { origin } = click
    if (origin.userId === request.origin.userId && access.ruleOf(request)?.breakGlass) {
      await decide.mayBreakGlass(request, origin)
      await openForm(click.triggerId, breakGlassForm({ origin, extra: click.value }, catalog.titleOf(request)), async () => {})
      return
    }
    const { missing, needed } = await decide.approve(request, origin, click.answer.elsewhere)
    if (missing > 0) await click.answer.ephemeral(notice(counted({ missing, needed })))
  }

  return {
    clicks: {
      [cardButtons.approve]: button(approve),
      [cardButtons.reject]: openReject,
      [cardButtons.withdraw]: button((request, { origin, answer }) => decide.withdraw(request, origin, answer.elsewhere)),
      [cardButtons.handOver]: button(handOver),
      [cardButtons.again]: openAgain,
      [cardButtons.reverse]: openReverse,
      [cardButtons.retry]: openRetry,
      [cardButtons.details]: button((request, click) => click.answer.ephemeral(details(request), { isWhole: true })),
      [cardButtons.stopTracking]: button((request, { origin, answer }) => decide.stopTracking(request, origin, answer.elsewhere)),
      [cardButtons.trackAgain]: button((request, { origin, answer }) => decide.trackAgain(request, origin, answer.elsewhere)),
    },
    submissions: { [rejectCallbackId]: submitReject, [breakGlassCallbackId]: submitBreakGlass },
  }
}
