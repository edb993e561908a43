import type { ModalView } from '@slack/web-api'
import { OfferedThing } from '../../../domain/change/offer.ts'
import type { ChangeKind } from '../../../domain/policy/change-kind.ts'
import { noticeView } from '../../../slack/blocks/notice.ts'
import type { Click } from '../../../slack/commands/handlers.ts'
import { toUserWords } from '../../../slack/errors.ts'
import { readJson } from '../../../slack/receive/metadata.ts'
import { mrkdwn } from '../../../slack/text/text.ts'
import type { Access } from '../../access/access.ts'

interface OpenOfferParts {
  access: Pick<Access, 'gateForm'>
  kind: ChangeKind
  /** Renders the form, filled with the thing. `metadata` is that of the look-up. */
  form: (thing: OfferedThing, metadata: string) => Promise<ModalView>
}

/**
 * Creates the button of a look-up that offers a change: the filled form replaces the look-up, or the reason does why the person can't
 * request the change here.
 */
export function createOpenOffer({ access, kind, form }: OpenOfferParts) {
  return async function openOffer({ view, value, origin }: Click): Promise<void> {
    if (!view) return
    const thing = readJson(OfferedThing, value)
    if (!thing) return view.update(noticeView(mrkdwn`This button is out of date. Look the message up again.`))
    try {
      await access.gateForm(origin, kind)
    } catch (error) {
      const problem = toUserWords(error)
      if (!problem) throw error
      return view.update(noticeView(problem, 'Not possible'))
    }
    await view.update(await form(thing, view.metadata))
  }
}
