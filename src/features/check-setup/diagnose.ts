import { formatDuration } from '../../domain/duration.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, ownWords } from '../../slack/text.ts'
import { isUnanswered, type SetupFacts, type Unanswered } from './facts.ts'

/** One line of the answer. `mend`: what to do, where something is wrong. */
export interface Finding {
  is: 'ok' | 'wrong' | 'unknown'
  what: string
  words: Mrkdwn
  mend?: Mrkdwn
}

const neededScopes: Record<string, string> = {
  commands: 'commands do not work',
  'chat:write': 'nothing can be posted',
  'users:read': 'nobody can be told from a guest, so everybody is denied',
  'usergroups:read': 'members of user groups are denied',
  'channels:read': 'I cannot tell a channel that is shared with another organisation',
  'groups:read': 'I cannot tell a private channel that is shared with another organisation',
}
const optionalScopes = ['channels:history', 'groups:history']

/** Slack refuses what is five minutes off; from here on something is wrong with the clock. */
const clockWrongMs = 30_000

const reinstall = mrkdwn`Paste the current manifest.yml into the app's manifest page (api.slack.com/apps), then reinstall the app.`

/** Every sentence of the doctor, from what was found out. Pure. */
export function diagnose(facts: SetupFacts): Finding[] {
  return [
    scopes(facts),
    manifest(facts),
    interactivity(facts),
    pickers(facts),
    ...channels(facts),
    redis(facts),
    apiKey(facts),
    ...clocks(facts),
    workers(facts),
    ...groups(facts),
  ]
}

function unknown(what: string, { unanswered }: Unanswered): Finding {
  return { is: 'unknown', what, words: mrkdwn`could not be found out: ${unanswered}.` }
}

function scopes({ scopes: granted }: SetupFacts): Finding {
  const what = "Slack's scopes"
  if (isUnanswered(granted)) return unknown(what, granted)
  if (!granted) return { is: 'unknown', what, words: mrkdwn`could not be found out: Slack does not tell which are granted.` }
  const missing = Object.keys(neededScopes).filter((scope) => !granted.includes(scope))
  if (missing.length > 0) {
    const lines = missing.map((scope) => mrkdwn`${code(scope)} is missing: ${neededScopes[scope] ?? ''}`)
    return { is: 'wrong', what, words: mrkdwn`${joinMrkdwn(lines, '; ')}.`, mend: reinstall }
  }
  const declined = optionalScopes.filter((scope) => !granted.includes(scope))
  if (declined.length === 0) return { is: 'ok', what, words: mrkdwn`all granted.` }
  return {
    is: 'ok',
    what,
    words: mrkdwn`all that are needed. Without ${declined.join(' and ')} a message whose answer was lost may come twice, and says so.`,
  }
}

function manifest({ home, scopes: granted }: SetupFacts): Finding {
  const what = "The app's manifest"
  const lacks = Array.isArray(granted) ? Object.keys(neededScopes).filter((scope) => !granted.includes(scope)) : []
  const isOff = typeof home === 'object' && 'refused' in home && home.refused === 'not_enabled'
  if (isOff || lacks.length > 0) {
    const why = isOff ? 'its Home tab is off' : 'it lacks scopes of mine'
    return { is: 'wrong', what, words: mrkdwn`is older than I am: ${why}.`, mend: reinstall }
  }
  if (isUnanswered(home)) return unknown(what, home)
  if (home !== 'shown') return { is: 'wrong', what, words: mrkdwn`Slack did not show your Home tab (${home.refused}).`, mend: reinstall }
  return { is: 'ok', what, words: mrkdwn`has the Home tab and the scopes of this version.` }
}

function interactivity({ lastHeardMs, usesSockets }: SetupFacts): Finding {
  const what = 'Buttons'
  if (isUnanswered(lastHeardMs)) return unknown(what, lastHeardMs)
  if (lastHeardMs.click !== undefined) return { is: 'ok', what, words: mrkdwn`last worked ${formatDuration(lastHeardMs.click)} ago.` }
  const where = usesSockets
    ? mrkdwn`turn *Interactivity & Shortcuts* on; Socket Mode needs no address there.`
    : mrkdwn`turn *Interactivity & Shortcuts* on, with the address of the commands as its Request URL.`
  return {
    is: 'unknown',
    what,
    words: mrkdwn`no click has ever reached me. Press *Test the buttons* below.`,
    mend: mrkdwn`If nothing answers, ${where}`,
  }
}

function pickers({ lastHeardMs, usesSockets }: SetupFacts): Finding {
  const what = 'Pickers'
  if (isUnanswered(lastHeardMs)) return unknown(what, lastHeardMs)
  if (lastHeardMs.options !== undefined) return { is: 'ok', what, words: mrkdwn`last worked ${formatDuration(lastHeardMs.options)} ago.` }
  const where = usesSockets
    ? mrkdwn`turn *Interactivity & Shortcuts* on.`
    : mrkdwn`enter the address of the commands as *Options Load URL* under *Interactivity & Shortcuts*.`
  return {
    is: 'unknown',
    what,
    words: mrkdwn`no form has ever asked me for choices. Open *Test the pickers* below.`,
    mend: mrkdwn`If it stays empty, ${where}`,
  }
}

