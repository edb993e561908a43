import type { ModalView } from '@slack/web-api'
import { Refusal } from './errors.ts'
import type { Messenger } from './messenger.ts'
import { noticeView } from './notice.ts'
import { mrkdwn } from './text.ts'

/**
 * Opens a form and only then asks whether the person may use it: a trigger lives 3 s, so nothing may come before. Where they may
 * not, the form turns into the refusal. Submissions are checked anew all the same.
 */
export function createFormOpener(messenger: Pick<Messenger, 'openView' | 'updateView'>) {
  return async function openForm(triggerId: string, view: ModalView, allow: () => Promise<void>): Promise<void> {
    const opened = await messenger.openView(triggerId, view)
    if (opened.is !== 'opened')
      throw new Refusal(mrkdwn`Slack did not open the form in time. Try once more; with arguments the command needs no form.`)
    try {
      await allow()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      await messenger.updateView(opened.viewId, noticeView(error.words, 'Not possible'))
    }
  }
}
export type OpenForm = ReturnType<typeof createFormOpener>
