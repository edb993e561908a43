import { Redis } from 'ioredis'
import { createHome } from '../../src/buttons/home.ts'
import { createStore, encodeFields } from '../../src/record/store.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { fakeApp, notFrozen } from '../fake-app.ts'
import { judging } from '../given/access.ts'
import { trusting } from '../given/audit.ts'
import { noAudit } from '../given/redis.ts'
import { requestedAt, requestFor } from '../given/request.ts'
import { forViews } from '../messages/view-app.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { type Effort, fixed, interleave, judged, median, ratio, table } from './measure.ts'

const counts = ['100', '10000'] as const
const most = 1.3

export async function benchHome({ quick, rounds }: Effort): Promise<string> {
  const tabs = quick ? 5 : 200
  // The Redis process does not keep this process alive.
  const alive = setInterval(() => {}, 1_000)
  const server = await startRedis()
  const redis = new Redis(server.url)
  const { origin } = requestFor()

  async function openerWith(count: number) {
    const keys = createKeys(`bench-${count}`)
    const pipeline = redis.pipeline()
    for (let index = 0; index < count; index += 1) {
      const id = `r${index}`
      const by = { ...origin, userId: `U${index % 10}` }
      pipeline.hset(keys.record(id), encodeFields(requestFor({ id, origin: by, state: 'rejected', endedAt: requestedAt })))
      pipeline.zadd(keys.ended, index, id)
    }
    await pipeline.exec()
    const app = fakeApp(judging({}), {
      ...notFrozen,
      redis,
      keys,
      store: createStore({ redis, keys, audit: noAudit, signatures: trusting }),
      catalog: forViews.catalog,
      signatures: forViews.signatures,
      config: forViews.config,
      slack: { messenger: { publishHome: async () => ({ is: 'sent' }) }, identity: forViews.identity },
      errors: { of: () => console.error },
    })
    // Each is new, because one has a pause between two tabs of a person.
    return () => createHome(app, () => []).show({ ...origin, userId: 'U1' })
  }

  try {
    const openers = { 100: await openerWith(100), 10000: await openerWith(10_000) }

    async function measure(count: (typeof counts)[number]): Promise<number> {
      const startedAt = performance.now()
      for (let tab = 0; tab < tabs; tab += 1) await openers[count]()
      return (performance.now() - startedAt) / tabs
    }

    await interleave(counts, 1, measure)
    const figures = await interleave(counts, rounds, measure)
    const rows = counts.map((count) => {
      const times = ratio(figures[count], figures[100], (ms) => ms)
      return [
        `${Number(count).toLocaleString('en')} ended requests`,
        fixed(times),
        fixed(median(figures[count])),
        ...judged(times, count === '100' ? undefined : most),
      ]
    })
    return table(['a Home tab with', 'time', 'ms', 'target', ''], rows)
  } finally {
    redis.disconnect()
    await server.stop()
    clearInterval(alive)
  }
}
