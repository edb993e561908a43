import type { ModelRequest } from './request-model.ts'
import type { Session } from './session.ts'
import { isOvertaken } from './story.ts'

type KeptRequest = Awaited<ReturnType<Session['records']['find']>>

/** The job of a tick stays locked for up to 9 s after its process ended. */
const longestMs = 25_000

/** Longer than a living bot holds anything, because the stand-ins answer at once. */
const heldMs = 1_500

/** Waits until the record is as it should become by itself. Throws `fault` if it does not, or takes another path. */
export async function untilRecord(
  { records }: Session,
  { id }: Pick<ModelRequest, 'id'>,
  fit: (record: KeptRequest) => boolean,
  fault: string,
): Promise<KeptRequest> {
  const start = Date.now()
  let heldSince = start
  for (;;) {
    const record = await records.find(id)
    if (fit(record)) return record
    const isStuck = !['waiting', 'approved', 'starting', 'tracking'].includes(record.state)
    if (isStuck || Date.now() > start + longestMs)
      throw new Error(`${fault}: ${JSON.stringify(record)}, due in ${await dueInMs(records, id)} ms`)
    if (Date.now() > heldSince + heldMs) {
      await records.releaseHolds(id)
      heldSince = Date.now()
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function dueInMs({ redis, keys, store }: Session['records'], id: string): Promise<number> {
  return Number(await redis.zscore(keys.due, id)) - (await store.now())
}

/** Waits until an approved request is as far as it gets by itself, without a click. */
export async function settleDown(session: Session, request: ModelRequest): Promise<void> {
  if (request.state !== 'started' && request.state !== 'tracking') return
  const elasticIpId = request.resource.split(':')[1] ?? ''
  const isUnderWay = () => request.kind === 'ip.move' && session.accountApi.world.elasticIp(elasticIpId)?.status === 'moving'
  const { state } = await untilRecord(
    session,
    request,
    ({ state }) =>
      (state === 'tracking' && isUnderWay()) ||
      state === 'done' ||
      isOvertaken({ state }, request) ||
      (state === 'not-started' && request.state === 'started' && request.mayBeLost),
    'a request that was approved is left alone',
  )
  request.state = state === 'done' || state === 'not-started' || state === 'superseded' ? state : 'tracking'
  request.mayBeLost = false
}

export async function timeLeftMs({ records }: Session, { id }: ModelRequest): Promise<number> {
  const { expiresAt } = await records.find(id)
  return expiresAt - (await records.store.now())
}

/** Moves its deadline to 15 ms from now, by Redis' clock. */
export async function letTimePass(session: Session, request: ModelRequest): Promise<void> {
  await session.records.shiftTimes(request.id, (await timeLeftMs(session, request)) - 15)
}
