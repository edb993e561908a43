import { inLane, type WriteTurns, withTurnTaken } from '../../domain/account/lane.ts'
import type { Finding } from '../../domain/change/finding.ts'
import { AccountLimitError } from '../../domain/errors/api-errors.ts'
import { CheckFailed, UserError } from '../../domain/errors/errors.ts'
import type { AuthorityProblem } from '../../domain/request/authority-problem.ts'
import type { Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import type { Wake } from '../../redis/queues.ts'
import type { Click } from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Access } from '../access/access.ts'
import type { CheckAuthority } from '../access/check-authority.ts'
import type { Catalog, Opened } from '../catalog.ts'
import { pressAgain } from '../messages/handover.ts'
import { type CommonFinding, explainAll } from '../messages/refusals/causes.ts'
import { tooLate, unknownRequest } from '../messages/refusals/refusals.ts'
import type { Show } from '../outbox/show.ts'
import { createIssueAndShow, type IssueAndShowParts } from './issue-and-show.ts'

/** The longest preflight check, because the requester waits for it. */
const preflightMs = 5_000

const notOnHome = mrkdwn`Nothing was created. The Home tab can't show the token to you alone. Press the button on the request message in the channel.`

interface HandOverParts extends IssueAndShowParts {
  signatures: RequestSignatures
  /** Checks that people allowed the write. */
  checkAuthority: CheckAuthority
  onDistrusted: (request: Request, problem: AuthorityProblem) => Promise<void> | void
  access: Access
  catalog: Catalog
  show: Show
  wake: Wake
  budget: WriteTurns
}

/**
 * Creates the function that issues the approved secret and shows it to the requester, in answer to their click. If anything fails after the
 * write, the secret is made worthless: one that nobody saw must not stay valid, and is never stored to be shown later.
 */
export function createHandOver({ signatures, checkAuthority, onDistrusted, access, catalog, show, wake, budget, ...parts }: HandOverParts) {
  const { store, timings } = parts
  const issueAndShow = createIssueAndShow(parts)

  return async function handOver(request: Request, click: Click): Promise<void> {
    const opened = catalog.open(request)
    const grant = await access.authorize(click.origin, { to: 'issue', request })
    const { handover } = opened.change
    if (request.state !== 'approved' || !handover) throw new Refusal(tooLate(request, click.origin.userId))
    if (click.onHome) throw new Refusal(notOnHome)
    requireTurn(await budget.waitForWrite('execute', request.id))
    const facts = await inLane('execute', () => repeatPreflight(request, opened))
    await requireAuthority(request)
    // Before the step, so that the write does not wait after it.
    requireTurn(await budget.takeWrite('execute', request.id))

    const startedAt = performance.now()
    const recordBy = { byRedis: (await store.now()) + timings.handoverMs, here: startedAt + timings.handoverMs }
    const claimed = await store.take(request, 'issue', {
      set: { seen: facts, seenSignature: signatures.signSeen(request, facts) },
      dueInMs: timings.handoverMs,
      audit: { by: click.origin.userId, ...grant },
    })
    if (claimed.outcome === 'expired') return expire(request, click)
    if (claimed.outcome !== 'won') {
      const now = await store.find(request.id)
      throw new Refusal(now ? tooLate(now, click.origin.userId) : unknownRequest(click.origin.command))
    }
    // If this process dies before it shows the secret, a worker makes it worthless.
    await wake(request, timings.handoverMs)
    await withTurnTaken('execute', () =>
      issueAndShow({ request, change: opened.change, handover, input: opened.input, facts, startedAt, recordBy }, click),
    )
    await show(request.id)
  }

  /** Refuses a press that has to wait, because nothing is made without the person who sees it. */
  function requireTurn(waitMs: number): void {
    if (waitMs > 0) throw new Refusal(pressAgain({ kind: 'write', perMinute: budget.perMinute.write, waitMs }))
  }

  /** Refuses a request whose present content nobody allowed. An approved key can be created for as long as it could be approved. */
  async function requireAuthority(request: Request): Promise<void> {
    const problem = await checkAuthority(request, await store.now(), request.ttlMs)
    if (!problem) return
    // Another click may have taken a step since the request was read. Then the audit shows a newer state.
    const current = await store.find(request.id)
    if (current && current.revision !== request.revision) throw new Refusal(tooLate(current, request.origin.userId))
    await onDistrusted(request, problem)
    if (problem.code !== 'unknown-key') await store.take(request, 'drop', { set: { causes: [problem] } })
    await show(request.id)
    throw new UserError(explainAll(undefined, [problem]).why)
  }

  /** Ends a request whose deadline has passed before a worker saw that. */
  async function expire(request: Request, click: Click): Promise<never> {
    const set = { causes: [{ code: 'not-used' } satisfies CommonFinding] }
    await store.take(request, 'expire-approved', { set })
    await show(request.id)
    throw new Refusal(tooLate({ ...request, ...set, state: 'expired' }, click.origin.userId))
  }

  /** Repeats the preflight check. Voids the request if the account changed. Throws a UserError for the person who clicked. */
  async function repeatPreflight(request: Request, { change, input, facts }: Opened): Promise<unknown> {
    const now = await change
      .preflight(input, { signal: AbortSignal.timeout(preflightMs), earlier: facts })
      .catch(async (error: unknown) => {
        if (error instanceof CheckFailed) await voidRequest(request, [error.finding])
        if (error instanceof AccountLimitError) throw new Refusal(pressAgain(error))
        throw error
      })
    if (now.incomplete) throw new UserError("The account API isn't responding. Nothing was created. Press the button again in a minute.")
    const differences = change.differences(facts, now.facts)
    if (differences.length === 0) return now.facts
    await voidRequest(request, differences)
    const { why } = explainAll(change, differences)
    throw new UserError(`Canceled: the account changed since the request. Nothing was created. ${why}`)
  }

  async function voidRequest(request: Request, causes: Finding[]): Promise<void> {
    await store.take(request, 'void', { set: { causes } })
    await show(request.id)
  }
}
export type HandOver = ReturnType<typeof createHandOver>
