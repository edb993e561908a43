import { expect, onTestFinished } from 'vitest'
import type { Request } from '../../src/domain/request.ts'
import { encodeFields } from '../../src/record/store.ts'
import { createQueues } from '../../src/redis/queues.ts'
import { openRecords } from '../journeys/records.ts'
import { general, requestMove as requestMoveIn, startWorld, untilCard, untilReport, type WorldOptions } from '../journeys/world.ts'

/** Starts a bot, and somebody who can write to its Redis. The channel of the operators is #general. */
export async function startAttack({ env = {}, ...more }: WorldOptions = {}) {
  const world = await startWorld({ env: { OPS_CHANNEL: general, ...env }, ...more })
  world.slack.invite(general)
  const records = openRecords(world)
  const queues = createQueues({
    redis: records.redis,
    keys: records.keys,
    pollIntervalMs: 500,
    onError: (error) => {
      throw error
    },
  })
  onTestFinished(queues.close)

  /** Writes these fields into the record of a request, and makes the bot look at it. */
  async function write(request: Request, fields: Partial<Request>): Promise<void> {
    await records.redis.hset(records.keys.record(request.id), encodeFields(fields))
    await records.redis.zadd(records.keys.due, 0, request.id)
    await queues.wake(request)
  }

  /** Ada requests a move. Returns its request, which waits, and its card. */
  async function requestMove(skip = 0) {
    const { elasticIp, card } = await requestMoveIn(world, { skip })
    const request = (await records.all()).find(({ resource }) => resource === `elastic_ip:${elasticIp.id}`)
    return { request: request ?? expect.fail('nothing was requested'), card }
  }

  /** Expects that the request ends without a write, and that its thread, the operators and the audit say so. */
  async function expectRefused({ request, card }: Awaited<ReturnType<typeof requestMove>>, code: string, words: RegExp): Promise<void> {
    const report = await untilReport(world.slack, card.ts, /Not started/)
    expect(report.text).toMatch(words)
    const notice = await untilCard(world.slack, /no longer matches what was requested/, general)
    expect(notice.text).toContain(request.id)
    const [last] = (await records.audit()).filter(({ requestId }) => requestId === request.id).toReversed()
    expect(last).toMatchObject({ act: 'drop', causes: [{ code }] })
  }

  return { ...world, records, write, requestMove, expectRefused }
}
export type Attack = Awaited<ReturnType<typeof startAttack>>
