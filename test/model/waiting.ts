import type { ModelRequest } from './request-model.ts'
import type { Session } from './session.ts'

type KeptRequest = Awaited<ReturnType<Session['records']['find']>>

/** A process that ended holds a tick's job for up to 9 s more. */
const longestMs = 25_000

/** Longer than anything that a living bot holds is held: the stand-ins answer at once. */
const heldMs = 1_500

/** Waits until the record is as it should become by itself. Throws `fault` where it does not, or takes another way. */
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
      await records.letHoldsPass(id)
      heldSince = Date.now()
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function dueInMs({ redis, keys, store }: Session['records'], id: string): Promise<number> {
  return Number(await redis.zscore(keys.due, id)) - (await store.now())
}

/** Waits until what was approved is as far as it gets by itself: not to be left alone is part of the bargain. */
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
      (state === 'not-started' && request.state === 'started' && request.mayBeLost),
    'a request that was approved is left alone',
  )
  request.state = state === 'done' || state === 'not-started' ? state : 'tracking'
  request.mayBeLost = false
}

/** How long it can still be decided, in ms. */
export async function timeLeftMs({ records }: Session, { id }: ModelRequest): Promise<number> {
  const { expiresAt } = await records.find(id)
  return expiresAt - (await records.store.now())
}

/** Its time is over within milliseconds, by Redis' clock. */
export async function letTimePass(session: Session, request: ModelRequest): Promise<void> {
  await session.records.letPass(request.id, (await timeLeftMs(session, request)) - 15)
}
