import type { Button, ModalView } from '@slack/web-api'
import { z } from 'zod'
import type { Origin } from '../../domain/approval/origin.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { button, longestButtonValue } from '../../slack/blocks/blocks.ts'
import { formMetadata } from '../../slack/commands/forms/form-metadata.ts'
import type { Click, FormHandler, Handler, InteractionHandlers } from '../../slack/commands/handlers.ts'
import { outdatedButton, Refusal } from '../../slack/errors.ts'
import { type Details, detailsMessage } from '../../slack/lists/details.ts'
import { detailsActionId } from '../../slack/lists/item-choices.ts'
import { readJson } from '../../slack/receive/metadata.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Access } from '../access/access.ts'

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
