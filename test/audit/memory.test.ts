import { expect, test } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { createStore } from '../../src/record/store.ts'
import { auditSigning, trusting } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'
import { moveFacts, recordRequest } from '../given/request.ts'
import { takeSteps } from '../given/take-steps.ts'

const moves = 50

/** What the audit says of a move: as much as the preflight check reads. */
const facts = {
  ...moveFacts,
  project: { id: 'proj_pZ7pVr9w3SA3L', name: 'Storefront', slug: 'storefront' },
  site: 'ASH',
}

test('a move takes 3 KB of Redis’ memory for as long as its entries are kept, as docs/redis.md says', async () => {
  const { redis, keys, prefix } = connectTestRedis()
  const audit = createAudit({ redis, keys, print: () => {}, onError: () => {}, ...auditSigning({ prefix }) })
  const store = createStore({ redis, keys, audit, signatures: trusting })
  const byOnCall = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01' }
  const answer = { operation: 'elasticIps.move', status: 202 }
  for (let move = 0; move < moves; move += 1) {
    const { id } = await recordRequest(store, { resource: `elastic_ip:eip_1GijF7NsZe${move}`, facts, reason: 'web-1 is being replaced' })
    await takeSteps(store, id, ['approve', { audit: byOnCall }], 'send', ['accept', { audit: { answer } }], 'finish')
  }
  await audit.chained()

  expect(await redis.xlen(keys.audit)).toBe(5 * moves)
  expect(Number(await redis.memory('USAGE', keys.audit, 'SAMPLES', 0)) / moves).toBeLessThan(3_000)
})
