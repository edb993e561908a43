import { cardButtons } from '../../src/messages/button-ids.ts'
import type { Bot } from '../../src/start/bot.ts'

/** Watches the handlers of commands and of the buttons of cards. `handled` resolves with what one made of it, by its trigger. It must reach one. */
export function observeHandlers() {
  const acts = new Map<string, { promise: Promise<'served' | 'refused'>; resolve: (outcome: 'served' | 'refused') => void }>()
  const actOf = (triggerId: string) => {
    const act = acts.get(triggerId) ?? Promise.withResolvers<'served' | 'refused'>()
    acts.set(triggerId, act)
    return act
  }
  const observed = async <T>(triggerId: string, work: () => T | Promise<T>, ended?: 'served'): Promise<T> => {
    try {
      const result = await work()
      if (ended) actOf(triggerId).resolve(ended)
      return result
    } catch (error) {
      actOf(triggerId).resolve('refused')
      throw error
    }
  }
  const observe = ({ interactions }: Pick<Bot, 'interactions'>): void => {
    for (const command of interactions.commands) {
      const { run } = command
      command.run = (call) => observed(call.slashCommand.triggerId, () => run(call), 'served')
    }
    for (const name of Object.values(cardButtons)) {
      const handler = interactions.clicks[name]
      if (!handler) throw new Error(`nothing listens to ${name}`)
      interactions.clicks[name] =
        typeof handler === 'function'
          ? (click) => observed(click.triggerId, () => handler(click), 'served')
          : {
              form: (click) => observed(click.triggerId, () => handler.form(click)),
              allow: (click) => observed(click.triggerId, () => handler.allow(click), 'served'),
            }
    }
  }
  const handled = async (triggerId: string) => {
    const tooLate = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error('a command or a click was worked on for more than 20 s')), 20_000).unref(),
    )
    return Promise.race([actOf(triggerId).promise, tooLate])
  }
  return { observe, handled }
}
