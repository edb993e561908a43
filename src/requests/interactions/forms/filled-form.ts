import type { ModalView } from '@slack/web-api'
import type { Mrkdwn } from '../../../slack/text/text.ts'

/** What a form is filled with. */
export interface Filling {
  input: unknown
  facts: unknown
  reason: string | undefined
  /** The title of the form while its fields stay as they are filled. Default: that of an empty form. */
  title?: string | undefined
  /** Shown on top: why the form opened. */
  problem?: Mrkdwn | undefined
}

/**
 * Renders the form of a kind of change, filled with an earlier request, with the change that undoes one, or with the words of a command.
 */
export type FilledForm = (metadata: string, filling: Filling) => ModalView

/** Reads the account, and renders the same form with what can be requested now. It replaces the filled form once that is open. */
export type FreshForm = (metadata: string, filling: Filling) => Promise<ModalView>
