import pLimit from 'p-limit'
import type { Deliver } from '../outbox/deliver.ts'
import type { Outbox, OutboxName } from '../outbox/outbox.ts'

const parallelMessages = 16

interface OutboxSweepParts {
  outbox: Pick<Outbox, 'due'>
  deliver: Deliver
  /** Called with the id of a request whose card Slack refuses. */
  onRefusedCard: (id: string) => void
  onError: (error: unknown, requestId?: string) => void
}

/** Creates the part of a tick that sends the messages that are due. */
export function createOutboxSweep({ outbox, deliver, onRefusedCard, onError }: OutboxSweepParts) {
  const limit = pLimit(parallelMessages)
  let running: Promise<void> | undefined

  /** Starts a sweep without waiting for it, unless one is running: a slow Slack must not delay the tracking. */
  function sweepInBackground(): void {
    running ??= sweep()
      .catch(onError)
      .finally(() => {
        running = undefined
      })
  }

  async function sweep(): Promise<void> {
    const unsent = await outbox.due()
    // Send reports before cards, because people wait for them. A report also posts its card if that is missing.
    unsent.sort((a, b) => Number(a.name === 'card') - Number(b.name === 'card'))
    await Promise.all(unsent.map(({ id, name }) => limit(() => send(id, name).catch((error: unknown) => onError(error, id)))))
  }

  async function send(id: string, name: OutboxName): Promise<void> {
    const sent = await deliver(id, name)
    // Nobody can answer a request without a card, so it is reconciled: it may have to be discarded.
    if (name === 'card' && sent.is === 'refused') onRefusedCard(id)
  }

  /** Resolves when the running sweep has ended. */
  async function settle(): Promise<void> {
    await running
  }

  return { sweepInBackground, settle }
}
