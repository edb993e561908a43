import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { App } from '../../app.ts'
import type { Origin } from '../../domain/approval.ts'
import type { Change } from '../../domain/change.ts'
import { noteRequest } from '../../domain/lane.ts'
import { longestReason } from '../../domain/policy.ts'
import { isOpen, type Request, unknownState } from '../../domain/request.ts'
import { plainWords } from '../../kit/plain-words.ts'
import { withdraw } from '../../life/decide.ts'
import { outcomeOf } from '../../messages/request-outcome.ts'
import { statusLine } from '../../messages/request-status.ts'
import { viewOf } from '../../outbox/render.ts'
import { guardStore } from '../../redis/connect.ts'
import { Refusal } from '../../slack/errors.ts'
import { code, isPlainAddress, mrkdwn, nameInWords } from '../../slack/text.ts'
import { dataNote, type Operation, ShownRequest } from './operations.ts'
import { findOwn, propose } from './proposals.ts'

export function requestOperations(app: App): Operation[] {
  const ofRequest = { method: 'GET', path: '/v1/requests/{id}', output: ShownRequest } as const
  return [
    ...app.catalog.changesForMachines().map((change) => proposal(app, change)),
    {
      ...ofRequest,
      tool: 'get_request',
      title: 'Read a request',
      description: `Returns a request that you made: at once, or with \`wait\` once its state changes. A wait that ends without a change is no error: call it again until \`ended\` is true. ${dataNote}`,
      input: z.strictObject({
        id: RequestId,
        wait: z.coerce.number().int().min(0).max(longestWaitS).default(0).describe('How many seconds to wait for another state'),
      }),
      hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      async run({ origin }, { id, wait }, { signal, onWaiting }) {
        const read = () => requireOwn(app, origin, String(id))
        const first = await read()
        if (wait === 0 || !isOpen(first.state)) return { output: shown(app, first) }
        const waitMs = Number(wait) * 1_000
        const leave = await takePlace(app, origin.userId, waitMs)
        try {
          onWaiting?.(shown(app, first))
          const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
          return { output: shown(app, await readUntilChanged(read, first, over)) }
        } finally {
          await leave()
        }
      },
    },
    {
      ...ofRequest,
      tool: 'withdraw_request',
      title: 'Withdraw a request',
      description: `Withdraws a request that you made, as long as nothing was sent to the account. ${dataNote}`,
      method: 'DELETE',
      input: z.strictObject({ id: RequestId }),
      hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      async run({ origin }, { id }) {
        const request = await requireOwn(app, origin, String(id))
        noteRequest(request.id)
        const failed =
          request.state === 'withdrawn' ? undefined : await withdraw(app, request, origin).catch((error: unknown) => ({ error }))
        const now = await requireOwn(app, origin, request.id)
        // A repeat gets the same answer, also at the same moment.
        if (failed && now.state !== 'withdrawn') throw failed.error
        return { output: shown(app, now) }
      },
    },
  ]
}

const RequestId = z.string().regex(/^[0-9a-f]{32}$/, { error: 'must be the id of a request' })

/** Beside what the change itself takes. */
const aboutRequest = {
  reason: z.string().trim().min(1).max(longestReason).optional().describe('Why, for the people who approve. A rule may require it'),
  link: z
    .string()
    .max(1_500)
    .refine((address) => /^https?:/i.test(address) && isPlainAddress(address), { error: 'must be a web address (https://…)' })
    .optional()
    .describe('An address with more about it, such as that of the job. Approvers see it as unchecked'),
  start: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .optional()
    .describe('When it starts: `in 2h`, `22:00`, `2026-12-01 06:00`. Times of machines are in UTC. Without it, once it is approved'),
}

const longestWaitS = 50

function proposal(app: App, change: Change): Operation {
  const { tool, title, description, members } = change.machines as NonNullable<Change['machines']>
  return {
    tool,
    title,
    description: `${description} Where the policy asks for an approval, nothing changes until people approve it in Slack: tell your user what the message says, and wait for the request. ${dataNote}`,
    method: 'POST',
    path: '/v1/requests',
    kind: change.kind,
    input: z.strictObject({ ...members.shape, ...aboutRequest }),
    output: ShownRequest,
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    async run({ origin }, input) {
      const { request, isNew } = await propose(app, change, origin, input as Record<string, string | undefined>)
      return { output: shown(app, request), isNew }
    },
  }
}

const lookEveryMs = 1_000

/** Returns the request once its state has changed, or as it is when the signal aborts. */
async function readUntilChanged(read: () => Promise<Request>, { state }: Request, signal: AbortSignal): Promise<Request> {
  for (;;) {
    const request = await read()
    if (request.state !== state || signal.aborted) return request
    await delay(lookEveryMs, undefined, { signal }).catch(() => {})
  }
}

const mostWaits = 10

/** The places of a dead process are free again when its waits would have been over, and this much later. */
const leftMs = 5_000

/** Takes one of the places of all processes. Returns the function that leaves it. */
async function takePlace({ redis, keys, store }: App, userId: string, waitMs: number): Promise<() => Promise<unknown>> {
  const [key, place, now] = [keys.machineWaits(userId), randomUUID(), await store.now()]
  const free = redis.multi().zremrangebyscore(key, 0, now)
  const take = free.zadd(key, now + waitMs + leftMs, place).pexpire(key, longestWaitS * 1_000 + leftMs)
  const answers = await guardStore(() => take.zcard(key).exec())
  // Without Redis it is left by itself.
  const leave = () => guardStore(() => redis.zrem(key, place)).catch(() => undefined)
  if (Number(answers?.at(-1)?.[1] ?? 0) <= mostWaits) return leave
  await leave()
  throw new Refusal('too-many', mrkdwn`You have ${mostWaits} waits at once, which is the limit. Wait until one ends.`)
}

async function requireOwn(app: App, origin: Origin, id: string): Promise<Request> {
  const request = await findOwn(app, origin, id)
  if (!request)
    throw new Refusal('unknown-request', mrkdwn`You have no request ${code(id)}. Requests are kept for 30 days after their end.`)
  return request
}

export function shown(app: App, request: Request): ShownRequest {
  const { id, kind, state, reason, decision, expiresAt, start } = request
  const view = viewOf(app, request)
  const { name, consequence } = outcomeOf(view)
  const words = isOpen(state) || state === unknownState ? statusLine(view) : mrkdwn`${name}. ${consequence}`
  const opened = app.catalog.openIfFit(request)
  return {
    id,
    change: kind,
    subject: opened ? opened.change.subject(opened.facts) : request.resource,
    state,
    ended: !isOpen(state) && state !== unknownState,
    message: plainWords(app, nameInWords(app.config, words)),
    reason,
    rejected_because: state === 'rejected' ? decision?.reason : undefined,
    approve_by: state === 'waiting' ? new Date(expiresAt).toISOString() : undefined,
    start: start === undefined ? undefined : new Date(start).toISOString(),
    links: { self: `/v1/requests/${id}`, message: app.slack.identity.linkTo(request) },
  }
}
