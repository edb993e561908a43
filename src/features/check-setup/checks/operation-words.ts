import type { MissingRight } from '../../../domain/errors/missing-right.ts'
import type { WriteRefusal } from '../../../domain/errors/write-refusal.ts'
import { formatDuration } from '../../../domain/text/duration.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { ago, listOf } from './phrases.ts'

export const redis = {
  keeps: mrkdwn`Persistence on, no eviction, supported version.`,
  faulty: mrkdwn`Not safe for storing requests.`,
  fixFaulty: (faults: string[]) => mrkdwn`${faults.join(' ')}`,
  refuses: ({ code: refusal, why }: WriteRefusal) =>
    mrkdwn`Refuses writes, because ${why} (${refusal}). Nothing can be requested, approved or tracked.`,
  lacksRight: ({ why }: MissingRight) => mrkdwn`${why}`,
  silent: mrkdwn`Not responding, so nothing can be requested, approved or tracked.`,
  fixSilent: mrkdwn`Check that Redis runs at ${code('REDIS_URL')} and that Lockkeeper's host can reach it.`,
}

/** The consequence of a wrong clock. */
const clockMatters: Record<string, string> = {
  Slack: 'at 5 min, Lockkeeper refuses requests from Slack',
  Redis: 'deadlines use the clock of Redis',
}

export const clock = {
  right: (others: string[]) => mrkdwn`Same time as ${others.join(' and ')}.`,
  wrong: (offs: { other: string; aheadMs: number }[]) =>
    mrkdwn`Lockkeeper's host is ${listOf(
      offs.map(
        ({ other, aheadMs }) =>
          mrkdwn`${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other} (${clockMatters[other] ?? ''})`,
      ),
    )}.`,
  fix: (others: string[]) =>
    others.includes('Slack')
      ? mrkdwn`Enable clock synchronization (NTP) on Lockkeeper's host.`
      : mrkdwn`Enable clock synchronization (NTP) on Lockkeeper's host and on the Redis host.`,
  unknown: (other: string, why: string) => mrkdwn`Couldn't compare with ${other}: ${why}.`,
  partly: (right: string[], notCompared: Mrkdwn[]) => joinMrkdwn([...(right.length > 0 ? [clock.right(right)] : []), ...notCompared], ' '),
}

export const workers = {
  atWork: (seen: number) => mrkdwn`${seen} running.`,
  unseen: (state: string) => mrkdwn`Unknown while Redis ${state}: they can't report that they run.`,
  fixUnseen: mrkdwn`Fix Redis first, then run this command again.`,
  none: mrkdwn`None running. Approved requests aren't carried out, nothing is tracked and nothing expires.`,
  fixNone: mrkdwn`Start a process with ${code('ROLE=worker')} or ${code('ROLE=all')}, and the same ${code('REDIS_URL')} and ${code('REDIS_PREFIX')}.`,
  stuck: (seen: number, lastTickMs: number) =>
    mrkdwn`${seen} running, but work that was due 5 min ago isn't done. ${
      Number.isFinite(lastTickMs) ? mrkdwn`The last tick was ${ago(lastTickMs)}.` : mrkdwn`There was no tick yet.`
    }`,
  fixStuck: mrkdwn`Restart the workers and check their log for the cause.`,
}
