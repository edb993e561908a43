import { randomUUID } from 'node:crypto'
import type { Button, ModalView } from '@slack/web-api'
import { z } from 'zod'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { ChangeKind } from '../domain/policy.ts'
import type { AuthorityProblem, LinkTo, Request } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { breakGlassForm } from '../messages/forms.ts'
import { counted } from '../messages/refusals.ts'
import { breakGlassCallbackId, cardButtons, rejectCallbackId } from '../messages/words.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { claim } from '../redis/scripts.ts'
import { button, longestButtonValue, notice } from '../slack/blocks.ts'
import type { Command } from '../slack/commands.ts'
import { outdatedButton, Refusal } from '../slack/errors.ts'
import { formMetadata, formOpeners, type OpenForm } from '../slack/forms.ts'
import type { Click, FormHandler, Handler, InteractionHandlers } from '../slack/interactions.ts'
import { readJson, readMetadata } from '../slack/payloads.ts'
import { createCommandRouter } from '../slack/router.ts'
import { type Details, detailsActionId, detailsMessage } from '../slack/table.ts'
import { mrkdwn } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import type { Access } from './access.ts'
import type { Catalog } from './catalog.ts'
import { type Decide, decideWith } from './decide.ts'
import { createDecisionForms, createGenuineRequest, createRequestAgain, type FilledForm, type FreshForm } from './forms.ts'
import { handOver } from './hand-over.ts'
import type { Home } from './home.ts'
import type { Store } from './store.ts'