function channels({ channels: all }: SetupFacts): Finding[] {
  return all.map(({ id, membership }): Finding => {
    const channel = ownWords(`<#${id}>`)
    if (membership.is === 'member') return { is: 'ok', what: 'Channel', words: mrkdwn`${channel}: I am in it.` }
    if (membership.is === 'untold')
      return { is: 'unknown', what: 'Channel', words: mrkdwn`${channel}: Slack does not tell whether I am in it (${membership.why}).` }
    return {
      is: 'wrong',
      what: 'Channel',
      words: mrkdwn`${channel}: I am not in it, so I can post nothing there.`,
      mend: mrkdwn`Type */invite @Lockkeeper* there.`,
    }
  })
}

function redis({ redisFaults }: SetupFacts): Finding {
  const what = 'Redis'
  if (isUnanswered(redisFaults)) return unknown(what, redisFaults)
  if (redisFaults.length === 0) return { is: 'ok', what, words: mrkdwn`keeps what it is told: no eviction, written to disk, new enough.` }
  return {
    is: 'wrong',
    what,
    words: mrkdwn`${redisFaults.join(' ')}`,
    mend: mrkdwn`Until then approvals and moves in flight can be lost without a word.`,
  }
}

function apiKey({ key }: SetupFacts): Finding {
  const what = 'The account API'
  if (isUnanswered(key)) return unknown(what, key)
  if ('unreachable' in key) {
    return {
      is: 'wrong',
      what,
      words: mrkdwn`cannot be reached (${key.unreachable}).`,
      mend: mrkdwn`Check INFRA_API_URL, the name server, firewalls and certificates of the machine that I run on.`,
    }
  }
  if ('rejected' in key) {
    return {
      is: 'wrong',
      what,
      words: mrkdwn`rejects my API key (${key.rejected}).`,
      mend: mrkdwn`Set a valid INFRA_API_KEY that may be used from my address, and start me again.`,
    }
  }
  if (key.readOnly) {
    return {
      is: 'wrong',
      what,
      words: mrkdwn`answers, but my API key ${code(key.name ?? 'without a name')} is read-only: nothing can be changed.`,
      mend: mrkdwn`Make a key with full access, set it as INFRA_API_KEY, and start me again.`,
    }
  }
  if (!key.known) return { is: 'ok', what, words: mrkdwn`answers, and takes my API key.` }
  return { is: 'ok', what, words: mrkdwn`answers, and takes my API key ${code(key.name ?? 'without a name')}.` }
}

function clocks({ clock: { ofRedisMs, ofSlackMs } }: SetupFacts): Finding[] {
  const slack = isUnanswered(ofSlackMs) ? unknown('Clock', ofSlackMs) : clockFinding('Slack', ofSlackMs)
  const own = isUnanswered(ofRedisMs) ? unknown('Clock', ofRedisMs) : clockFinding('Redis', ofRedisMs)
  return [slack, own]
}

function clockFinding(other: string, aheadMs: number | undefined): Finding {
  const what = 'Clock'
  if (aheadMs === undefined) return { is: 'unknown', what, words: mrkdwn`${other} does not tell its time.` }
  const off = formatDuration(Math.abs(aheadMs))
  if (Math.abs(aheadMs) < clockWrongMs) return { is: 'ok', what, words: mrkdwn`agrees with ${other}'s.` }
  return {
    is: 'wrong',
    what,
    words: mrkdwn`is ${off} ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other}'s.`,
    mend: mrkdwn`Set the clocks by NTP: Slack and I refuse each other from 5 min on.`,
  }
}

function workers({ workers: count }: SetupFacts): Finding {
  const what = 'Workers'
  if (isUnanswered(count)) return unknown(what, count)
  if (count > 0) return { is: 'ok', what, words: mrkdwn`${count === 1 ? 'one is' : `${count} are`} at work.` }
  return {
    is: 'wrong',
    what,
    words: mrkdwn`none is at work: what is approved is not carried out, and nothing is followed.`,
    mend: mrkdwn`Start a process with ROLE=worker or ROLE=all on the same Redis and REDIS_PREFIX.`,
  }
}

function groups({ groups: all }: SetupFacts): Finding[] {
  return all.map(({ id, members }): Finding => {
    const [what, group] = ['User group', ownWords(`<!subteam^${id}>`)]
    if (members === 'unknown') {
      return {
        is: 'wrong',
        what,
        words: mrkdwn`${group} (${code(id)}) cannot be read, so everybody who counts on it is denied.`,
        mend: mrkdwn`Check the id in the configuration, that the group is not disabled, and the scope usergroups:read.`,
      }
    }
    if (members === 0)
      return {
        is: 'wrong',
        what,
        words: mrkdwn`${group} (${code(id)}) is empty.`,
        mend: mrkdwn`Put people into it, or name others in the configuration.`,
      }
    return { is: 'ok', what, words: mrkdwn`${group} has ${members === 1 ? 'one member' : `${members} members`}.` }
  })
}
