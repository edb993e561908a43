import { Redis } from 'ioredis'
import { createKeys } from '../../src/redis/key-names.ts'
import { createStore } from '../../src/requests/store/store.ts'
import { auditWriting, noteOf } from '../requests/audit-for-test.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import type { Effort } from './effort.ts'
import { moveOf } from './record-moves.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, table } from './table.ts'

const variants = ['one `SET NX`', 'recording a request', 'approving it'] as const
type Variant = (typeof variants)[number]
const base: Variant = 'one `SET NX`'
const mostMs = 20

/** Measures single steps from the call to the answer, one after the other. Redis writes each one to its file before it answers. */
export async function benchDeciding({ quick, rounds }: Effort): Promise<string> {
  const count = quick ? 50 : 1_000
  // The Redis process does not keep this process alive.
  const alive = setInterval(() => {}, 1_000)
  const server = await startRedis({ appendonly: true, settings: ['appendfsync always'] })
  const redis = new Redis(server.url)
  const keys = createKeys('bench')
  const audit = auditWriting(() => '{"act":"bench"}')
  const store = createStore({ redis, keys, audit, noteOf })
  let next = 0

  const steps: Record<Variant, () => Promise<() => Promise<unknown>>> = {
    'one `SET NX`': async () => {
      const key = `bench:${next++}`
      return () => redis.set(key, 'x', 'PX', 600_000, 'NX')
    },
    'recording a request': async () => {
      const move = moveOf(next++)
      return () => store.create(move)
    },
    'approving it': async () => {
      const move = moveOf(next++)
      await store.create(move)
      const request = await store.find(move.id)
      if (!request) throw new Error('not recorded')
      const by = { by: 'U2', rule: 'APPROVERS', via: 'U2' }
      return async () => {
        const { outcome } = await store.take(request, 'approve', {
          set: { decision: by, approvals: [{ ...by, at: request.createdAt }] },
          dueInMs: 0,
        })
        if (outcome !== 'won') throw new Error(`an approval was ${outcome}`)
      }
    },
  }

  async function measure(variant: Variant): Promise<{ p50: number; p99: number }> {
    const took: number[] = []
    for (let index = 0; index < count; index += 1) {
      const step = await steps[variant]()
      const startedAt = performance.now()
      await step()
      took.push(performance.now() - startedAt)
    }
    took.sort((a, b) => a - b)
    return { p50: took[Math.floor(count * 0.5)] ?? Number.NaN, p99: took[Math.floor(count * 0.99)] ?? Number.NaN }
  }

  try {
    await interleave(variants, 1, measure)
    const figures = await interleave(variants, rounds, measure)
    const rows = variants.map((variant) => {
      const p99 = median(figures[variant].map((one) => one.p99))
      const verdict = variant === 'approving it' ? [`≤ ${mostMs}`, p99 <= mostMs ? 'met' : 'missed'] : ['', '']
      const p50 = median(figures[variant].map((one) => one.p50))
      return [variant, fixed(ratio(figures[variant], figures[base], (one) => one.p50)), fixed(p50), fixed(p99), ...verdict]
    })
    return table(['', 'p50', 'p50, ms', 'p99, ms', 'target', ''], rows)
  } finally {
    redis.disconnect()
    await server.stop()
    clearInterval(alive)
  }
}
