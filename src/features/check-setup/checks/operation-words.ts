import { formatDuration } from '../../../domain/duration.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { ago, listOf } from './phrases.ts'

export const redis = {
  keeps: mrkdwn`keeps what it is told: it evicts nothing, writes to disk, and is new enough.`,
  faulty: mrkdwn`is not fit to keep requests.`,
  fixFaulty: (faults: string[]) => mrkdwn`${faults.join(' ')}`,
  silent: mrkdwn`does not answer, so nothing can be asked for, decided or followed.`,
  fixSilent: mrkdwn`See that it runs at REDIS_URL, and that the machine that I run on may reach it.`,
}

/** What goes wrong if the clocks disagree. */
const clockMatters: Record<string, string> = {
  Slack: 'requests that are 5 min off are refused',
  Redis: 'all waiting is counted by its clock',
}

export const clock = {
  right: (others: string[]) => mrkdwn`agrees with that of ${others.join(' and ')}.`,
  wrong: (offs: { other: string; aheadMs: number }[]) =>
    mrkdwn`of the machine that I run on is ${listOf(
      offs.map(
        ({ other, aheadMs }) =>
          mrkdwn`${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of ${other} (${clockMatters[other] ?? ''})`,
      ),
    )}.`,
  fix: (others: string[]) =>
    others.includes('Slack')
      ? mrkdwn`Turn on the synchronisation of that machine's clock (NTP).`
      : mrkdwn`Turn on the synchronisation of clocks (NTP) on that machine and on the one that Redis runs on.`,
  unknown: (other: string, why: string) => mrkdwn`could not be compared with that of ${other}: ${why}.`,
  partly: (right: string[], notCompared: Mrkdwn[]) =>
    joinMrkdwn([...(right.length > 0 ? [clock.right(right)] : []), ...notCompared], ' It '),
}

export const workers = {
  atWork: (seen: number) => mrkdwn`${count(seen)} at work.`,
  none: mrkdwn`none is at work: what is approved is not carried out, nothing is followed, and nothing expires.`,
  fixNone: mrkdwn`Start a process with ROLE=worker or ROLE=all, with the same REDIS_URL and REDIS_PREFIX.`,
  stuck: (seen: number, lastTickMs: number) =>
    mrkdwn`${count(seen)} at work, but what was due 5 min ago has not been attended to. ${
      Number.isFinite(lastTickMs) ? mrkdwn`The last round was ${ago(lastTickMs)}.` : mrkdwn`There was no round yet.`
    }`,
  fixStuck: mrkdwn`Start the workers again, and look into their log for what holds them up.`,
}

function count(seen: number): string {
  return seen === 1 ? 'one is' : `${seen} are`
}
