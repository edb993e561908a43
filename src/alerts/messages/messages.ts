import type { SourceAlert } from '../../domain/request/request.ts'
import { someOf } from '../../domain/text/some-of.ts'
import { alertWords } from '../../requests/messages/alert-words.ts'
import { truncate } from '../../slack/text/cut-text.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, ownWords } from '../../slack/text/text.ts'
import type { ServerProblem } from '../firing/find-servers.ts'
import type { Unevaluated } from '../payload/unevaluated.ts'

/** No server has a longer name. */
export const longestName = 253

interface NextStep {
  /** The slash command. */
  command: string
  /** The name of the server, if it is known. */
  server: string | undefined
  /** The account shows no Elastic IPs on the server, so a person can't evacuate it either. */
  isEmpty?: boolean | undefined
}

/** Says why an alert leads to no request, and which command to run. */
export function nothingProposed(alert: SourceAlert, why: Mrkdwn, nextStep: NextStep): Mrkdwn {
  const { server } = nextStep
  const subject = server === undefined ? mrkdwn`` : mrkdwn` for ${code(server)}`
  return joinMrkdwn([mrkdwn`:warning: *Alert${subject}: nothing was requested.* ${why} ${nextWords(nextStep)}`, alertWords(alert)], '\n')
}

/** Says why an alert is about no server, or why no server or no target was found. */
export function problemWords(problem: ServerProblem | Unevaluated): Mrkdwn {
  switch (problem.is) {
    case 'unevaluated':
      return problem.why === 'no-data'
        ? mrkdwn`Grafana has no data for the rule ${ruleOf(problem)}, so it doesn't know whether a server is down.`
        : mrkdwn`Grafana couldn't evaluate the rule ${ruleOf(problem)}, so it doesn't know whether a server is down.`
    case 'no-name':
      return mrkdwn`The alert has no label ${code(problem.label)}, which names the server.`
    case 'no-server':
      return mrkdwn`The account shows no server ${code(truncate(problem.named, longestName, 'plain'))}.`
    case 'several-servers':
      return mrkdwn`${problem.ids.length} servers are called ${code(problem.named)}: ${ownWords(someOf(problem.ids.map((id) => code(id).text)))}.`
    case 'no-target':
      return problem.site === undefined
        ? mrkdwn`The account doesn't show the site of ${code(problem.server.name)}, so the policy names no target.`
        : mrkdwn`The policy names no target for the site ${code(problem.site)} of ${code(problem.server.name)}.`
    case 'no-target-server':
      return problem.candidates === 0
        ? mrkdwn`No server ${code(problem.named)} can take over from ${code(problem.server.name)}: there is none in the same project and site.`
        : mrkdwn`${problem.candidates} servers are called ${code(problem.named)}, so it isn't clear which one takes over.`
  }
}

function ruleOf({ rule }: Unevaluated): Mrkdwn {
  return code(truncate(rule, longestName, 'plain'))
}

/** Says what a person can do. */
function nextWords({ command, server, isEmpty }: NextStep): Mrkdwn {
  if (server !== undefined && isEmpty) return mrkdwn`See the server: ${code(`${command} servers ${server}`)}.`
  if (server === undefined) return mrkdwn`Find the server with ${code(`${command} servers`)}, then run ${code(`${command} evacuate`)}.`
  return mrkdwn`By hand: ${code(`${command} evacuate ${server}`)}.`
}
