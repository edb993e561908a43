import type { Redis } from 'ioredis'
import { type ReportName, reportNames } from '../../src/record/steps.ts'
import type { Keys } from '../../src/redis/key-names.ts'

/** Returns the reports that a request still owes. */
export async function owedReports({ redis, keys }: { redis: Redis; keys: Keys }, id: string): Promise<ReportName[]> {
  const scores = await redis.zmscore(keys.outbox, ...reportNames.map((name) => `${id}/${name}`))
  return reportNames.filter((_, index) => scores[index] !== null)
}
