import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Moment, Observation } from '../../src/domain/change.ts'
import { type Move, observeMove } from '../../src/moves/move.ts'
import { accountOf, anElasticIp } from './account.ts'
import { elasticIps } from './documented.ts'
import { elasticIpIds, patience, runs, serverIds, type Wire } from './generate.ts'
import { shown } from './visible.ts'

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
})
