import type { ModalView } from '@slack/web-api'
import { noticeView } from '../../blocks/notice.ts'
import { Refusal } from '../../errors.ts'
import { mrkdwn } from '../../text/text.ts'
import type { Messenger } from '../../web-api/messenger.ts'

/**
 * Opens a form, then checks whether the person may use it. A trigger expires after 3 s, so nothing slow may run first. If they may not, the
 * refusal replaces the form. If `allow` returns a view, that view replaces it. Each submission is checked again.
 */
export function createFormOpener(messenger: Pick<Messenger, 'openView' | 'updateView'>) {
  return async function openForm(triggerId: string, view: ModalView, allow: () => Promise<ModalView | undefined>): Promise<void> {
    const opened = await messenger.openView(triggerId, view)
    if (opened.is !== 'opened')
      throw new Refusal(
        mrkdwn`Slack didn't open the form in time. Nothing was done. Press the button again, or send the command again. A whole command needs no form.`,
      )
    try {
      const filled = await allow()
      if (filled) await messenger.updateView(opened.viewId, filled)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      await messenger.updateView(opened.viewId, noticeView(error.words, 'Not possible'))
    }
  }
}
export type OpenForm = ReturnType<typeof createFormOpener>
