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
import { type Effort, fixed, interleave, judged, median, ratio, table, withRedis } from './measure.ts'

const sizes = ['few', 'many'] as const
const most = 1.3

export const benchHome = (effort: Effort) => withRedis(({ url }) => measureHome(effort, url))

async function measureHome({ quick, rounds }: Effort, redisUrl: string): Promise<string> {
  const tabs = quick ? 5 : 200
  const counts = quick ? { few: 10, many: 100 } : { few: 100, many: 10_000 }
  const redis = new Redis(redisUrl)
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
    const openers = { few: await openerWith(counts.few), many: await openerWith(counts.many) }

    async function measure(size: (typeof sizes)[number]): Promise<number> {
      const startedAt = performance.now()
      for (let tab = 0; tab < tabs; tab += 1) await openers[size]()
      return (performance.now() - startedAt) / tabs
    }

    await interleave(sizes, 1, measure)
    const figures = await interleave(sizes, rounds, measure)
    const rows = sizes.map((size) => {
      const times = ratio(figures[size], figures.few, (ms) => ms)
      return [
        `${counts[size].toLocaleString('en')} ended requests`,
        fixed(times),
        fixed(median(figures[size])),
        ...judged(times, size === 'few' ? undefined : most),
      ]
    })
    return table(['a Home tab with', 'time', 'ms', 'target', ''], rows)
  } finally {
    redis.disconnect()
  }
}
