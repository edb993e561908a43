import { describe, expect, test } from 'vitest'
import type { Request } from '../../src/domain/request.ts'
import { encodeFields } from '../../src/requests/store.ts'
import { general, ops, people, untilCard } from '../journeys/world.ts'
import { type Attack, startAttack } from './start-attack.ts'

/** Makes the record show another server as the target, and keeps the hash that the buttons carry. */
function disguised({ facts }: Request): Partial<Request> {
  const { to } = facts as { to: { name: string } }
  return { facts: { ...(facts as object), to: { ...to, name: 'harmless-server' } } }
}

/** Writes fields into a record, and makes the bot show it anew. */
async function show({ records }: Attack, request: Request, fields: Partial<Request>): Promise<void> {
  const { redis, keys } = records
  const { revision } = await records.find(request.id)
  await redis.hset(keys.record(request.id), encodeFields({ ...fields, revision: revision + 1 }))
  await redis.zadd(keys.outbox, 0, `${request.id}/card`)
}

describe('somebody with write access to Redis cannot show approvers another change than the one that they approve', () => {
  test.each<[what: string, fields: (request: Request) => Partial<Request>]>([
    ['another target', disguised],
    ['other names of approvers', () => ({ approverNames: '@harmless-server' })],
    ['other names of the people in its warnings', () => ({ personNames: { [people.ada]: 'harmless-server' } })],
  ])('on the card: %s', async (_, fields) => {
    const attack = await startAttack()
    const { request, card } = await attack.requestMove()
    await show(attack, request, fields(request))

    await untilCard(attack.slack, /no longer matches what was requested/, general)
    const shown = attack.slack.messages(ops).find(({ ts }) => ts === card.ts)
    expect(JSON.stringify(shown)).not.toContain('harmless-server')
    expect(JSON.stringify(shown?.blocks)).not.toContain('request-approve')
  })

  test('on the Home tab', async () => {
    const attack = await startAttack()
    const { request } = await attack.requestMove()
    await attack.records.redis.hset(attack.records.keys.record(request.id), encodeFields(disguised(request)))

    await attack.ben.openHome()
    await attack.slack.until(() => attack.slack.home(people.ben), { what: 'the Home tab' })
    const home = JSON.stringify(attack.slack.home(people.ben)?.blocks)
    expect(home).toContain('Needs your approval')
    expect(home).not.toContain('harmless-server')
    expect(home).not.toContain('request-approve')
  })
})