export interface CardButtonsParts {
  signatures: RequestSignatures
  find: Store['find']
  decide: Decide
  handOver: (request: Request, click: Click) => Promise<void>
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
  find,
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
  const requests = createGenuineRequest({ signatures, find, access, catalog, onChanged, linkTo })
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

/** Reads the details of an item by its id. Undefined if there is no such item any more. */
export type ReadDetails = (id: string, origin: Origin) => Promise<Details | undefined>

/** An item as a button names it: `text` is how a form shows it. */
const ListedItem = z.object({ id: z.string(), text: z.string() })
type ListedItem = z.infer<typeof ListedItem>

/** A change that can be requested for an item from its details: a button, which opens the form filled with the item. */
export interface ItemAction {
  /** The kind of the items: `elastic-ip`. */
  of: string
  kind: ChangeKind
  label: string
  style?: 'danger'
  form: (metadata: string, item: ListedItem) => ModalView
}

/** The value of an action's button. It holds only what a person could type as a command, so a forged value gains nothing. */
const ActionButton = ListedItem.extend({ version: z.literal(1) })

interface ItemDetailsParts {
  details: Record<string, ReadDetails>
  actions: ItemAction[]
  access: Pick<Access, 'may' | 'gateForm' | 'ruleWithReason'>
}

/** Creates the handlers that show the details of an item that was chosen below a list, and open the forms of its changes. */
export function createItemDetails({ details, actions, access }: ItemDetailsParts): { clicks: InteractionHandlers['clicks'] } {
  function showDetails(of: string, read: ReadDetails): Handler<Click> {
    return async ({ value, origin, answer }) => {
      const own = actions.filter((action) => action.of === of)
      const [found, allowed] = await Promise.all([
        read(value, origin),
        access.may(
          origin,
          own.map(({ kind }) => kind),
        ),
      ])
      if (!found) throw new Refusal(mrkdwn`This item is gone. Run the command again for the current list.`)
      const buttons = own
        .filter(({ kind }) => !found.isFixed && allowed.includes(kind))
        .flatMap((action) => actionButton(action, { id: value, text: found.name }))
      await answer.ephemeral(detailsMessage(found, buttons, origin.command))
    }
  }

  function openForm({ kind, form }: ItemAction): FormHandler<Click> {
    return {
      form: (click) => {
        const item = readJson(ActionButton, click.value)
        if (!item) throw new Refusal(outdatedButton)
        return form(formMetadata(click, access.ruleWithReason(kind, click.origin.channelId)), item)
      },
      allow: async ({ origin }) => void (await access.gateForm(origin, kind)),
    }
  }

  return {
    clicks: Object.fromEntries([
      ...Object.entries(details).map(([of, read]) => [detailsActionId(of), showDetails(of, read)]),
      ...actions.map((action) => [actionId(action), openForm(action)]),
    ]),
  }
}

function actionId({ of, kind }: ItemAction): string {
  return `item:${of}:${kind}`
}

/** Returns no button for an id that is too long for one. */
function actionButton(action: ItemAction, item: ListedItem): Button[] {
  const value = JSON.stringify({ version: 1, ...item } satisfies z.infer<typeof ActionButton>)
  if (value.length > longestButtonValue) return []
  const { label, style } = action
  return [button({ text: label, actionId: actionId(action), value, ...(style ? { style } : {}) })]
}

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
  app: App
  features: FeatureHandlers[]
  store: Store
  catalog: Catalog
  access: Access
  home: Home
  details: CardButtonsParts['details']
  openForm: OpenForm
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  signatures: RequestSignatures
  /** Receives a request that cannot be trusted, and why. */
  onDistrusted: (request: Request, problem: AuthorityProblem) => Promise<void> | void
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
export function createInteractions({ app, features, catalog, access, home, onError, ...parts }: InteractionsParts): InteractionHandlers {
  const { store, linkTo, openForm, signatures, onDistrusted } = parts
  const commands = features.flatMap((feature) => feature.commands)
  const router = createCommandRouter({ commands, ...access })
  const openers = formOpeners(app, commands)
  const cardButtons = createCardButtons({
    find: store.find,
    decide: decideWith(app),
    handOver: (request, click) => handOver(app, request, click),
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
      openers.clicks,
      home.clicks,
      cardButtons.clicks,
      itemDetails.clicks,
      ...features.map(({ clicks }) => clicks),
    ),
    submissions: Object.assign(
      {},
      openers.submissions,
      cardButtons.submissions,
      ...features.map(({ submissions }) => thenShow(home, onError, submissions)),
    ),
    shortcuts: Object.assign({}, openers.shortcuts, ...features.map(({ shortcuts }) => shortcuts)),
    options: Object.assign({}, ...features.map(({ options }) => options)),
    home: home.open,
  }
}

/** How long a delivery is remembered. Slack's triggers and signatures expire sooner, so a later repeat is refused anyway. */
const keepMs = 15 * 60_000

/** Creates the check for repeated deliveries, for all replicas. */
export function createDeliveries({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** While Redis does not answer, every delivery counts as the first one. Then only the record prevents a change from being made twice. */
  return async function isFirstDelivery(key: string): Promise<boolean> {
    try {
      return (await claim(redis, keys.delivery(key), { token: randomUUID(), lastsMs: keepMs })) === undefined
    } catch {
      return true
    }
  }
}

/** Interactions that Slack sends to separate addresses. One address can work while the other does not. */
type Received = 'click' | 'options'

/** The time is stored at most once a minute. */
const storeEveryMs = 60_000

/** Creates the record of when the last interaction arrived from Slack, for all replicas. It is the only proof that interactivity works. */
export function createLastReceived({ redis, keys, now = Date.now }: { redis: Redis; keys: Keys; now?: () => number }) {
  const noted = new Map<Received, number>()

  /** Never throws, because only `/infra doctor` reads the time. */
  function note(what: Received): void {
    if (now() - (noted.get(what) ?? 0) < storeEveryMs) return
    noted.set(what, now())
    void guardStore(() => redis.hset(keys.lastReceived, what, String(now()))).catch(() => noted.delete(what))
  }

  /** Returns how long ago each arrived, in ms. Throws StoreUnavailableError if Redis does not answer. */
  async function read(): Promise<Record<Received, number | undefined>> {
    const [click, options] = await guardStore(() => redis.hmget(keys.lastReceived, 'click', 'options'))
    const ago = (at: string | null | undefined) => (at == null ? undefined : Math.max(0, now() - Number(at)))
    return { click: ago(click), options: ago(options) }
  }

  return { note, read }
}
export type LastReceived = ReturnType<typeof createLastReceived>
