import type { KnownBlock } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../../src/account/client.ts'
import type { ElasticIp, SeenAssignment, Server } from '../../../src/domain/account.ts'
import { ApiError, CheckFailed } from '../../../src/domain/errors.ts'
import { phrase } from '../../../src/domain/text.ts'
import {
  createEvacuationForm,
  createOfferAddresses,
  createReadAddresses,
  evacuationForm,
  evacuationModal,
  type LastMove,
  type OfferedAddresses,
} from '../../../src/features/ip-evacuate.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import type { Submission } from '../../../src/slack/interactions.ts'
import { writeMetadata } from '../../../src/slack/payloads.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { seenOnWeb1 } from '../../domain/evacuation/seen-for-test.ts'
import { readableBlocks } from '../../messages/readable.ts'

const place = { project: { id: 'proj_1', name: 'Storefront' }, site: { id: undefined, name: undefined, slug: 'ASH' } }
const minutes = 60_000

function ip(index: number, more: Partial<ElasticIp> = {}): ElasticIp {
  return {
    id: `eip_${index}`,
    address: `203.0.113.${index}`,
    status: 'active',
    server: { id: 'sv_1', hostname: 'web-1' },
    ...place,
    ...more,
  }
}

const servers = ['web-1', 'web-2'].map(
  (hostname, index): Server => ({
    id: `sv_${index + 1}`,
    hostname,
    label: undefined,
    primaryIpv4: undefined,
    status: 'on',
    locked: false,
    ...place,
  }),
)

const servers12 = { [evacuationForm.server]: 'sv_1', [evacuationForm.target]: 'sv_2' }

/** The addresses that the form offers for `web-1`, where the account has these. */
function offer(all: ElasticIp[], { last, ...wanted }: Wanted & { last?: LastMove } = {}) {
  const { seen, ...of } = wanted
  return offerFrom(all, { seen, last })({ serverId: 'sv_1', ...of }, AbortSignal.timeout(1_000))
}

interface Wanted {
  seen?: SeenAssignment[]
  ticked?: string[]
  targetId?: string
}

function offerFrom(all: ElasticIp[], { seen = [], last }: { seen?: SeenAssignment[] | undefined; last?: LastMove | undefined } = {}) {
  const notFound = (operation: string) => new ApiError({ operation, status: 404, codes: [] })
  const accountApi = {
    elasticIps: {
      list: async () => all,
      get: async (id: string) => all.find((each) => each.id === id) ?? Promise.reject(notFound('elasticIps.get')),
    },
    servers: { get: async (id: string) => servers.find((each) => each.id === id) ?? Promise.reject(notFound('servers.get')) },
  } as unknown as Pick<AccountApi, 'elasticIps' | 'servers'>
  const readAddresses = createReadAddresses({ accountApi, seen: { find: async (fits) => seen.filter(fits) } })
  return createOfferAddresses({ accountApi, readAddresses, lastMoveOf: async () => last, writesPerMinute: 20 })
}

const noSubmit = () => Promise.reject(new Error('is not requested'))
const notRead = () => Promise.reject(new Error('is not read'))

const elsewhere = { server: { id: 'sv_9', hostname: 'web-9' } }

/** The form of an earlier request to move the first two addresses from `web-1` to `web-2`, where the account has `now`. */
function formAgain(now: ElasticIp[], last?: LastMove, metadata = '{}') {
  const form = createEvacuationForm({ submit: noSubmit, change: {} as never, offerAddresses: offerFrom(now, { last }) })
  const [from, to] = [
    { id: 'sv_1', name: 'web-1' },
    { id: 'sv_2', name: 'web-2' },
  ]
  const items = [1, 2].map((index) => ({ elasticIpId: `eip_${index}`, address: `203.0.113.${index}`, from, to }))
  const input = { serverId: 'sv_1', targetId: 'sv_2', elasticIpIds: ['eip_1', 'eip_2'] }
  return form.freshForm(metadata, { input, facts: { from, to, items, leftOut: [] }, reason: undefined })
}

