import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Timings } from '../../domain/timings.ts'
import type { Command } from '../../slack/commands/commands.ts'
import type { OpenForm } from '../../slack/commands/form.ts'
import type { InteractionHandlers } from '../../slack/commands/handlers.ts'
import { createCommandRouter } from '../../slack/commands/router.ts'
import type { ShowSecret } from '../../slack/web-api/show-secret.ts'
import type { Access } from '../access/access.ts'
import type { Catalog } from '../catalog.ts'
import { createHandOver } from '../hand-over/hand-over.ts'
import { createDecide } from '../lifecycle/decide.ts'
import type { Requests } from '../lifecycle/requests.ts'
import type { Ask } from '../lifecycle/submit.ts'
import { createConversation, type FormAgain } from './card-buttons.ts'
import type { Home } from './home.ts'

/** What a feature brings to the conversation with people. */
export interface Talk {
  commands: Command[]
  /** The form of a change, for asking again. */
  forms?: Record<ChangeKind, FormAgain>
  clicks?: InteractionHandlers['clicks']
  submissions?: InteractionHandlers['submissions']
  options?: InteractionHandlers['options']
}

interface InteractionsParts {
  features: Talk[]
  requests: Requests
  catalog: Catalog
  access: Access
  ask: Ask
  home: Home
  openForm: OpenForm
  showSecret: ShowSecret
  timings: Timings
  onApiError: (error: unknown) => void
  onError: (error: unknown) => void
}

/** Everything that people can do, by where it comes in: the commands, the buttons and forms of requests, and what each feature adds. */
export function createInteractions({
  features,
  requests,
  catalog,
  access,
  ask,
  home,
  onError,
  ...parts
}: InteractionsParts): InteractionHandlers {
  const { store, audit, queues, attend, onChanged } = requests
  const { openForm, showSecret, timings, onApiError } = parts
  const router = createCommandRouter({ commands: features.flatMap(({ commands }) => commands), gate: access.gate, may: access.may })
  // What was decided is decided, also when it cannot be shown at once: the outbox shows it later.
  const show = (id: string) => attend.showEverything(id).catch(onError)
  const decide = createDecide({ store, access, catalog, show, wake: queues.wake })
  const handOver = createHandOver({ store, access, audit, catalog, showSecret, show, onApiError, onError, timings, wake: queues.wake })
  const conversation = createConversation({
    decide,
    handOver,
    ask,
    catalog,
    access,
    openForm,
    refreshHome: async (viewer) => void (await home.show(viewer, undefined)),
    onChanged,
    forms: Object.assign({}, ...features.map(({ forms }) => forms)),
  })
  return {
    command: router.command,
    clicks: Object.assign({}, router.clicks, conversation.clicks, ...features.map(({ clicks }) => clicks)),
    submissions: Object.assign({}, conversation.submissions, ...features.map(({ submissions }) => submissions)),
    options: Object.assign({}, ...features.map(({ options }) => options)),
    home: async (viewer, refused) => void (await home.show(viewer, refused)),
  }
}
