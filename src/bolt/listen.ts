import type { AckFn, App as Bolt } from '@slack/bolt'
import type { App } from '../app.ts'
import { inLane } from '../domain/lane.ts'
import { within } from '../domain/within.ts'
import { guardStore } from '../redis/connect.ts'
import { authorize } from '../rights/authorize.ts'
import { noticeView } from '../slack/blocks.ts'
import { Refusal } from '../slack/errors.ts'
import {
  type Click,
  type FormHandler,
  type Handler,
  handlerOf,
  type InteractionHandlers,
  type Shortcut,
  type SlashCommand,
} from '../slack/interactions.ts'
import { type Received, readMetadata } from '../slack/payloads.ts'
import { reportInWords } from './errors.ts'
import { openForm } from './open-forms.ts'
import {
  type Handlers,
  hasToken,
  type Interaction,
  type OptionsInteraction,
  readInteraction,
  type SubmissionInteraction,
  tokenAdvice,
} from './read-interactions.ts'

/** Slack waits 3 s for an answer. If the work takes longer than this, people get an interim answer. */
const interimAfterMs = 2_000

/** The acknowledgement does not need the result, but those that wait for Redis go out together in one turn, which costs 20 % less CPU. */
const acknowledgeWithinMs = 100

/** All is answered within 3 s, errors become words, a second delivery is dropped, and nothing happens without an authorization. */
export function listen(bolt: Bolt, app: App, handlers: Handlers) {
  const underway = new Set<Promise<void>>()

  bolt.use(async ({ context, next, ...args }) => {
    const { kind } = context.received as Received
    if (kind !== 'command' && kind !== 'app_home_opened') noteReceived(app, kind === 'block_suggestion' ? 'options' : 'click')
    const interaction = readInteraction(app, handlers, context.received, 'ack' in args ? (args.ack as AckFn<unknown>) : async () => {})
    if (!interaction) return
    context.interaction = interaction
    const work = inLane('person', () => receive(app, interaction, next), { userId: interaction.origin.userId })
    underway.add(work)
    await work.finally(() => underway.delete(work))
  })

  // Bolt walks through all its listeners for each payload, so it has one for each kind, which finds the handler by its id.
  bolt.command(/^\//, ({ context: { interaction } }) => handle(app, interaction, interaction.handler))
  bolt.action({}, ({ context: { interaction } }) => handle(app, interaction, handlerOf(handlers.clicks, interaction.given.actionId)))
  bolt.shortcut({}, ({ context: { interaction } }) => handle(app, interaction, handlerOf(handlers.shortcuts, interaction.given.callbackId)))
  bolt.view({}, ({ context: { interaction } }) => submitForm(interaction, handlerOf(handlers.submissions, interaction.given.callbackId)))
  bolt.options({}, ({ context: { interaction } }) => loadOptions(interaction, handlerOf(handlers.options, interaction.given.actionId)))
  bolt.event('app_home_opened', ({ context: { interaction } }) => handlers.home(interaction.origin))

  async function settle(): Promise<void> {
    await Promise.allSettled(underway)
  }

  return { settle }
}

/** Middleware: acknowledges, drops a second delivery, authorizes, and answers in time, also errors. */
async function receive(app: App, interaction: Interaction, next: () => Promise<void>): Promise<void> {
  const { isFirst, origin, at, pressed } = interaction
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
    await next()
  } catch (error) {
    await interaction.fail(await reportInWords(app, error, interaction))
  } finally {
    clearTimeout(late)
  }
}

async function handle<Given extends SlashCommand | Click | Shortcut>(
  app: App,
  interaction: Interaction<Given>,
  handler: Handler<Given> | FormHandler<Given> | undefined,
): Promise<void> {
  const { given } = interaction
  if (!handler) return interaction.refuseUnknown()
  if (typeof handler === 'function') return handler(given)
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

async function submitForm(
  interaction: SubmissionInteraction,
  submit: InteractionHandlers['submissions'][string] | undefined,
): Promise<void> {
  const { given, reply } = interaction
  if (!submit || readMetadata(given.metadata) === undefined) return interaction.refuseUnknown()
  const withToken = Object.keys(given.values).find((blockId) => hasToken(given.values[blockId] ?? ''))
  if (withToken === undefined) return reply(await submit(given))
  await reply({ is: 'refused', problems: { [withToken]: tokenAdvice }, again: noticeView })
}

async function loadOptions(interaction: OptionsInteraction, load: InteractionHandlers['options'][string] | undefined): Promise<void> {
  if (!load) return interaction.refuseUnknown()
  if (hasToken(interaction.given.typed)) throw new Refusal('token-typed', tokenAdvice)
  await interaction.reply(await load(interaction.given))
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