const blocksWith = (addresses: OfferedAddresses) => evacuationModal({ metadata: '{}', addresses }).blocks as KnownBlock[]

describe('the addresses in the form of an evacuation', () => {
  test('are all ticked that the account shows on the server', async () => {
    const { offered, cannotMove } = await offer([ip(1), ip(2), ip(3, { server: { id: 'sv_9', hostname: 'web-9' } })])

    expect(offered.map(({ address, isTicked }) => [address, isTicked])).toEqual([
      ['203.0.113.1', true],
      ['203.0.113.2', true],
    ])
    expect(cannotMove).toEqual([])
  })

  test('of a dead server are ticked if Lockkeeper saw them there in the last hour, and unticked if that is longer ago', async () => {
    const dead = [1, 2, 3].map((index) => ip(index, { server: undefined }))
    const seen = [seenOnWeb1(1, 12 * minutes), seenOnWeb1(2, 60 * minutes), seenOnWeb1(3, 61 * minutes)]

    const addresses = await offer(dead, { seen })

    expect(addresses.offered.map(({ address, isTicked }) => [address, isTicked])).toEqual([
      ['203.0.113.1', true],
      ['203.0.113.2', true],
      ['203.0.113.3', false],
    ])
    expect(JSON.stringify(blocksWith(addresses))).toContain('No server shown. Seen here 1 hour ago.')
  })

  test('of a dead server are in the order of their numbers, as those of any other', async () => {
    const all = [1, 2, 10].map((index) => ip(index, { server: undefined }))
    const { offered } = await offer(all, { seen: [10, 1, 2].map((index) => seenOnWeb1(index, minutes)) })

    expect(offered.map(({ address }) => address)).toEqual(['203.0.113.1', '203.0.113.2', '203.0.113.10'])
  })

  test('of a dead server are not those that the account shows on another server, nor those that are gone', async () => {
    const all = [ip(1, { server: undefined }), ip(2, { server: { id: 'sv_9', hostname: 'web-9' } })]
    const { offered, cannotMove } = await offer(all, { seen: [1, 2, 3].map((index) => seenOnWeb1(index, minutes)) })

    expect(offered.map(({ address }) => address)).toEqual(['203.0.113.1'])
    expect(cannotMove.map(({ address, finding }) => [address, finding.code])).toEqual([['203.0.113.3', 'no-elastic-ip']])
  })

  test('stay as the person ticked them when the target is chosen', async () => {
    const { offered } = await offer([ip(1), ip(2)], { ticked: ['eip_2'], targetId: 'sv_2' })
    expect(offered.map(({ isTicked }) => isTicked)).toEqual([false, true])
  })

  test('that cannot be moved are listed with the reason, below those that can', async () => {
    const addresses = await offer([ip(1), ip(2, { status: 'error' })], { targetId: 'sv_2' })

    expect(addresses.offered.map(({ address }) => address)).toEqual(['203.0.113.1'])
    expect(readableBlocks(blocksWith(addresses).filter(({ type }) => type === 'section'))).toBe(
      "*Left out, because they can't be moved:*\n•  203.0.113.2 has status error. Only active Elastic IPs can be moved.",
    )
  })

  test.each([
    [[ip(1)], ''],
    [[], ':warning: Nothing to move. The account shows no Elastic IPs on `web-1`, and Lockkeeper saw none there in the past 24 h.\n'],
  ])('are not those that BGP announces, which the form lists as not moved', async (own, before) => {
    const bgp = [ip(7, { id: 'ueip_7', server: undefined }), ip(8, { mode: 'bgp' })]
    const addresses = await offer([...own, ...bgp], { targetId: 'sv_2', seen: [seenOnWeb1(8, minutes)] })

    expect([addresses.offered.length, addresses.cannotMove]).toEqual([own.length, []])
    expect(readableBlocks(blocksWith(addresses).filter(({ type }) => type === 'section'))).toBe(
      `${before}\`203.0.113.7\`, \`203.0.113.8\` not moved: BGP, may be announced by \`web-1\`. Close their sessions by hand.`,
    )
  })

  test('are at most 50 ticked, in groups of ten that Slack allows', async () => {
    const addresses = await offer(Array.from({ length: 61 }, (_, index) => ip(index)))
    const groups = blocksWith(addresses).flatMap((block) =>
      block.type === 'input' && block.element.type === 'checkboxes' ? [block.element] : [],
    )

    expect(groups.map(({ options }) => options.length)).toEqual([10, 10, 10, 10, 10, 10, 1])
    expect(groups.flatMap(({ initial_options: ticked = [] }) => ticked)).toHaveLength(50)
    expect(JSON.stringify(blocksWith(addresses))).toContain('One request moves up to 50 addresses.')
  })

  test('are replaced by a sentence if there are none', async () => {
    const addresses = await offer([])
    expect(readableBlocks(blocksWith(addresses).filter(({ type }) => type === 'section'))).toBe(
      ':warning: Nothing to move. The account shows no Elastic IPs on `web-1`, and Lockkeeper saw none there in the past 24 h.',
    )
  })

  const last: LastMove = {
    id: '3504a0c9f2',
    title: phrase`Evacuate ${'web-1'} → ${'web-2'} (${['2 Elastic IPs']})`,
    endedAt: Date.UTC(2026, 10, 23, 2, 54),
    link: 'https://nimbus.slack.com/archives/C1/p1',
  }

  test('are gone if the last evacuation moved them, and the form says where to', async () => {
    const addresses = await offer([], { last })
    expect(JSON.stringify(blocksWith(addresses))).toContain(
      'Last change: “Evacuate `web-1` → `web-2` (2 Elastic IPs)”, ended <!date^1795402440^',
    )
    expect(JSON.stringify(blocksWith(addresses))).toContain('(<https://nimbus.slack.com/archives/C1/p1|request 3504a0c9>).')
  })

  test('need one that is ticked, which Slack asks for where they are one group', async () => {
    const optional = async (count: number) => {
      const blocks = blocksWith(await offer(Array.from({ length: count }, (_, index) => ip(index))))
      return blocks.flatMap((block) => (block.type === 'input' && block.element.type === 'checkboxes' ? [block.optional ?? false] : []))
    }

    expect(await optional(10)).toEqual([false])
    expect(await optional(11)).toEqual([true, true])
  })

  test('of an earlier request are shown as they are now: one that is on another server cannot be ticked', async () => {
    const { blocks } = await formAgain([ip(1), ip(2, elsewhere), ip(3)])

    const boxes = (blocks as KnownBlock[]).flatMap((block) =>
      block.type === 'input' && block.element.type === 'checkboxes' ? [block.element] : [],
    )
    expect(boxes).toMatchObject([{ options: [{ value: 'eip_1' }], initial_options: [{ value: 'eip_1' }] }])
    expect(readableBlocks((blocks as KnownBlock[]).filter(({ type }) => type === 'section'))).toBe(
      '*No longer on `web-1`:*\n•  203.0.113.2 (on web-9)',
    )
  })

  test('of an earlier request that left the server one by one are named, in place of a form without an address to tick', async () => {
    const left = await formAgain([ip(1, elsewhere), ip(2, elsewhere), ip(3)], last)

    expect(left.submit).toBeUndefined()
    expect(readableBlocks(left.blocks as KnownBlock[])).toMatchInlineSnapshot(`
      "No address of this request is on \`web-1\` anymore:
      •  203.0.113.1 (on web-9)
      •  203.0.113.2 (on web-9)
      Last change: “Evacuate \`web-1\` → \`web-2\` (2 Elastic IPs)”, ended <!date^1795402440^{time} {date_short_pretty}|2026-11-23 02:54 UTC> (<https://nimbus.slack.com/archives/C1/p1|request 3504a0c9>)."
    `)
  })

  test('of an earlier request are not said to have been moved by that request itself', async () => {
    const origin = { teamId: 'T1', channelId: 'C1', userId: 'U1', command: '/infra' }
    const left = await formAgain([ip(1, elsewhere), ip(2, elsewhere)], last, writeMetadata({ origin, undoes: { id: last.id } }))

    expect(readableBlocks(left.blocks as KnownBlock[])).not.toContain('Last change')
  })

  test('of an earlier request stay in the form if another target could take them', async () => {
    const stuck = await formAgain([ip(1, { status: 'error' }), ip(2, elsewhere)])

    expect(stuck.submit?.text).toBe('Request approval')
  })

  test('are not all requested if the form says that none of the chosen ones can be moved', async () => {
    const blocks = blocksWith(await offer([ip(1, { status: 'error' })], { targetId: 'sv_2' }))
    const form = createEvacuationForm({ submit: noSubmit, change: {} as never, offerAddresses: notRead })

    const answer = await form.submitForm({ metadata: '{}', blocks, values: servers12, chosen: {}, ticked: {} } as unknown as Submission)

    expect(answer).toMatchObject({
      is: 'refused',
      problems: { [evacuationForm.server]: { text: 'None of these addresses can be moved.' } },
    })
  })

  test('have the refusal beside them if one of them can no longer be moved', async () => {
    const blocks = blocksWith(await offer([ip(1), ip(2)]))
    const group = blocks.find(({ block_id: id }) => id?.endsWith(':0'))?.block_id ?? ''
    const submit = () =>
      Promise.reject(new CheckFailed({ code: 'addresses-cannot-move' }, { why: '1 of 2 chosen addresses cannot be moved.' }))
    const form = createEvacuationForm({ submit, change: {} as never, offerAddresses: notRead })
    const submission = { metadata: '{}', blocks, values: servers12, chosen: {}, ticked: { [group]: ['eip_1', 'eip_2'] } }

    const answer = await form.submitForm(submission as unknown as Submission)

    expect(answer).toMatchObject({ is: 'refused', problems: { [group]: { text: expect.stringContaining('cannot be moved') } } })
  })

  test('are asked for at the addresses if none is ticked', async () => {
    const blocks = blocksWith(await offer([ip(1)]))
    const group = blocks.find(({ block_id: id }) => id?.endsWith(':0'))?.block_id ?? ''
    const submission = { metadata: '{}', blocks, values: servers12, chosen: {}, ticked: { [group]: [] } }
    const form = createEvacuationForm({ submit: noSubmit, change: {} as never, offerAddresses: notRead })

    const answer = await form.submitForm(submission as unknown as Submission)

    expect(answer).toMatchObject({ is: 'refused', problems: { [group]: { text: 'Choose at least one address.' } } })
  })

  test('are shown again as they were ticked if the request is refused, with those that were left out', async () => {
    const addresses = await offer([ip(1), ip(2), ip(3, { status: 'error' })])
    const blocks = blocksWith(addresses)
    const group = blocks.find(({ block_id: id }) => id?.endsWith(':0'))?.block_id ?? ''
    const submission = { metadata: '{}', blocks, values: servers12, chosen: {}, ticked: { [group]: ['eip_2'] } }
    const submit = () => Promise.reject(new Refusal(mrkdwn`Another request is open.`))
    const form = createEvacuationForm({ submit, change: {} as never, offerAddresses: notRead })

    const answer = await form.submitForm(submission as unknown as Submission)
    const shown = answer.is === 'refused' ? (answer.again(mrkdwn`Another request is open.`).blocks as KnownBlock[]) : []

    const boxes = shown.find(({ block_id: id }) => id === group)
    expect(boxes).toMatchObject({ element: { options: [{ value: 'eip_1' }, { value: 'eip_2' }], initial_options: [{ value: 'eip_2' }] } })
    expect(readableBlocks(shown.filter(({ type }) => type === 'section'))).toContain('203.0.113.3 has status error.')
  })
})
