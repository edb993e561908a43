import { randomUUID } from 'node:crypto'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { UserError } from '../domain/errors.ts'
import { currentRequest } from '../domain/lane.ts'
import { noteRefused } from '../rights/authorize.ts'
import { causeOf, toUserWords } from '../slack/errors.ts'
import { code, type Mrkdwn, mrkdwn } from '../slack/text.ts'

/** Reports an error, to the log, and a refused decision to the audit. Returns it in the words for the person. `at` names the interaction. */
export async function reportInWords(app: App, thrown: unknown, { at, origin, typed }: Attempted): Promise<Mrkdwn> {
  const words = toUserWords(thrown)
  const error = causeOf(thrown)
  const reference = words === undefined ? randomUUID().slice(0, 8) : undefined
  app.errors.shownToPerson(error, { at, userId: origin?.userId, reference })
  const requestId = currentRequest()
  if (error instanceof UserError && origin && requestId) await noteRefused(app, origin, error, { at, requestId })
  if (words && typed !== undefined && !(error instanceof UserError)) return mrkdwn`${words}\nYou typed: ${code(typed)}`
  return words ?? mrkdwn`Something went wrong. Tell Lockkeeper's operators, with the reference ${code(reference ?? '')}.`
}

/** The same for a form that stays open and shows it. Throws an error that has no words of its own. */
export async function problemIn(app: App, thrown: unknown, attempted: Attempted): Promise<Mrkdwn> {
  if (toUserWords(thrown) === undefined) throw thrown
  return reportInWords(app, thrown, attempted)
}

interface Attempted {
  /** `click request-approve` */
  at: string
  /** Undefined if it is not known who it was. */
  origin: Origin | undefined
  /** The command, if it was one. */
  typed?: string
}
