import type { Audit } from '../../audit/intake.ts'
import type { Request } from '../../domain/request.ts'
import type { Timings } from '../../domain/timings.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createQueues } from '../../redis/queues.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Messenger } from '../../slack/web-api/messenger.ts'
import type { Catalog } from '../catalog.ts'
import type { CommonFinding } from '../messages/causes.ts'
import { refusedCard } from '../messages/words.ts'
import { createDeliver, type Renderer } from '../outbox/deliver.ts'
import { createOutbox } from '../outbox/outbox.ts'
import type { TellOperators } from '../outbox/tell-operators.ts'
import { createStore, type TakenStep } from '../store/store.ts'
import { createExecute } from './execute.ts'
import { createAttend } from './reconcile.ts'
import { createFollow } from './track.ts'

interface RequestsParts {
  redis: Redis
  audit: Audit
  keys: Keys
  messenger: Messenger
  catalog: Catalog
  render: Renderer
  tellOperators: TellOperators
  pollIntervalMs: number
  lateAfterMs: number
  timings: Timings
  onApiError: (error: unknown) => void
  onQueueError: (error: unknown) => void
  onStep: (step: TakenStep) => void
}

/** Everything that works on requests, over one connection to Redis: handlers need one that fails at once, jobs one that waits. */
export function createRequests({
  redis,
  keys,
  messenger,
  catalog,
  render,
  tellOperators,
  pollIntervalMs,
  lateAfterMs,
  audit,
  timings,
  ...on
}: RequestsParts) {
  const store = createStore({ redis, keys, audit, onStep: on.onStep })
  const outbox = createOutbox({ redis, keys })
  const queues = createQueues({ redis, keys, pollIntervalMs, onError: on.onQueueError })
  const deliver = createDeliver({
    outbox,
    messenger,
    render,
    onUndeliverable: (request, error) => {
      const words = mrkdwn`:warning: A message about request ${request.id} (${request.state}) reaches neither its channel nor the person who asked: ${error}.`
      void tellOperators(`undeliverable:${request.id}`, notice(words))
    },
  })
  /** Somebody but us writes to Redis. */
  function onChanged({ id }: Request): void {
    const words = mrkdwn`:rotating_light: What I keep of request ${id} is no longer what was asked for. Nothing is done with it. Find out who can write to my memory (Redis), and check the audit with npm run audit:verify.`
    void tellOperators(`changed:${id}`, notice(words))
  }

  const execute = createExecute({ store, audit, catalog, onApiError: on.onApiError, onChanged })
  const follow = createFollow({ store, catalog, pollIntervalMs, lateAfterMs, timings, onApiError: on.onApiError })
  const attend = createAttend({
    store,
    catalog,
    wake: queues.wake,
    outbox,
    deliver,
    execute,
    follow,
    onCardRefused: async (request, error) => {
      const told = await messenger.post({ channelId: request.origin.userId }, notice(refusedCard(error)))
      // Until they are told, or cannot be, it is tried again.
      if (told.is === 'sent' || told.is === 'refused') await store.discard(request, { code: 'not-posted', error } satisfies CommonFinding)
    },
  })
  return { redis, audit, store, outbox, queues, deliver, attend, follow, onChanged }
}
export type Requests = ReturnType<typeof createRequests>
