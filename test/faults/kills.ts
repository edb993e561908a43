import { setTimeout as delay } from 'node:timers/promises'
import type { StepName } from '../../src/record/steps.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import type { Scene } from './scene.ts'

/** A moment at which the bot is killed: before what it sent takes effect, or after that and before it learns of it. */
export interface Moment {
  /** A step that is sent to Redis, a write that is sent to the account API, or a report that is sent to Slack. */
  at: StepName | 'write' | 'report'
  when: 'before' | 'after'
  /** How long no bot runs afterwards, in ms. */
  awayMs?: number
}

/** Both moments of each of these, in this order. */
export function aroundEach(...all: Moment['at'][]): Moment[] {
  return all.flatMap((at): Moment[] => [
    { at, when: 'before' },
    { at, when: 'after' },
  ])
}

/**
 * Kills the bot whenever it comes to one of these moments for the first time, and starts the next one. Resolves when it came to all of them. The
 * moment after something is waited for once the one before it is over.
 */
export async function killAtEach(scene: Scene, moments: Moment[], timeoutMs = 40_000): Promise<void> {
  const { bots, proxy } = scene
  const left = new Set(moments)
  let reached = Promise.withResolvers<Moment>()
  let isAlive = true

  /** Returns the moment if the bot has to die at it. */
  function reach(at: string, when: Moment['when']): Moment | undefined {
    const moment = [...left].find((one) => one.at === at)
    if (!isAlive || moment?.when !== when) return undefined
    isAlive = false
    left.delete(moment)
    return moment
  }

  const kill = (moment: Moment) => void bots.kill(0).then(() => reached.resolve(moment))

  function killAt(at: string, when: Moment['when']): boolean {
    const moment = reach(at, when)
    if (moment) kill(moment)
    return moment !== undefined
  }

  /** What is held never arrives. What is lost was answered: the bot dies with the answer. */
  function listenToRedis(): () => void {
    proxy.holdSent((sent) => stepsIn(sent).some((step) => killAt(step, 'before')), new Promise(() => {}))
    let lost: Moment | undefined
    const fits = (sent: Buffer) => {
      lost = stepsIn(sent).reduce((found: Moment | undefined, step) => found ?? reach(step, 'after'), undefined)
      return lost !== undefined
    }
    return proxy.loseReplyTo(fits, { andThen: () => lost && kill(lost) })
  }

  breakOthers(scene, killAt)
  while (left.size > 0) {
    const disarm = listenToRedis()
    if (!isAlive) {
      isAlive = true
      await startNext(scene)
    }
    const { awayMs = 0 } = await within(reached.promise, timeoutMs, () => `the bot came to ${JSON.stringify([...left])}`)
    disarm()
    reached = Promise.withResolvers()
    await delay(awayMs)
  }
  await startNext(scene)
}

/** Ben presses until the card shows his approval. A click that a dying bot acknowledged may be lost. */
export async function approveWhileKilled({ slack, ben }: Scene, card: Message): Promise<void> {
  const isWaiting = () => slack.messages(card.channel).some(({ ts, text }) => ts === card.ts && /needs approval from/.test(text))
  while (isWaiting()) {
    await ben.click(card, 'Approve').catch(() => undefined)
    await delay(700)
    // A freeze holds it, which a form says.
    if (ben.openViews().length > 0) await ben.submit().catch(() => undefined)
  }
}

export function endMoves({ accountApi: { world } }: Scene): void {
  for (const { id, status } of world.elasticIps()) if (status === 'moving') world.endMove(id)
}

/** Starts the next bot. What the dead one held for 15 s is due at once, as if that time had passed. */
async function startNext({ admin, bots, evidence: { keys } }: Scene): Promise<void> {
  for (const id of await admin.zrange(keys.due, '0', '-1')) await admin.zadd(keys.due, 'XX', 'LT', Date.now(), id)
  await bots.start(0)
}

function stepsIn(sent: Buffer): string[] {
  return [...sent.toString('latin1').matchAll(/"tokenName":"([\w-]+)/g)].map(([, step = '']) => step)
}

/** Kills the bot at its writes and reports: they are lost before they take effect, or only their answers are. */
function breakOthers({ accountApi, slack }: Scene, killAt: (at: string, when: Moment['when']) => boolean): void {
  const times = Number.POSITIVE_INFINITY
  const isReport = ({ thread_ts }: Record<string, unknown>) => thread_ts !== undefined
  for (const when of ['before', 'after'] as const) {
    accountApi.faults.add({ method: 'PATCH', kind: `drop-${when}`, times, when: () => killAt('write', when) })
    slack.faults.add({ method: 'chat.postMessage', kind: `drop-${when}`, times, when: (args) => isReport(args) && killAt('report', when) })
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
