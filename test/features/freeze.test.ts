import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { Freeze } from '../../src/domain/policy.ts'
import { freezeChanges } from '../../src/features/freeze.ts'
import { senders } from '../../src/features/index.ts'
import { createFreezes } from '../../src/record/freeze.ts'
import type { Posted } from '../../src/slack/web-api.ts'
import { noPolicy } from '../fake-app.ts'
import { startJobs } from '../given/jobs.ts'
import { outboxApp, sweepAll } from '../given/outbox-app.ts'
import { connectTestRedis } from '../given/redis.ts'
import { ruleFor } from '../given/request.ts'
import { recordKeyring } from '../given/signatures.ts'

/** A worker at some time of day, in ms from now by Redis' clock. */
function startWorker(shared: ReturnType<typeof connectTestRedis>, freezes: Freeze[], opsChannel?: null) {
  const { app, texts, sweep } = outboxApp(shared, { opsChannel })
  let aheadMs = 0
  const config = { ...app.config, policy: { rules: [], freezes } }
  const store = { ...app.store, now: async () => (await app.store.now()) + aheadMs }
  const worker = new Proxy(app, {
    get: (target, name) => (name === 'config' ? config : name === 'store' ? store : Reflect.get(target, name)),
  })
  const [work] = freezeChanges.repeated?.(worker as App, {} as never) ?? []
  const announceAt = async (ms: number) => {
    aheadMs = ms
    await work?.run(worker as App, new AbortController().signal)
    await sweep()
  }
  return { announceAt, texts }
}

const hours = (count: number) => count * 3_600_000
const freezeFrom = (from: number, to: number): Freeze => ({
  name: 'Black Friday',
  from: Date.now() + hours(from),
  to: Date.now() + hours(to),
})

