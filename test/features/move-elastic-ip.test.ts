import { describe, expect, test } from 'vitest'
import { CheckFailed } from '../../src/domain/errors.ts'
import { phrase, phraseText } from '../../src/domain/text.ts'
import { createMoveForm, moveForm } from '../../src/features/ip-move.ts'
import { checkMove, type MoveFinding, moveWords } from '../../src/moves/move.ts'
import { chooseServer, describeMove } from '../../src/moves/move-change.ts'
import type { Submission } from '../../src/slack/interactions.ts'
import { billing, elasticIpFor, ids, serverFor } from '../domain/account-objects.ts'

const input = { elasticIpId: ids.elasticIp, serverId: ids.web2 }

describe('the description of a move', () => {
  test('has all facts', () => {
    const { facts } = checkMove(input, { elasticIp: elasticIpFor(), target: serverFor(), assigned: undefined })

    expect(describeMove(facts)).toEqual({
      title: phrase`Move ${'203.0.113.10'}: ${'web-1'} → ${'web-2'}`,
      facts: [
        { label: 'Project', value: 'Storefront' },
        { label: 'Site', value: 'ASH' },
      ],
      ids: [
        { label: 'Elastic IP', value: 'eip_KeQbB4BoO6x10' },
        { label: 'From', value: 'sv_vKm8ZaLzG5R2n' },
        { label: 'To', value: 'sv_W3mVpQ0xNd7Lk', detail: '198.51.100.22' },
      ],
      underway: 'moving',
    })
  })

  test('says if no server is shown', () => {
    const { facts } = checkMove(input, { elasticIp: elasticIpFor({ server: undefined }), target: serverFor(), assigned: undefined })

    expect(describeMove(facts).facts).toContainEqual({ label: 'From', value: 'no server shown' })
    expect(phraseText(describeMove(facts).title)).toBe('Move 203.0.113.10 → web-2')
  })

  test('uses ids if the account API did not answer', () => {
    const { facts } = checkMove(input, { elasticIp: undefined, target: undefined, assigned: undefined })

    expect(phraseText(describeMove(facts).title)).toBe(`Move ${ids.elasticIp} → ${ids.web2}`)
    expect(describeMove(facts).facts).toContainEqual({ label: 'From', value: 'unknown' })
  })
})

describe('a server by its hostname', () => {
  const twin = serverFor({ id: ids.web3, project: billing })

  test('is the server in the project of the Elastic IP', () => {
    expect(chooseServer('web-2', [twin, serverFor()], elasticIpFor().project).id).toBe(ids.web2)
  })

  test('is refused with the ids if several servers fit', () => {
    expect(() => chooseServer('web-2', [twin, serverFor()], undefined)).toThrowErrorMatchingInlineSnapshot(
      `[SeveralServers: 2 servers are called web-2: sv_bT90rYxPqJ6Uh (Billing, ASH), sv_W3mVpQ0xNd7Lk (Storefront, ASH). Use the id.]`,
    )
    const many = Array.from({ length: 12 }, (_, index) => serverFor({ id: `sv_${index}` }))
    expect(() => chooseServer('web-2', many, undefined)).toThrow(/sv_9 \(Storefront, ASH\) and 2 more\. Use the id/)
    expect(() => chooseServer('web-9', [], undefined)).toThrowErrorMatchingInlineSnapshot(`[UnknownName: No server web-9.]`)
  })
})

describe('the form of a move', () => {
  const refusedBy = async (finding: MoveFinding) => {
    const form = createMoveForm({
      submit: () => Promise.reject(new CheckFailed(finding, moveWords(finding))),
      change: {} as never,
    })
    const origin = { teamId: 'T1', channelId: 'C1', userId: 'U1', command: '/infra' }
    const values = { [moveForm.elasticIp]: ids.elasticIp, server: ids.web2 }
    const answer = await form.submitForm({ values, chosen: {}, origin, metadata: '{}', deliveryKey: 'd1' } as unknown as Submission)
    return answer.is === 'refused' ? Object.keys(answer.problems) : []
  }

  test('shows a problem of the Elastic IP at its field, because another server would not help', async () => {
    const address = '203.0.113.104'
    expect(await refusedBy({ code: 'not-active', address, status: 'releasing' })).toEqual([moveForm.elasticIp])
    expect(await refusedBy({ code: 'already-there', address, server: 'web-2' })).not.toEqual([moveForm.elasticIp])
  })
})
