import type { SourceAlert } from '../../domain/request/request.ts'
import { alertWords } from '../../requests/messages/alert-words.ts'
import { truncate } from '../../slack/text/cut-text.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { mostInChannel } from '../slots.ts'
import { mostKept, type StormServers } from '../storm-servers.ts'
import { longestName } from './messages.ts'

/** A message in a thread lists this many alerts of a delivery, and counts the others. */
const mostListed = 20

/** An alert in a list, with the name of its server. */
interface ListedAlert {
  alert: SourceAlert
  server: string | undefined
}

/** Opens a storm. The alerts themselves are listed in the thread of this message. */
export function stormWords(command: string, servers: StormServers): Mrkdwn {
  const about = servers.count > 0 ? mrkdwn` Nothing was requested for ${namesOf(servers)}.` : mrkdwn``
  return mrkdwn`:rotating_light: *Many alerts.*${about} In 10 minutes Lockkeeper posts at most ${mostInChannel} proposals and ${mostInChannel} notices here. The other alerts are listed in this thread. By hand: ${code(`${command} evacuate`)}.`
}

/** Names the first servers, and counts the others: `web-4, web-5 and 3 more servers`. */
function namesOf({ first, count }: StormServers): Mrkdwn {
  const names = joinMrkdwn(
    first.map((name) => nameOf(name)),
    ', ',
  )
  const more = count - first.length
  if (more <= 0) return names
  return mrkdwn`${names} and ${count >= mostKept ? 'at least ' : ''}${more} more ${more === 1 ? 'server' : 'servers'}`
}

/** Lists the alerts of one delivery that came in a storm. */
export function listedWords(alerts: ListedAlert[]): Mrkdwn {
  const head = mrkdwn`*${alerts.length === 1 ? '1 more alert' : `${alerts.length} more alerts`}.* Nothing was proposed.`
  return withLines(head, alerts.map(lineOf))
}

/** Says that alerts which led to no request have resolved. `endedAt`: in ms since 1970, if the sender says it. */
export function resolvedWords(alerts: (ListedAlert & { endedAt: number | undefined })[]): Mrkdwn {
  const [only] = alerts
  if (only && alerts.length === 1) return mrkdwn`:large_green_circle: *Resolved*${atTime(only.endedAt)}. ${lineOf(only)}`
  const lines = alerts.map((each) => mrkdwn`${lineOf(each)}${each.endedAt === undefined ? mrkdwn`` : mrkdwn`,${atTime(each.endedAt)}`}`)
  return withLines(mrkdwn`:large_green_circle: *${alerts.length} alerts resolved.*`, lines)
}

function atTime(at: number | undefined): Mrkdwn {
  return at === undefined ? mrkdwn`` : mrkdwn` at ${dateTime(at)}`
}

function lineOf({ alert, server }: ListedAlert): Mrkdwn {
  return server === undefined ? alertWords(alert) : mrkdwn`${nameOf(server)}: ${alertWords(alert)}`
}

function nameOf(server: string): Mrkdwn {
  return code(truncate(server, longestName, 'plain'))
}

function withLines(head: Mrkdwn, lines: Mrkdwn[]): Mrkdwn {
  const more = lines.length - mostListed
  const listed = lines.slice(0, mostListed).map((line) => mrkdwn`•  ${line}`)
  return joinMrkdwn([head, ...listed, ...(more > 0 ? [mrkdwn`And ${more} more.`] : [])], '\n')
}