test('operators get both ends of a freeze of the policy, each once, by whichever worker runs', async () => {
  const shared = connectTestRedis()
  const freezes = [freezeFrom(1, 3)]
  const [one, other] = [startWorker(shared, freezes), startWorker(shared, freezes)]

  await one.announceAt(hours(0))
  expect(one.texts).toEqual([])
  // No worker ran when it began.
  await one.announceAt(hours(2))
  await other.announceAt(hours(2))
  await one.announceAt(hours(2.9))
  await other.announceAt(hours(3))
  await one.announceAt(hours(3))
  await one.announceAt(hours(20))

  expect([one.texts, other.texts]).toEqual([
    [expect.stringMatching(/The policy's freeze “Black Friday” is on until <!date/)],
    [expect.stringMatching(/The policy's freeze “Black Friday” is over\. Approved changes that nothing else holds start now/)],
  ])
  // What was told stays known for longer than an hour.
  const [name = ''] = await shared.redis.keys('*freeze-of-policy*begin')
  expect(await shared.redis.pttl(name)).toBeGreaterThan(hours(24))
})

test('a worker that looked before another one told it does not let that be forgotten sooner', async () => {
  const shared = connectTestRedis()
  const freezes = [freezeFrom(1, 40)]
  const [slow, fast] = [startWorker(shared, freezes), startWorker(shared, freezes)]
  const exists = shared.redis.exists.bind(shared.redis)
  let looks = 0
  shared.redis.exists = (async (key: string) => {
    const found = await exists(key)
    looks += 1
    if (looks === 2) await fast.announceAt(hours(2))
    return found
  }) as typeof exists
  await slow.announceAt(hours(2))

  expect([slow.texts, fast.texts.length]).toEqual([[], 1])
  const [name = ''] = await shared.redis.keys('*freeze-of-policy*begin')
  expect(await shared.redis.pttl(name)).toBeGreaterThan(hours(48))
})

test('a freeze that was over before any worker ran is not announced, and neither is one without a channel for operators', async () => {
  const over = startWorker(connectTestRedis(), [freezeFrom(-3, -1)])
  const silent = startWorker(connectTestRedis(), [freezeFrom(-1, 1)], null)

  for (const { announceAt } of [over, silent]) await announceAt(0)

  expect([over.texts, silent.texts]).toEqual([[], []])
})

/** A Slack that shows the messages about freezes of a person, and a clock. `answers`: how it refuses the first posts. */
function startTelling() {
  const jobs = startJobs([])
  const clock = { ahead: 0 }
  const shown: string[] = []
  const answers: Posted[] = []
  const hooks: { whilePosting?: () => Promise<unknown> } = {}
  const messenger = {
    async post({ channelId }: { channelId: string }, { text }: { text: string }): Promise<Posted> {
      const answer = answers.shift()
      if (answer) return answer
      const ts = String(shown.push(text))
      await hooks.whilePosting?.()
      return { is: 'sent', ts, channelId }
    },
    async update({ ts }: { ts: string }, { text }: { text: string }) {
      shown[Number(ts) - 1] = text
      return { is: 'sent' as const }
    },
  }
  const store = { ...jobs.store, now: async () => (await jobs.store.now()) + clock.ahead }
  const freezes = createFreezes({ ...jobs, audit: jobs.app.audit, store }, recordKeyring)
  const rules = [ruleFor({ changes: ['freeze'], approve: undefined })]
  const app = jobs.appWith({
    ...{ store, freezes, senders, errors: { of: () => (error: unknown) => expect.fail(String(error)) } },
    config: { ...jobs.app.config, policy: { ...noPolicy, rules } },
    directory: { zone: async () => 'UTC' },
    slack: { messenger: { ...messenger, find: async () => ({ is: 'absent' }) } },
  } as never)
  const marks = () => shown.map((text) => /\*(.*?)\*/.exec(text)?.[1])
  const set = (more = {}) => freezes.set({ by: 'U0BEN00001', reason: 'the sale', channelId: 'C0OPS00001', ...more })
  const lift = () => freezes.lift({ by: 'U0CHI00001' })
  const plan = async (...args: string[]) => {
    const [{ run } = { run: async () => {} }] = freezeChanges.create(app, {} as never).commands
    const origin = { userId: 'U0BEN00001', channelId: 'C0OPS00001', command: '/infra', teamId: 'T0NIMBUS01' }
    const slashCommand = { origin, reason: 'the sale', answer: { ephemeral: async () => {} } }
    await run({ slashCommand, args } as never)
  }
  return { freezes, plan, clock, answers, hooks, shown, marks, set, lift, now: store.now, sweep: (dueAt?: number) => sweepAll(app, dueAt) }
}

const limited: Posted = { is: 'rate-limited', retryInMs: 30_000 }

describe('a late message about a freeze', () => {
  test('does not say that it is on once somebody lifted it', async () => {
    const { answers, set, lift, sweep, marks } = startTelling()
    await set()
    answers.push(limited)
    await sweep()
    await lift()
    await sweep()
    expect(marks().toSorted()).toEqual(['Unfrozen', 'Was frozen'])
  })

  test('nor if somebody lifts it while it is posted', async () => {
    const { hooks, set, lift, sweep, marks } = startTelling()
    await set()
    hooks.whilePosting = async () => {
      delete hooks.whilePosting
      await lift()
      await sweep()
    }
    await sweep()
    expect(marks()).toEqual(['Was frozen', 'Unfrozen'])
  })

  test('nor that it is lifted once there is another one', async () => {
    const { answers, set, lift, sweep, marks } = startTelling()
    await set()
    await sweep()
    await lift()
    answers.push(limited)
    await sweep()
    await set()
    await sweep()
    expect(marks()).toEqual(['Was frozen', 'Frozen'])
  })

  test('nor that it has begun once its time is over', async () => {
    const { clock, set, sweep, now, marks } = startTelling()
    await set({ from: (await now()) + hours(1), until: (await now()) + hours(2) })
    clock.ahead = hours(2)
    await sweep()
    expect(marks().toSorted()).toEqual(['The freeze is over.', 'Was frozen'])
  })

  test.each(['Lifted', 'Replaced'])('nor, at the end that it was set to, that it lasted until then if it was %s before', async (how) => {
    const { clock, set, lift, sweep, now, shown } = startTelling()
    await set({ until: (await now()) + hours(1) })
    await sweep((await now()) + hours(0.5))
    if (how === 'Lifted') await lift()
    else await set({ by: 'U0CHI00001', until: (await now()) + hours(3) })
    await sweep((await now()) + hours(0.5))
    const [first] = shown
    expect(first).toMatch(new RegExp(`${how} at .* by <@U0CHI00001>`))
    clock.ahead = hours(1)
    await sweep((await now()) + hours(0.5))
    expect(shown[0]).toBe(first)
  })
})

test('a freeze that is planned right after another one was lifted is set, and not refused because of that', async () => {
  const { freezes, plan, set, lift, marks } = startTelling()
  await set()
  const trySet = freezes.set
  freezes.set = async (next) => {
    const answer = await trySet(next)
    if (answer === 'is-on') await lift()
    return answer
  }
  await plan('from', 'in', '1h')
  expect(marks()).toEqual(['Freeze planned'])
})

test('a freeze begins with the minute that is shown, and at once in a minute that has begun', async () => {
  const { freezes, plan, lift, clock, now } = startTelling()
  // Six seconds before a minute.
  clock.ahead = 54_000 - (Date.now() % 60_000)
  const minute = Math.ceil((await now()) / 60_000) * 60_000
  const span = async () => {
    const { from = 0, until = 0 } = (await freezes.read()).record ?? {}
    return [from - minute, until - minute]
  }

  await plan('from', 'in', '1m', 'for', '2h')
  expect(await span()).toEqual([0, hours(2)])
  await lift()
  clock.ahead += 12_000
  await plan('from', 'in', '10s')
  const [begun = 0] = await span()
  expect([begun >= 6_000, begun < 16_000]).toEqual([true, true])
})
