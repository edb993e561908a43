import { isForLackOfAnswer } from '../../domain/approval/denial.ts'
import { alertsRequester } from '../../domain/approval/origin.ts'
import type { Change } from '../../domain/change/change.ts'
import { CheckFailed, UserError } from '../../domain/errors/errors.ts'
import type { EvacuationFinding } from '../../domain/evacuation/findings.ts'
import { unlessAborted } from '../../domain/within.ts'
import { Denied } from '../../requests/access/refuse.ts'
import type { Submit } from '../../requests/lifecycle/submit/submit.ts'
import { toUserWords } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import { deliveryKeyOf } from '../episode.ts'
import { type RefusalReason, TryLater } from '../outcome.ts'
import { reasonOf, sourceOf } from '../payload/source-alert.ts'
import type { EvacuationServers } from './find-servers.ts'
import type { ClaimedFiring } from './firing.ts'
import type { Refused } from './refuse-firing.ts'

export interface RequestEvacuationParts {
  submit: Submit
  /** The change that alerts request. */
  change: Change
  /** The slash command, for what people can do by hand. */
  command: string
  /** The workspace of the bot. */
  teamId: () => string | undefined
}

/** Creates the function that submits the request of an alert. It returns why nothing was requested, or undefined. */
export function createRequestEvacuation({ submit, change, command, teamId }: RequestEvacuationParts) {
  return async function requestEvacuation(
    { alert, route: { channelId } }: ClaimedFiring,
    { server, target }: EvacuationServers,
    episode: string,
    signal: AbortSignal,
  ): Promise<Pick<Refused, 'words' | 'reason' | 'isEmpty'> | undefined> {
    const team = teamId()
    try {
      const submitted = submit({
        change,
        input: change.inputOfAlert?.({ serverId: server.id, targetId: target.id }),
        origin: { channelId, userId: alertsRequester, command, ...(team === undefined ? {} : { teamId: team }) },
        reason: reasonOf(alert),
        alert: sourceOf(alert),
        deliveryKey: deliveryKeyOf(episode),
      })
      await unlessAborted(signal, submitted)
      return undefined
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      if (error instanceof Denied && (isForLackOfAnswer(error.denial) || error.denial.code === 'project-unknown'))
        throw new TryLater(error.denial.code)
      return { words: toUserWords(error) ?? mrkdwn`${error.message}`, reason: reasonOfRefusal(error), isEmpty: isNothingThere(error) }
    }
  }
}
export type RequestEvacuation = ReturnType<typeof createRequestEvacuation>

function isNothingThere(error: UserError): boolean {
  return error instanceof CheckFailed && error.finding.code === ('nothing-on-server' satisfies EvacuationFinding['code'])
}

function reasonOfRefusal(error: UserError): RefusalReason {
  if (error instanceof CheckFailed) return 'check'
  return error instanceof Denied ? 'rule' : 'other'
}
