import type { Moment } from './change.ts'
import type { ElasticIp } from './elastic-ip.ts'
import type { Verdict } from './verdict.ts'

export interface Move {
  address: string
  /** Undefined when the account could not be read at the request. */
  from: { id: string; name: string } | undefined
  to: { id: string; name: string }
}

/**
 * What a look at the Elastic IP means for a move. `active` is the status before *and* after a move, so only `active` on the
 * target is done (interface specification, "States and transitions"; how `moving` ends is not shown there).
 * Sets of values are open: an unknown status keeps the request under observation and settles nothing.
 */
export function judgeMove(move: Move, seen: ElasticIp | 'gone', moment: Moment): Verdict {
  if (seen === 'gone') return { is: 'failed', why: `${move.address} no longer exists on the account.` }
  if (seen.status === 'error') return { is: 'failed', why: `The account API reports ${move.address} in status error.` }
  if (seen.status === 'releasing') return { is: 'failed', why: `${move.address} is being released from the account.` }
  if (!seen.server) return { is: 'unclear', why: `it is ${seen.status} and shows no server` }

  const onTarget = seen.server.id === move.to.id
  if (seen.status === 'moving') return onTarget ? { is: 'underway' } : superseded(seen, 'is moving to')
  if (seen.status !== 'active') return { is: 'unclear', why: `its status is ${seen.status}` }
  if (onTarget) return { is: 'done' }
  if (move.from && seen.server.id !== move.from.id) return superseded(seen, 'is on')
  return judgeUnmoved(move, seen, moment)
}

function judgeUnmoved(move: Move, seen: ElasticIp, moment: Moment): Verdict {
  if (moment.early) return { is: 'unclear', why: 'it still shows the server it was on' }
  const where = move.from?.name ?? seen.server?.hostname ?? seen.server?.id ?? 'the server it was on'
  if (moment.phase === 'accepted') {
    return {
      is: 'failed',
      why: `The account API accepted the move, but ${move.address} is active on ${where} again.`,
      mayStillHappen: true,
    }
  }
  return { is: 'not-started', why: `${move.address} is still active on ${where}: the move did not start and nothing was changed.` }
}

function superseded(seen: ElasticIp, verb: string): Verdict {
  const where = seen.server?.hostname ?? seen.server?.id
  return { is: 'superseded', why: `${seen.address} ${verb} ${where}: it was moved by somebody else meanwhile.` }
}
