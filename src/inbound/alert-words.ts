import type { SourceAlert } from '../domain/request.ts'
import { someOf } from '../domain/text.ts'
import { alertWords } from '../messages/words.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, ownWords, truncate } from '../slack/text.ts'
import { mostAlerts, type Unevaluated } from './alert-payload.ts'
import type { ServerProblem } from './alert-servers.ts'

/** Why an alert or a delivery led to nothing. The set is small and fixed, because it is a label of metrics. */
export const refusalReasons = [
  'wrong-token',
  'unreadable',
  'too-large',
  'too-many',
  'server',
  'target',
  'check',
  'rule',
  'not-posted',
  'other',
] as const
export type RefusalReason = (typeof refusalReasons)[number]

/** No server has a longer name. */
const longestName = 253

/** A message says of this many alerts why nothing was requested. Of the others it names some. */
const mostListed = 10

/** An alert that led to no request. */
export interface NotRequested {
  source: SourceAlert
  why: Mrkdwn
  /** The name of the server, if it is known. */
  server: string | undefined
  /** The account shows no Elastic IPs on the server, so a person can't evacuate it either. */
  isEmpty?: boolean | undefined
  /** What the alert calls its server. */
  named: string | undefined
}

/** Says why the alerts of a delivery led to no request, and which command to run. `command`: the slash command. */
export function nothingRequested(alerts: NotRequested[], command: string): Mrkdwn {
  const [first] = alerts
  if (first && alerts.length === 1) {
    const subject = first.server === undefined ? mrkdwn`` : mrkdwn` for ${nameOf(first.server)}`
    const head = mrkdwn`:warning: *Alert${subject}: nothing was requested.* ${first.why} ${nextWords(first, command)}`
    return joinMrkdwn([head, alertWords(first.source)], '\n')
  }
  const lines = alerts.slice(0, mostListed).map((each) => {
    const name = each.server ?? each.named
    const subject = name === undefined ? mrkdwn`` : mrkdwn`${nameOf(name)}: `
    return mrkdwn`•  ${subject}${each.why} ${alertWords(each.source)}`
  })
  const more = alerts.slice(mostListed).map(({ server, named, source }) => nameOf(server ?? named ?? source.name).text)
  const rest = more.length > 0 ? [mrkdwn`And ${more.length} more: ${ownWords(someOf(more))}.`] : []
  const head = mrkdwn`:warning: *${alerts.length} alerts: nothing was requested for them.* By hand: ${code(`${command} evacuate`)}.`
  return joinMrkdwn([head, ...lines, ...rest], '\n')
}

/** Says what a person can do. */
function nextWords({ server, isEmpty }: NotRequested, command: string): Mrkdwn {
  if (server !== undefined && isEmpty) return mrkdwn`See the server: ${code(`${command} servers ${server}`)}.`
  if (server === undefined) return mrkdwn`Find the server with ${code(`${command} servers`)}, then run ${code(`${command} evacuate`)}.`
  return mrkdwn`By hand: ${code(`${command} evacuate ${server}`)}.`
}

/** Says why an alert is about no server, or why no server or no target was found. */
export function problemWords(problem: ServerProblem | Unevaluated): Mrkdwn {
  switch (problem.is) {
    case 'unevaluated':
      return problem.why === 'no-data'
        ? mrkdwn`Grafana has no data for the rule ${nameOf(problem.rule)}, so it doesn't know whether a server is down.`
        : mrkdwn`Grafana couldn't evaluate the rule ${nameOf(problem.rule)}, so it doesn't know whether a server is down.`
    case 'no-name':
      return mrkdwn`The alert has no label ${code(problem.label)}, which names the server.`
    case 'no-server':
      return mrkdwn`The account shows no server ${nameOf(problem.named)}.`
    case 'several-servers':
      return mrkdwn`${problem.ids.length} servers are called ${nameOf(problem.named)}: ${ownWords(someOf(problem.ids.map((id) => code(id).text)))}.`
    case 'no-target':
      return problem.site === undefined
        ? mrkdwn`The account doesn't show the site of ${nameOf(problem.server.name)}, so the policy names no target.`
        : mrkdwn`The policy names no target for the site ${code(problem.site)} of ${nameOf(problem.server.name)}.`
    case 'no-target-server':
      return problem.candidates === 0
        ? mrkdwn`No server ${nameOf(problem.named)} can take over from ${nameOf(problem.server.name)}: there is none in the same project and site.`
        : mrkdwn`${problem.candidates} servers are called ${nameOf(problem.named)}, so it isn't clear which one takes over.`
  }
}

/** Says to the operators why alerts were not read. Their sender repeats what was refused, but nothing that it left out. */
export function unread(reason: RefusalReason | 'truncated', count = 0): Mrkdwn {
  switch (reason) {
    case 'wrong-token':
      return mrkdwn`:warning: Somebody sent alerts with a token that isn't in ${code('ALERTS_TOKEN')}. They were not read. If they are yours, set the sender's token. Otherwise find out who sends them.`
    case 'too-large':
      return mrkdwn`:warning: A delivery of alerts has more than 1 MB or ${mostAlerts} alerts. It was not read. Group alerts by more labels, or set ${code('max_alerts')}.`
    case 'truncated':
      return mrkdwn`:warning: The sender of alerts left out ${count} alerts of a group. Lockkeeper doesn't know them. Group alerts by more labels, or raise ${code('max_alerts')}.`
    default:
      return mrkdwn`:warning: A delivery of alerts, or a part of it, could not be read. Check that it comes from Alertmanager or Grafana.`
  }
}

/** Says that Redis named a wrong request for an alert. */
export function forgedProposal(requestId: string): Mrkdwn {
  return mrkdwn`:rotating_light: Redis said that an alert had led to request ${requestId}, and it hadn't. Lockkeeper handled the alert as a new one. Find out who can write to Redis.`
}

function nameOf(text: string): Mrkdwn {
  return code(truncate(text, longestName, 'plain'))
}
