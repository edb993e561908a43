import type { ModalView } from '@slack/web-api'
import type { z } from 'zod'
import type { App } from '../app.ts'
import { formMetadata, formOpeners } from '../bolt/open-forms.ts'
import type { Handlers } from '../bolt/read-interactions.ts'
import { pageButtons } from '../bolt/router.ts'
import type { Origin } from '../domain/approval.ts'
import type { ChangeKind } from '../domain/policy.ts'
import { cardButtons, moreOnHome, refreshHome } from '../messages/button-ids.ts'
import { gate } from '../rights/authorize.ts'
import { may, reasonTerms } from '../rights/judge.ts'
import type { Command } from '../slack/commands.ts'
import { goneSince, outdatedButton, Refusal, reading } from '../slack/errors.ts'
import type { Click, FormHandler, Handler, InteractionHandlers } from '../slack/interactions.ts'
import { type PageButton, pageActionIds } from '../slack/listing.ts'
import { readJson, readMetadata } from '../slack/payloads.ts'
import { type Details, detailsActionId, detailsMessage, ItemButton, itemActionId, itemButton, type ListedItem } from '../slack/table.ts'
import { mrkdwn } from '../slack/text.ts'
import { type ChangeForms, fillAgain, fillRetry, fillReverse, formAgain } from './again-forms.ts'
import type { Home } from './home.ts'
import { requestButtons } from './request-buttons.ts'

export interface FeatureHandlers {
  commands: Command[]
  /** The forms of its changes. They open filled: to request a change again, to undo one, or to give the reason of a command. */
  forms?: Record<ChangeKind, ChangeForms>
  clicks?: InteractionHandlers['clicks']
  submissions?: InteractionHandlers['submissions']
  shortcuts?: InteractionHandlers['shortcuts']
  options?: InteractionHandlers['options']
  details?: Record<string, ReadDetails>
  itemActions?: ItemAction[]
  /** The answer to words that are no command. Undefined if they name nothing. */
  bare?: Handlers['bare']
}

export function gatherHandlers(app: App, features: FeatureHandlers[], home: Home): Handlers {
  const commands = features.flatMap((feature) => feature.commands)
  const openers = formOpeners(app, commands)
  const found = features.find((feature) => feature.bare)?.bare
  const bare = found && reading(found)
  const pages = pageButtons(app, commands, bare)
  const pending = JSON.stringify({ version: 1, command: 'pending', args: [], page: 0 } satisfies z.infer<typeof PageButton>)
  const ofRequests = requestButtons(app, async (after) =>
    after.onHome ? home.show(after.origin) : pages[pageActionIds.refresh]?.({ ...after, value: pending } as Click),
  )
  return {
    commands,
    clicks: Object.assign(
      {
        [refreshHome]: reading(({ origin }: Click) => home.open(origin)),
        [moreOnHome]: reading(async ({ origin }: Click) => void (await home.show(origin, true))),
      },
      pages,
      openers.clicks,
      ofRequests.clicks,
      againButtons(app, Object.assign({}, ...features.map(({ forms }) => forms))),
      itemButtons(app, features),
      ...features.map(({ clicks }) => clicks),
    ),
    submissions: {
      ...openers.submissions,
      ...thenShowHome(app, home, Object.assign(ofRequests.submissions, ...features.map(({ submissions }) => submissions))),
    },
    shortcuts: Object.assign({}, openers.shortcuts, ...features.map(({ shortcuts }) => shortcuts)),
    options: Object.assign({}, ...features.map(({ options }) => options)),
    home: reading(home.open),
    bare,
  }
}

/** What was sent with a form of the Home tab or of a global shortcut appears on the Home tab. */
function thenShowHome(app: App, home: Home, submissions: InteractionHandlers['submissions']): InteractionHandlers['submissions'] {
  const entries = Object.entries(submissions).map(([callbackId, submit]): [string, typeof submit] => [
    callbackId,
    async (submission) => {
      const answer = await submit(submission)
      const isFromChannel = readMetadata(submission.metadata)?.responseUrl !== undefined
      // The form closes without waiting for it.
      if (answer.is === 'accepted' && !isFromChannel) home.show(submission.origin).catch(app.errors.of('people'))
      return answer
    },
  ])
  return Object.fromEntries(entries)
}

/** The buttons that open the form of a kind again, filled from a request. */
function againButtons(app: App, forms: Record<ChangeKind, ChangeForms>): InteractionHandlers['clicks'] {
  return {
    [cardButtons.again]: formAgain(app, forms, fillAgain),
    [cardButtons.reverse]: formAgain(app, forms, fillReverse),
    [cardButtons.retry]: formAgain(app, forms, fillRetry),
  }
}

/** Reads the details of an item by its id. Undefined if there is no such item any more. */
type ReadDetails = (id: string, origin: Origin) => Promise<Details | undefined>

/** A change that can be requested for an item from its details: a button, which opens the form filled with the item. */
export interface ItemAction {
  of: string
  kind: ChangeKind
  label: string
  style?: 'danger'
  form: (metadata: string, item: ListedItem) => ModalView
}

/** Shows the details of an item that was chosen below a list, and opens the forms of its changes. */
function itemButtons(app: App, features: FeatureHandlers[]): InteractionHandlers['clicks'] {
  const actions = features.flatMap(({ itemActions }) => itemActions ?? [])
  const details: Record<string, ReadDetails> = Object.assign({}, ...features.map((feature) => feature.details))

  function showDetails(of: string, read: ReadDetails): Handler<Click> {
    return reading(async ({ value, origin, answer }) => {
      const own = actions.filter((action) => action.of === of)
      const kinds = own.map(({ kind }) => kind)
      const [found, allowed] = await Promise.all([read(value, origin), may(app, origin, kinds)])
      if (!found) throw new Refusal('out-of-date', mrkdwn`This item is gone. Run the command again for the current list.`)
      const buttons = own
        .filter(({ kind }) => !found.isFixed && !found.without?.includes(kind) && allowed.includes(kind))
        .flatMap((action) => itemButton(action, { id: value, text: found.name }))
      await answer.ephemeral(detailsMessage(found, buttons, origin.command))
    })
  }

  function openItemForm({ of, kind, form }: ItemAction): FormHandler<Click> {
    const opened = (click: Click, now?: string) => {
      const item = readJson(ItemButton, click.value)
      if (!item) throw new Refusal('out-of-date', outdatedButton)
      const metadata = formMetadata(app, click, reasonTerms(app, kind, click.origin.channelId))
      return { ...item, view: form(metadata, { ...item, text: now ?? item.text }) }
    }
    return {
      form: (click) => opened(click).view,
      allow: async ({ origin }) => void (await gate(app, origin, kind, 'opened')),
      // The message with the button can be days old.
      fill: async (click) => {
        const { id, text } = opened(click)
        const asBefore = { name: text }
        const now = await (details[of]?.(id, click.origin).catch(() => asBefore) ?? asBefore)
        if (!now) throw goneSince(text)
        return now.name === text ? undefined : opened(click, now.name).view
      },
    }
  }

  return Object.fromEntries([
    ...Object.entries(details).map(([of, read]) => [detailsActionId(of), showDetails(of, read)]),
    ...actions.map((action) => [itemActionId(action), openItemForm(action)]),
  ])
}
