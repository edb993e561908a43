import type { ModalView } from '@slack/web-api'
import { EvacuationFinding, explainEvacuation } from '../../domain/evacuation/findings.ts'
import { requestLink } from '../../requests/messages/related.ts'
import { noticeView } from '../../slack/blocks/notice.ts'
import { quotedTitle } from '../../slack/text/phrase-words.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { LastMove, OfferedAddresses } from './offered.ts'

/** Says that a server has nothing to move, as far as it is known, and where it may have gone. */
export function nothingWords(server: string, last: LastMove | undefined): Mrkdwn {
  const nothing = mrkdwn`:warning: Nothing to move. The account shows no Elastic IPs on ${code(server)}, and Lockkeeper saw none there in the past 24 h.`
  return joinMrkdwn([nothing, ...lastMoveWords(last)], ' ')
}

/** `Last change: “Evacuate web-1 → web-2 (4 Elastic IPs)”, ended 2:13 PM (request b7e23ec2).` Empty if there is none. */
function lastMoveWords(last: LastMove | undefined): Mrkdwn[] {
  return last ? [mrkdwn`Last change: ${quotedTitle(last.title)}, ended ${dateTime(last.endedAt)} (${requestLink(last)}).`] : []
}

/**
 * Says what became of the addresses of an earlier request, and what moved them last, if none of them is on the server anymore. A form would
 * offer nothing to choose, and another target would not change that. Returns undefined if the form has something to offer.
 */
export function nothingLeftView({ serverName, offered, cannotMove, lastMove }: OfferedAddresses): ModalView | undefined {
  if (offered.length > 0 || cannotMove.length === 0 || !cannotMove.every(isGone)) return undefined
  const words = mrkdwn`No address of this request is on ${code(serverName)} anymore:`
  return noticeView(joinMrkdwn([words, ...cannotMove.map(lineOf), ...lastMoveWords(lastMove)], '\n'), 'Nothing to move')
}

/** Says which addresses are no longer on the server, what moved them last, and which stay because they can't be moved. */
export function cannotMoveWords({ cannotMove, serverName, lastMove }: OfferedAddresses): Mrkdwn {
  const [gone, stuck] = [cannotMove.filter(isGone), cannotMove.filter((each) => !isGone(each))]
  return joinMrkdwn(
    [
      ...(gone.length > 0 ? [mrkdwn`*No longer on ${code(serverName)}:*`, ...gone.map(lineOf), ...lastMoveWords(lastMove)] : []),
      ...(stuck.length > 0 ? [mrkdwn`*Left out, because they can't be moved:*`, ...stuck.map(lineOf)] : []),
    ],
    '\n',
  )
}

function lineOf(each: OfferedAddresses['cannotMove'][number]): Mrkdwn {
  const now = nowOn(each)
  return now === undefined ? mrkdwn`•  ${explainEvacuation(each.finding)?.why ?? each.address}` : mrkdwn`•  ${each.address} (on ${now})`
}

/** Whether an address is on another server by now, or is no longer on the account. */
export function isGone(each: OfferedAddresses['cannotMove'][number]): boolean {
  return nowOn(each) !== undefined || each.finding.code === 'no-elastic-ip'
}

/** The server that an address is on by now, if it isn't the one that is evacuated. */
function nowOn({ finding }: OfferedAddresses['cannotMove'][number]): string | undefined {
  const known = EvacuationFinding.safeParse(finding)
  return known.success && known.data.code === 'not-on-server' ? known.data.now : undefined
}
