import type { Audit } from '../../audit/intake.ts'
import type { WriteTurns } from '../../domain/account/lane.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import type { AuthorityProblem } from '../../domain/request/authority-problem.ts'
import type { LinkTo, Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import type { Timings } from '../../domain/timings.ts'
import type { Wake } from '../../redis/queues.ts'
import type { Command } from '../../slack/commands/commands.ts'
import type { OpenForm } from '../../slack/commands/forms/form.ts'
import { createFormOpeners } from '../../slack/commands/forms/form-openers.ts'
import type { InteractionHandlers } from '../../slack/commands/handlers.ts'
import { createCommandRouter } from '../../slack/commands/router.ts'
import { readMetadata } from '../../slack/receive/metadata.ts'
import type { ShowSecret } from '../../slack/web-api/show-secret.ts'
import type { Access } from '../access/access.ts'
import type { CheckAuthority } from '../access/check-authority.ts'
import type { Catalog } from '../catalog.ts'
import { createHandOver } from '../hand-over/hand-over.ts'
import { createDecide } from '../lifecycle/decide/decide.ts'
import type { Show } from '../outbox/show.ts'
import type { NoteOf } from '../store/request-note.ts'
import type { Store } from '../store/store.ts'
import { type CardButtonsParts, createCardButtons } from './card-buttons.ts'
import type { FilledForm, FreshForm } from './forms/filled-form.ts'
import type { Home } from './home.ts'
import { createItemDetails, type ItemAction, type ReadDetails } from './item-details.ts'

/** What a feature adds: its commands, and what its buttons, forms and pickers do. */
export interface FeatureHandlers {
  commands: Command[]
  /** The forms of its changes. They open filled: to request a change again, to undo one, or to give the reason of a command. */
  forms?: Record<ChangeKind, FilledForm>
  /** The same, for forms that show more of the account than the earlier request knows. */
  freshForms?: Record<ChangeKind, FreshForm>
  clicks?: InteractionHandlers['clicks']
  submissions?: InteractionHandlers['submissions']
  shortcuts?: InteractionHandlers['shortcuts']
  options?: InteractionHandlers['options']
  /** Reads the details of an item of a list, by the kind of item. */
  details?: Record<string, ReadDetails>
  /** The changes that are offered below the details of an item. */
  itemActions?: ItemAction[]
}

interface InteractionsParts {
  features: FeatureHandlers[]
  store: Store
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
  wake: Wake
  show: Show
  catalog: Catalog
  access: Access
  home: Home
  details: CardButtonsParts['details']
  openForm: OpenForm
  showSecret: ShowSecret
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  timings: Timings
  budget: WriteTurns
  signatures: RequestSignatures
  checkAuthority: CheckAuthority
  /** Receives a request that cannot be trusted, and why. */
  onDistrusted: (request: Request, problem: AuthorityProblem) => Promise<void> | void
  onApiError: (error: unknown) => void
  onError: (error: unknown) => void
}

/** Wraps the forms of a feature: a request that was sent with a form of the Home tab or of a global shortcut appears on the Home tab. */
function thenShow(
  home: Pick<Home, 'show'>,
  onError: (error: unknown) => void,
  submissions: InteractionHandlers['submissions'] = {},
): InteractionHandlers['submissions'] {
  const entries = Object.entries(submissions).map(([callbackId, submit]): [string, typeof submit] => [
    callbackId,
    async (submission) => {
      const answer = await submit(submission)
      const isFromChannel = readMetadata(submission.metadata)?.responseUrl !== undefined
      // The form closes without waiting for it.
      if (answer.is === 'accepted' && !isFromChannel) home.show(submission.origin).catch(onError)
      return answer
    },
  ])
  return Object.fromEntries(entries)
}

/** Creates the handlers of everything that people can do: commands, the buttons and forms of requests, and what each feature adds. */
export function createInteractions({ features, catalog, access, home, onError, ...parts }: InteractionsParts): InteractionHandlers {
  const {
    store,
    audit,
    noteOf,
    wake,
    linkTo,
    openForm,
    showSecret,
    timings,
    budget,
    signatures,
    checkAuthority,
    onDistrusted,
    onApiError,
  } = parts
  const commands = features.flatMap((feature) => feature.commands)
  const router = createCommandRouter({ commands, ...access })
  const formOpeners = createFormOpeners({ commands, ...access })
  // A decision stays taken if it cannot be shown at once. The outbox shows it later.
  const show = (id: string) => parts.show(id).catch(onError)
  const decide = createDecide({ signatures, store, access, catalog, show, wake })
  const handOver = createHandOver({
    signatures,
    checkAuthority,
    onDistrusted,
    store,
    access,
    audit,
    noteOf,
    catalog,
    showSecret,
    show,
    onApiError,
    onError,
    timings,
    budget,
    wake,
  })
  const cardButtons = createCardButtons({
    decide,
    handOver,
    catalog,
    access,
    openForm,
    home,
    details: parts.details,
    signatures,
    onChanged: (request) => onDistrusted(request, { code: 'record-changed' }),
    forms: Object.assign({}, ...features.map(({ forms }) => forms)),
    freshForms: Object.assign({}, ...features.map(({ freshForms }) => freshForms)),
    linkTo,
  })
  const itemDetails = createItemDetails({
    details: Object.assign({}, ...features.map(({ details }) => details)),
    actions: features.flatMap(({ itemActions }) => itemActions ?? []),
    access,
  })
  return {
    command: router.command,
    commandNamed: router.commandNamed,
    clicks: Object.assign(
      {},
      router.clicks,
      formOpeners.clicks,
      home.clicks,
      cardButtons.clicks,
      itemDetails.clicks,
      ...features.map(({ clicks }) => clicks),
    ),
    submissions: Object.assign(
      {},
      formOpeners.submissions,
      cardButtons.submissions,
      ...features.map(({ submissions }) => thenShow(home, onError, submissions)),
    ),
    shortcuts: Object.assign({}, formOpeners.shortcuts, ...features.map(({ shortcuts }) => shortcuts)),
    options: Object.assign({}, ...features.map(({ options }) => options)),
    home: home.open,
  }
}
