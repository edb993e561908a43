import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Moment, Observation } from '../../src/domain/change.ts'
import type { Request } from '../../src/domain/request.ts'
import { type Move, moveFindings, moveWords, observeMove } from '../../src/moves/move.ts'
import { nextStep } from '../../src/requests/next-step.ts'
import { requestFor } from '../requests/request-for-test.ts'
import { afterStep } from '../requests/take-steps.ts'
import { accountOf, anElasticIp } from './account.ts'
import { elasticIps } from './documented.ts'
import { elasticIpIds, patience, runs, serverIds, type Wire } from './generate.ts'
import { names, shown } from './visible.ts'

const lateAfterMs = 900_000
const sentAt = 1_000_000

/** The servers that generated Elastic IPs are on, and ids in other forms. */
const someServer = fc.constantFrom(...serverIds, 'web-1', 'no server').map((id) => ({ id, name: `name of ${id}` }))
const aMove: fc.Arbitrary<Move> = fc
  .record({ elasticIpId: fc.constantFrom(...elasticIpIds), from: fc.option(someServer, { nil: undefined, freq: 6 }), to: someServer })
  .filter(({ from, to }) => from?.id !== to.id)
  .map(({ from, ...move }) => (from ? { ...move, from } : move))

const aMoment: fc.Arbitrary<Moment> = fc.record({
  phase: fc.constantFrom<Moment['phase'][]>('sent', 'accepted'),
  sinceSentMs: fc.nat(2_000_000),
  early: fc.boolean(),
  isUnsettled: fc.boolean(),
})

/** Returns what a read of this Elastic IP means for the move. The client's own code reads it. */
async function observe(move: Move, wire: Wire, moment: Moment): Promise<Observation> {
  const [elasticIp] = await accountOf({ elasticIps: [{ ...wire, id: move.elasticIpId }] }).elasticIps.list()
  if (!elasticIp) throw new Error('it was not read')
  return observeMove(move, elasticIp, moment)
}

const documented = elasticIps.filter(({ reads }) => typeof reads !== 'string').map(({ wire }) => wire as Wire)
const aRead = fc.oneof({ weight: 5, arbitrary: anElasticIp }, { weight: 1, arbitrary: fc.constantFrom(...documented) })

/** Returns what a person concludes from one read by the interface specification. */
function conclusionOf(move: Move, wire: Wire, { phase, early, isUnsettled }: Moment): Observation['is'] {
  const status = shown(wire, 'attributes', 'status')
  const on = shown(wire, 'attributes', 'server', 'id')
  const onThird = on !== undefined && move.from !== undefined && on !== move.from.id && on !== move.to.id
  if (status === 'error' || status === 'releasing') return 'failed'
  if (status === 'active' && on === move.to.id) return 'done'
  if (onThird && (status === 'active' || status === 'moving')) return early ? 'unclear' : 'superseded'
  if (status === 'moving') return 'underway'
  if (status === 'active' && on !== undefined && !isUnsettled) return phase === 'accepted' ? 'failed' : 'not-started'
  return 'unclear'
}

describe('what one read means for a move', patience, () => {
  test('is what a person concludes from it', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(aMove, aRead, aMoment, async (move, wire, moment) => {
        const observation = await observe(move, wire, moment)

        expect(observation.is).toBe(conclusionOf(move, wire, moment))
        seen.add(observation.is)
      }),
      { numRuns: runs.numRuns * 2 },
    )
    expect(seen).toEqual(new Set(['done', 'failed', 'not-started', 'superseded', 'unclear', 'underway']))
  })

  test('names the shown server if the move is superseded', async () => {
    await fc.assert(
      fc.asyncProperty(aMove, aRead, aMoment, async (move, wire, moment) => {
        const observation = await observe(move, wire, moment)
        fc.pre(observation.is === 'superseded')
        const where = shown(wire, 'attributes', 'server', 'hostname') ?? shown(wire, 'attributes', 'server', 'id') ?? ''
        const { why } = moveWords(moveFindings.schema.parse(observation.cause))
        expect(names(why, where), why).toBe(true)
      }),
      { numRuns: Math.ceil(runs.numRuns / 4) },
    )
  })
})

const states = ['starting', 'tracking'] as const
const aRequest: fc.Arbitrary<Request> = fc
  .record({
    state: fc.constantFrom(...states),
    late: fc.boolean(),
  })
  .map(({ state, late }) =>
    requestFor({
      state,
      createdAt: sentAt,
      expiresAt: sentAt + 1,
      sentAt,
      ...(late ? { lateAt: sentAt + lateAfterMs } : {}),
    }),
  )

describe('what a read changes about a request', patience, () => {
  test('follows from the observation: each end from its own, and an unclear read is at most reported as late, once', async () => {
    await fc.assert(
      fc.asyncProperty(aRequest, aMove, aRead, aMoment, async (request, move, wire, moment) => {
        const { sinceSentMs } = moment
        const observation = await observe(move, wire, { ...moment, phase: request.state === 'tracking' ? 'accepted' : 'sent' })

        const step = nextStep(request, observation, sentAt + sinceSentMs, lateAfterMs)

        const isChanging = changing(request).includes(observation.is)
        const isLate = request.lateAt === undefined && sinceSentMs >= lateAfterMs
        const to = step && afterStep(request.state, step.name)
        if (isChanging) expect(to).toBe(observation.is === 'underway' ? 'tracking' : observation.is)
        else if (isLate) expect({ name: step?.name, to }).toEqual({ name: 'late', to: request.state })
        else expect(step).toBeUndefined()
      }),
      { numRuns: runs.numRuns * 2 },
    )
  })
})

/** Returns the observations that change a request in this state. */
function changing({ state }: Request): Observation['is'][] {
  const ends: Observation['is'][] = ['done', 'failed', 'not-started', 'superseded']
  return state === 'starting' ? [...ends, 'underway'] : ends
}
