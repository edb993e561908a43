import type { AckFn, App as Bolt, Context } from '@slack/bolt'
import type { App } from '../app.ts'
import { inLane } from '../domain/lane.ts'
import { within } from '../domain/within.ts'
import { guardStore } from '../redis/connect.ts'
import { authorize } from '../rights/authorize.ts'
import { noticeView } from '../slack/blocks.ts'
import { buttonsOf, Refusal } from '../slack/errors.ts'
import type { FormHandler, Opening } from '../slack/interactions.ts'
import type { Received } from '../slack/payloads.ts'
import { reportInWords } from './errors.ts'
import { openForm } from './open-forms.ts'
import { type Handlers, type Interaction, readInteraction } from './read-interactions.ts'

/** Slack waits 3 s for an answer. If the work takes longer than this, people get an interim answer. */
const interimAfterMs = 2_000

/** The acknowledgement does not need the result, but those that wait for Redis go out together in one turn, which costs 20 % less CPU. */
const acknowledgeWithinMs = 100

/** All is answered within 3 s, errors become words, a second delivery is dropped, and nothing happens without an authorization. */
export function listen(bolt: Bolt, app: App, handlers: Handlers) {
  const underway = new Set<Promise<void>>()

  async function take({ context, ack }: { context: Context; ack?: unknown }): Promise<void> {
    const { kind } = context.received as Received
    if (kind !== 'command' && kind !== 'app_home_opened') noteReceived(app, kind === 'block_suggestion' ? 'options' : 'click')
    const interaction = readInteraction(app, handlers, context.received, (ack ?? (async () => {})) as AckFn<unknown>)
    if (!interaction) return
    const work = inLane('person', () => receive(app, interaction), { userId: interaction.origin.userId })
    underway.add(work)
    await work.finally(() => underway.delete(work))
  }

  // Bolt walks through all its listeners for each payload, so it has one for each kind. What reads a payload also finds its handler.
  bolt.command(/^\//, take)
  bolt.action({}, take)
  bolt.shortcut({}, take)
  bolt.view({}, take)
  bolt.options({}, take)
  bolt.event('app_home_opened', take)

  async function settle(): Promise<void> {
    await Promise.allSettled(underway)
  }

  return { settle }
}

/** Acknowledges, drops a second delivery, authorizes, runs the handler or opens its form, and answers in time, also errors. */
async function receive(app: App, interaction: Interaction): Promise<void> {
  const { isFirst, origin, at, pressed, handler, given } = interaction
  const late = setTimeout(() => {
    interaction.interim().catch((error: unknown) => app.errors.of('slack')(error))
  }, interimAfterMs)
  try {
    if (interaction.acknowledge) {
      await within(acknowledgeWithinMs, isFirst)
      await interaction.acknowledge()
    }
    if (!(await isFirst)) return await interaction.refuseRepeat?.()
    await authorize(app, origin, { to: 'read', what: at, pressed })
    if (typeof handler === 'object') return await openFirst(app, interaction, handler)
    const result = await handler(given)
    await interaction.reply?.(result)
  } catch (error) {
    await interaction.fail(await reportInWords(app, error, interaction), buttonsOf(error))
  } finally {
    clearTimeout(late)
  }
}

/** Opens a form before it is known whether the person may use it. */
async function openFirst(app: App, interaction: Interaction, handler: FormHandler<Opening>): Promise<void> {
  const given: Opening = interaction.given
  const form = await openForm(app, given.triggerId, await handler.form(given))
  try {
    await handler.allow(given)
  } catch (error) {
    if (error instanceof Refusal) interaction.fail = (words) => form.replace(noticeView(words, 'Not possible'))
    throw error
  }
  if (!handler.fill) return
  // The form itself says that the result follows.
  interaction.answer?.elsewhere()
  const filled = await handler.fill(given).catch(async (error: unknown) => noticeView(await reportInWords(app, error, interaction)))
  if (filled) await form.replace(filled)
}

/** Interactions that Slack sends to separate addresses. One address can work while the other does not. */
type Address = 'click' | 'options'

/** Stores for all replicas when the last one arrived: the only proof that interactivity works. Never throws, as only `/infra doctor` reads it. */
function noteReceived({ redis, keys }: App, what: Address): void {
  void guardStore(() => redis.hset(keys.lastReceived, what, String(Date.now()))).catch(() => {})
}

/** Returns how long ago each arrived, in ms. Throws StoreUnavailableError if Redis does not answer. */
export async function lastReceivedMs({ redis, keys }: Pick<App, 'redis' | 'keys'>): Promise<Record<Address, number | undefined>> {
  const [click, options] = await guardStore(() => redis.hmget(keys.lastReceived, 'click', 'options'))
  const ago = (at: string | null | undefined) => (at == null ? undefined : Math.max(0, Date.now() - Number(at)))
  return { click: ago(click), options: ago(options) }
}
