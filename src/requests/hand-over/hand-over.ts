import { CheckFailed, UserError } from '../../domain/errors.ts'
import type { Finding } from '../../domain/finding.ts'
import type { Request } from '../../domain/request.ts'
import type { Wake } from '../../redis/queues.ts'
import type { Click } from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Access } from '../access/access.ts'
import type { Catalog, Opened } from '../catalog.ts'
import { type CommonFinding, explainAll } from '../messages/causes.ts'
import { tooLate, unknownRequest } from '../messages/refusals.ts'
import type { Show } from '../outbox/show.ts'
import { createIssueAndShow, type IssueAndShowParts } from './issue-and-show.ts'

const preflightMs = 5_000

const onTheCard = mrkdwn`Nothing was made: here, on the Home tab, the token could not be shown to you alone. Press the button on the card, in the channel.`

interface HandOverParts extends IssueAndShowParts {
  access: Access
  catalog: Catalog
  show: Show
  wake: Wake
}

/**
 * Makes what was approved and shows it to the person who asked, in answer to their click. Whatever goes wrong after the write ends
 * with the secret worthless: a secret that nobody has seen must not stay valid, and is never kept to be shown later.
 */
export function createHandOver({ access, catalog, show, wake, ...parts }: HandOverParts) {
  const { store, timings } = parts
  const issueAndShow = createIssueAndShow(parts)

  return async function handOver(request: Request, click: Click): Promise<void> {
    const opened = catalog.open(request)
    const grant = await access.authorize(click.origin, { to: 'own', request, wants: 'take' })
    const { handover } = opened.change
    if (request.state !== 'approved' || !handover) throw new Refusal(tooLate(request, click.origin.userId))
    if (click.onHome) throw new Refusal(onTheCard)
    const facts = await lookAgain(request, opened)

    const startedAt = performance.now()
    const takenBackFrom = { byRedis: (await store.now()) + timings.handoverMs, here: startedAt + timings.handoverMs }
    const claimed = await store.take(request, 'issue', {
      set: { seen: facts },
      dueInMs: timings.handoverMs,
      audit: { by: click.origin.userId, ...grant },
    })
    if (claimed.outcome === 'expired') return expire(request, click)
    if (claimed.outcome !== 'won') {
      const now = await store.find(request.id)
      throw new Refusal(now ? tooLate(now, click.origin.userId) : unknownRequest)
    }
    // Should this process end before it has shown what it issues, somebody takes it back.
    await wake(request, timings.handoverMs)
    await issueAndShow({ request, change: opened.change, handover, input: opened.input, facts, startedAt, takenBackFrom }, click)
    await show(request.id)
  }

  /** The time is over, and nobody has looked yet. */
  async function expire(request: Request, click: Click): Promise<never> {
    const set = { causes: [{ code: 'not-used' } satisfies CommonFinding] }
    await store.take(request, 'expire-approved', { set })
    await show(request.id)
    throw new Refusal(tooLate({ ...request, ...set, state: 'expired' }, click.origin.userId))
  }

  /** The preflight once more. Throws, in words for who clicked; where the account has changed the request is void. */
  async function lookAgain(request: Request, { change, input, facts }: Opened): Promise<unknown> {
    const now = await change.preflight(input, { signal: AbortSignal.timeout(preflightMs) }).catch(async (error: unknown) => {
      if (error instanceof CheckFailed) await voidRequest(request, [error.finding])
      throw error
    })
    if (now.incomplete)
      throw new UserError('The account API does not answer just now, so nothing was made. Press the button again in a minute.')
    const differences = change.differences(facts, now.facts)
    if (differences.length === 0) return now.facts
    await voidRequest(request, differences)
    const { why } = explainAll(change, differences)
    throw new UserError(`Nothing was made, because the account has changed since this was asked for. ${why}`)
  }

  async function voidRequest(request: Request, causes: Finding[]): Promise<void> {
    await store.take(request, 'void', { set: { causes } })
    await show(request.id)
  }
}
export type HandOver = ReturnType<typeof createHandOver>
