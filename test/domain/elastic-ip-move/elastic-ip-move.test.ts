import { describe, expect, test } from 'vitest'
import { checkMove, completeMove, type MoveFacts, type MoveReads, moveDifferences, moveRemark, moveWords } from '../../../src/moves/move.ts'
import { elasticIpFor, ids, serverFor } from '../account-objects.ts'

const input = { elasticIpId: ids.elasticIp, serverId: ids.web2 }

function check(reads: Partial<MoveReads> = {}) {
  return checkMove(input, { elasticIp: elasticIpFor(), target: serverFor(), assigned: undefined, ...reads })
}

describe('a difference since the approval', () => {
  const approved: MoveFacts = check().facts
  const without = (...names: (keyof MoveFacts)[]): MoveFacts => {
    const facts = { ...approved }
    for (const name of names) delete facts[name]
    return facts
  }

  const since = (now: Partial<MoveFacts>) => moveDifferences(approved, { ...approved, ...now }).map((finding) => moveWords(finding).why)

  test('is another server, address or project', () => {
    const project = { id: ids.billing, name: 'Billing' }
    expect(since({ from: { id: ids.web3, name: 'db-1' }, address: '203.0.113.99', project })).toEqual([
      '203.0.113.99 was on web-1 when this was requested, and is on db-1 now.',
      "The Elastic IP's address was 203.0.113.10 when this was requested, and is 203.0.113.99 now.",
      'It was in project Storefront when this was requested, and is in Billing now.',
    ])
  })

  test('is shown by ids if the names are equal', () => {
    expect(since({ from: { id: ids.web3, name: 'web-1' }, project: { id: ids.billing, name: 'Storefront' } })).toEqual([
      '203.0.113.10 was on “web-1 (sv_vKm8ZaLzG5R2n)” when this was requested, and is on “web-1 (sv_bT90rYxPqJ6Uh)” now.',
      'It was in project “Storefront (proj_6059EqYkOQj8p)” when this was requested, and is in “Storefront (proj_R82A9jVb5Lq0d)” now.',
    ])
  })

  test('is not another id of a project with the same slug, which the preflight check lists', () => {
    expect(moveDifferences(approved, { ...approved, project: { id: ids.billing, name: 'Storefront', slug: 'storefront' } })).toEqual([])
  })

  test('is not another name, another site label, or an address written with its prefix length', () => {
    expect(
      moveDifferences(approved, {
        ...approved,
        from: { id: ids.web1, name: 'web-1-renamed' },
        to: { id: ids.web2, name: 'web-two' },
        site: 'ASH2',
        address: '203.0.113.10/32',
      }),
    ).toEqual([])
  })

  test('is a server that the account shows again, because the address is alive', () => {
    const { from, ...hidden } = approved
    expect(moveDifferences({ ...hidden, showsNoServer: true }, approved)).toEqual([
      { code: 'server-shown', address: '203.0.113.10', now: 'web-1' },
    ])
    expect(moveDifferences(approved, { ...hidden, showsNoServer: true })).toEqual([])
    expect(moveDifferences({ ...hidden, showsNoServer: true }, { ...hidden, showsNoServer: true })).toEqual([])
  })

  test('is not a member that one of the two reads does not show', () => {
    const bare = without('from', 'address', 'project', 'site')
    expect(moveDifferences(approved, bare)).toEqual([])
    expect(moveDifferences(bare, approved)).toEqual([])
  })
})

describe('an address whose server is no longer shown', () => {
  const approved: MoveFacts = check().facts
  const { facts: now } = check({ elasticIp: elasticIpFor({ server: undefined }) })

  test('is still moved, and its old server is known from the approval', () => {
    expect(moveDifferences(approved, now)).toEqual([])
    expect(completeMove(approved, now)).toMatchObject({ from: { id: ids.web1, name: 'web-1' }, showsNoServer: true })
  })

  test('is reported in the thread', () => {
    expect(moveRemark(completeMove(approved, now))).toMatchInlineSnapshot(
      `"The account showed no server for 203.0.113.10 when the move was sent. It was on web-1 when this was requested."`,
    )
    expect(moveRemark(approved)).toBeUndefined()
    // The request message already says that the old server is unknown.
    expect(moveRemark(now)).toBeUndefined()
  })

  test('is on its server again if a later read shows it', () => {
    expect(completeMove(now, approved)).toEqual(approved)
  })
})
