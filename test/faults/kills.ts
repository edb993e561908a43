import { setTimeout as delay } from 'node:timers/promises'
import type { StepName } from '../../src/record/steps.ts'
import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import type { Scene } from './scene.ts'
import { untilTrue } from './until-true.ts'

/** What the bot sends at a place: a command to Redis, a call to the account API, or a message to Slack. */
export interface Place {
  redis?: (sent: Buffer) => boolean
  account?: Pick<FaultOrder, 'method' | 'path'>
  slack?: (args: Record<string, unknown>) => boolean
}

const usualPlaces: Record<string, Place> = {
  write: { account: { method: 'PATCH' } },
  report: { slack: ({ thread_ts }) => thread_ts !== undefined },
}

/** A moment at which the bot is killed: before what it sent takes effect, or after that and before it learns of it. */
export interface Moment<At extends string = StepName | 'write' | 'report'> {
  /** A step that is sent to Redis, or the name of a place. */
  at: At
  when: 'before' | 'after'
  /** How long no bot runs afterwards, in ms. */
  awayMs?: number
  /** What must hold while no bot runs. */
  left?: () => unknown
}

/** Both moments of each of these, in this order. */
export function aroundEach<At extends string = Moment['at']>(...all: At[]): Moment<At>[] {
  return all.flatMap((at): Moment<At>[] => [
    { at, when: 'before' },
    { at, when: 'after' },
  ])
}

/**
 * Kills the bot whenever it comes to one of these moments for the first time, and starts the next one. Resolves when it came to all of them. The
 * moment after something is waited for once the one before it is over.
 */
export async function killAtEach<At extends string = Moment['at']>(
  scene: Scene,
  moments: Moment<At>[],
  { timeoutMs = 60_000, places = {} }: { timeoutMs?: number; places?: Record<string, Place> } = {},
): Promise<void> {
  const { bots, proxy } = scene
  const all = { ...usualPlaces, ...places }
  const left = new Set(moments)
  let reached = Promise.withResolvers<Moment<At>>()
  let isAlive = true

  /** Returns the moment if the bot has to die at it. */
  function reach(at: string, when: Moment['when']): Moment<At> | undefined {
    const moment = [...left].find((one) => one.at === at)
    if (!isAlive || moment?.when !== when) return undefined
    isAlive = false
    left.delete(moment)
    return moment
  }

  const kill = (moment: Moment<At>) => void bots.kill(0).then(() => reached.resolve(moment))

  function killAt(at: string, when: Moment['when']): boolean {
    const moment = reach(at, when)
    if (moment) kill(moment)
    return moment !== undefined
  }

  function placesIn(sent: Buffer): string[] {
    const steps = [...sent.toString('latin1').matchAll(/"tokenName":"([\w-]+)/g)].map(([, step = '']) => step)
    return [...steps, ...Object.keys(all).filter((name) => all[name]?.redis?.(sent))]
  }

  /** What is held never arrives. What is lost was answered: the bot dies with the answer. */
  function listenToRedis(): () => void {
    proxy.holdSent((sent) => placesIn(sent).some((at) => killAt(at, 'before')), new Promise(() => {}))
    let lost: Moment<At> | undefined
    const fits = (sent: Buffer) => {
      lost = placesIn(sent).reduce((found: Moment<At> | undefined, at) => found ?? reach(at, 'after'), undefined)
      return lost !== undefined
    }
    return proxy.loseReplyTo(fits, { andThen: () => lost && kill(lost) })
  }

  breakOthers(scene, all, killAt)
  while (left.size > 0) {
    const disarm = listenToRedis()
    if (!isAlive) {
      isAlive = true
      await startNext(scene)
    }
    const { awayMs = 0, left: holds } = await within(reached.promise, timeoutMs, () => `the bot came to ${JSON.stringify([...left])}`)
    disarm()
    reached = Promise.withResolvers()
    await delay(awayMs)
    await holds?.()
  }
  proxy.holdSent(() => false, Promise.resolve())
  await startNext(scene)
}

/** Somebody says this again until it took effect: what a dying bot acknowledged may be lost. */
export function untilHeard(what: string, say: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
  const hear = async () => {
    if (await isDone()) return true
    await say().catch(() => undefined)
    await delay(700)
    return isDone()
  }
  return untilTrue(what, hear, 240_000)
}

/** Ben presses until the card shows his approval. */
export function approveWhileKilled({ slack, ben }: Scene, card: Message): Promise<void> {
  const isWaiting = () => slack.messages(card.channel).some(({ ts, text }) => ts === card.ts && /needs approval from/.test(text))
  const press = async () => {
    await ben.click(card, 'Approve').catch(() => undefined)
    await delay(700)
    // A freeze holds it, which a form says.
    if (ben.openViews().length > 0) await ben.submit()
  }
  return untilHeard('the approval is shown', press, async () => !isWaiting())
}

export function endMoves({ accountApi: { world } }: Scene): void {
  for (const { id, status } of world.elasticIps()) if (status === 'moving') world.endMove(id)
}

/** Starts the next bot. What the dead one held for 15 s is due at once, as if that time had passed. */
async function startNext({ admin, bots, evidence: { keys } }: Scene): Promise<void> {
  for (const id of await admin.zrange(keys.due, '0', '-1')) await admin.zadd(keys.due, 'XX', 'LT', Date.now(), id)
  await bots.start(0)
}

/** Kills the bot at its calls and messages: they are lost before they take effect, or only their answers are. */
function breakOthers(
  { accountApi, slack }: Scene,
  all: Record<string, Place>,
  killAt: (at: string, when: Moment['when']) => boolean,
): void {
  const times = Number.POSITIVE_INFINITY
  for (const [at, { account, slack: fits }] of Object.entries(all))
    for (const when of ['before', 'after'] as const) {
      const kind = `drop-${when}` as const
      if (account) accountApi.faults.add({ ...account, kind, times, when: () => killAt(at, when) })
      if (fits) slack.faults.add({ method: 'chat.postMessage', kind, times, when: (args) => fits(args) && killAt(at, when) })
    }
}

async function within<Value>(promise: Promise<Value>, ms: number, what: () => string): Promise<Value> {
  const over = new AbortController()
  const late = delay(ms, undefined, { signal: over.signal }).then(() => {
    throw new Error(`Waited ${ms} ms in vain until ${what()}.`)
  })
  return Promise.race([promise, late]).finally(() => {
    over.abort()
    late.catch(() => {})
  })
}
