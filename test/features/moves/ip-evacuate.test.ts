import type { KnownBlock } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import type { ElasticIp } from '../../../src/account/objects.ts'
import type { SeenAssignment } from '../../../src/domain/account.ts'
import { AccountLimitError, ApiError, CheckFailed } from '../../../src/domain/errors.ts'
import { evacuateServer, evacuation, evacuationForm } from '../../../src/features/moves/ip-evacuate.ts'
import { option } from '../../../src/slack/blocks.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import type { Submission } from '../../../src/slack/interactions.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { assignedServerFor, elasticIpFor, serverFor } from '../../domain/account-objects.ts'
import { fakeApp } from '../../fake-app.ts'
import { requestFor } from '../../given/request.ts'
import { seenOnWeb1 } from '../../given/seen.ts'
import { readableBlocks } from '../../messages/readable.ts'
import { wholeList } from '../../whole-list.ts'

const minutes = 60_000
const ip = (index: number, more: Partial<ElasticIp> = {}) =>
  elasticIpFor({ id: `eip_${index}`, address: `203.0.113.${index}`, server: { id: 'sv_1', hostname: 'web-1' }, ...more })
const elsewhere = { server: { id: 'sv_9', hostname: 'web-9' } }
const noServer = { server: undefined }
const servers = [assignedServerFor({ id: 'sv_1' }), serverFor({ id: 'sv_2' })]

interface World {
  seen?: SeenAssignment[]
  /** How long ago a change that nobody tracks any more sent them to `web-1`. */
  sent?: Record<string, number>
  /** What the shared copy of the list shows. Default: what the account has. */
  copy?: ElasticIp[]
  /** Keeps the list from being read. */
  unread?: Error
  /** The address that an open request has. */
  locked?: string
}

function appWith(all: ElasticIp[], { seen = [], sent, copy = all, unread, locked }: World = {}) {
  const reads: string[] = []
  const get = async <T extends { id: string }>(kind: string, items: T[], id: string): Promise<T> => {
    reads.push(`${kind} ${id}`)
    const found = items.find((each) => each.id === id)
    if (!found) throw new ApiError({ operation: `${kind}.get`, status: 404, codes: [] })
    return found
  }
  const app = fakeApp({
    config: { infra: { writesPerMinute: 20 } },
    account: {
      elasticIps: {
        get: (id) => get('elasticIp', all, id),
        list: async () => {
          reads.push('elasticIps')
          if (unread) throw unread
          return wholeList(all)
        },
      },
      servers: { get: (id) => get('server', servers, id), list: async () => wholeList([]) },
    },
    lists: { elasticIps: async () => wholeList(copy), isShort: () => false },
    assignments: { find: async (fits) => seen.filter(fits) },
    store: { lastChangesOf: async () => new Map(), now: async () => 0 },
    ...(sent && {
      store: {
        lastChangesOf: async () =>
          new Map(
            Object.entries(sent).map(([id, agoMs]) => {
              const resource = `elastic_ip:${id}`
              return [resource, requestFor({ state: 'untracked', resource, sentAt: -agoMs, endedAt: -agoMs })]
            }),
          ),
        now: async () => 0,
      },
      catalog: { targetOf: () => ({ id: 'sv_1', name: 'web-1' }) },
      signatures: { verifyRecord: () => 'genuine' },
    }),
    ...(locked && {
      store: {
        lastChangesOf: async () => new Map(),
        now: async () => 0,
        othersFor: async () => [requestFor({ resource: `elastic_ip:${locked}` })],
      },
      catalog: { titleOf: () => ['Move ', { name: '203.0.113.1' }, ': web-1 → web-9'], targetOf: () => undefined },
      slack: { identity: { linkTo: () => undefined } },
    }),
  })
  return { app, reads }
}

interface Chosen extends World {
  ticked?: string[]
  only?: string[]
  targetId?: string
}

async function boxes(all: ElasticIp[], { ticked, only, targetId = 'sv_2', ...world }: Chosen = {}): Promise<KnownBlock[]> {
  const { app } = appWith(all, world)
  const asked = ticked && { ticked, ...(only && { only }) }
  return (await evacuationForm.boxes?.read(app, { serverId: 'sv_1', targetId }, asked, AbortSignal.timeout(1_000))) ?? []
}

const groupsIn = (blocks: KnownBlock[]) =>
  blocks.flatMap((block) => (block.type === 'input' && block.element.type === 'checkboxes' ? [{ ...block, element: block.element }] : []))

/** `[x] 203.0.113.1`, and the sentences below the boxes. */
function shown(blocks: KnownBlock[]): string {
  const ticks = groupsIn(blocks).flatMap(({ element: { options, initial_options: ticked = [] } }) =>
    options.map((option) =>
      `[${ticked.some(({ value }) => value === option.value) ? 'x' : ' '}] ${option.text.text} ${option.description?.text ?? ''}`.trim(),
    ),
  )
  return [...ticks, readableBlocks(blocks.filter(({ type }) => type !== 'input'))].filter((line) => line !== '').join('\n')
}

const nothing = ':warning: Nothing to move. The account shows no Elastic IPs on web-1, and none was last seen there in the past 24 h.'
const dead = (...indexes: number[]) => indexes.map((index) => ip(index, noServer))
const bgp = [ip(7, { id: 'ueip_7', ...noServer }), ip(8, { mode: 'bgp' })]
const notMoved = 'Not moved: `203.0.113.7`, `203.0.113.8` (BGP). If web-1 announces them, close their sessions.'

describe('the form of an evacuation', () => {
  test.each<[string, ElasticIp[], Chosen, string[]]>([
    ['all that the account shows there', [ip(1), ip(2), ip(3, elsewhere)], {}, ['[x] 203.0.113.1', '[x] 203.0.113.2']],
    [
      'what Lockkeeper saw there, in the order of the numbers, ticked up to an hour ago',
      dead(1, 2, 10),
      { seen: [seenOnWeb1(10, 61 * minutes), seenOnWeb1(1, 12 * minutes), seenOnWeb1(2, 60 * minutes)] },
      [
        '[x] 203.0.113.1',
        '[x] 203.0.113.2',
        '[ ] 203.0.113.10 Seen here 1 h 1 min ago',
        '(The account shows no server for these. Seen here 12 min to 1 h ago.)',
      ],
    ],
    [
      'what was sent there and is no longer tracked, ticked up to an hour ago',
      dead(1, 2),
      { sent: { eip_1: 60 * minutes, eip_2: 61 * minutes } },
      ['[x] 203.0.113.1 Sent here, no longer tracked', '[ ] 203.0.113.2 Sent here, no longer tracked'],
    ],
    [
      'nothing that was seen there and is on another server or gone by now',
      [ip(1, noServer), ip(2, elsewhere)],
      { seen: [1, 2, 3].map((index) => seenOnWeb1(index, 60)) },
      [
        '[x] 203.0.113.1',
        '(The account shows no server for these. Seen here 0 s ago.)',
        '*Left out:*',
        "•  203.0.113.3 isn't on the account.",
      ],
    ],
    [
      'what an open request has, unticked',
      [ip(1), ip(2)],
      { locked: 'eip_1' },
      ['[ ] 203.0.113.1 Open request: Move 203.0.113.1: web-1 → web-9', '[x] 203.0.113.2'],
    ],
    ['what the person ticked before', [ip(1), ip(2)], { ticked: ['eip_2'] }, ['[ ] 203.0.113.1', '[x] 203.0.113.2']],
    [
      'why some cannot be moved',
      [ip(1), ip(2, { status: 'error' })],
      {},
      ['[x] 203.0.113.1', '*Left out:*', '•  203.0.113.2 has status error, not active.'],
    ],
    ['the BGP addresses that stay', [ip(1), ...bgp], { seen: [seenOnWeb1(8, minutes)] }, ['[x] 203.0.113.1', notMoved]],
    ['that there are none but BGP addresses', bgp, {}, [nothing, notMoved]],
    ['that there is nothing to move', [], {}, [nothing]],
    [
      'those of an earlier request as they are now, and no others',
      [ip(1), ip(2, elsewhere), ip(3)],
      { ticked: ['eip_1', 'eip_2'], only: ['eip_1', 'eip_2'] },
      ['[x] 203.0.113.1', '*Left out:*', '•  203.0.113.2 is on web-9.'],
    ],
    [
      'what Lockkeeper has moved there since the shared list was read',
      [ip(1), ip(2)],
      { copy: [ip(1, elsewhere), ip(2, noServer)], ticked: ['eip_1', 'eip_2'], only: ['eip_1', 'eip_2'] },
      ['[x] 203.0.113.1', '[x] 203.0.113.2'],
    ],
  ])('shows %s', async (_, all, chosen, lines) => {
    expect(shown(await boxes(all, chosen)).split('\n')).toEqual(lines)
  })

  test('to move back shows what the evacuation moved if only an older list can be read, and otherwise says when to try again', async () => {
    const unread = new AccountLimitError({ operation: 'elasticIps.list', kind: 'read', waitMs: 32_000, perMinute: 60, answered: false })
    const { app } = appWith([ip(1)], { copy: [ip(1, elsewhere)], unread })
    const [from, to] = [
      { id: 'sv_1', name: 'web-1' },
      { id: 'sv_9', name: 'web-9' },
    ]
    const facts = { from, to, items: [{ elasticIpId: 'eip_1', address: '203.0.113.1', from, to }], leftOut: [] }
    const filling = { input: { serverId: 'sv_1', targetId: 'sv_9', elasticIpIds: ['eip_1'] }, facts, reason: undefined }

    const form = await evacuateServer.create(app).forms?.['ip.evacuate']?.fresh('{}', filling)

    expect(shown(form?.blocks as KnownBlock[])).toBe('[x] 203.0.113.1')
    const chosen = { ticked: ['eip_1'], copy: [ip(1, elsewhere)], unread }
    await expect(boxes([ip(1)], chosen)).rejects.toBe(unread)
  })

  test('offers at most 50 addresses, in groups of ten that Slack allows', async () => {
    const blocks = await boxes(Array.from({ length: 61 }, (_, index) => ip(index)))
    const groups = groupsIn(blocks)

    expect(groups.map(({ element }) => [element.options.length, element.initial_options?.length])).toEqual(Array(5).fill([10, 10]))
    expect(groups.every(({ optional }) => optional)).toBe(true)
    expect(shown(blocks)).toContain('One request moves up to 50 addresses. Move the other 11 with another one.')
    expect(groupsIn(await boxes([ip(1)])).map(({ optional }) => optional)).toEqual([false])
  })
})

describe('a form of an evacuation that was sent', () => {
  const group = 'elasticIpIds:sv_1:0'
  const anotherIsOpen = new Refusal('locked', mrkdwn`Another request is open.`)
  const [feature] = [evacuateServer]

  async function send(all: ElasticIp[], ticked: Record<string, string[]>, refusal: Error) {
    const app = fakeApp({
      config: { infra: { writesPerMinute: 20 } },
      submit: () => Promise.reject(refusal),
      errors: { shownToPerson: () => {} },
    })
    const values = { serverId: 'sv_1', targetId: 'sv_2' }
    const chosen = Object.fromEntries(Object.entries(values).map(([id, value]) => [id, option({ text: value, value })]))
    const submission = { metadata: '{}', blocks: await boxes(all), values, chosen, ticked } as unknown as Submission
    const answer = await feature.create(app).submissions?.[evacuationForm.callbackId]?.(submission)
    if (answer?.is !== 'refused') throw new Error('it was not refused')
    return answer
  }

  test.each<[string, ElasticIp, Record<string, string[]>, Record<string, RegExp>]>([
    ['none of the chosen ones can be moved', ip(1, { status: 'error' }), {}, { serverId: /^Nothing to move/ }],
    ['none is ticked', ip(1), { [group]: [] }, { [group]: /^Choose at least one address/ }],
    ['one of them can no longer be moved', ip(1), { [group]: ['eip_1'] }, { [group]: /^1 of 2 cannot be moved/ }],
  ])('is refused at its place if %s', async (_, address, ticked, problems) => {
    const refusal = new CheckFailed({ code: 'addresses-cannot-move' }, { why: '1 of 2 cannot be moved.' })
    const answer = await send([address], ticked, refusal)
    expect(answer.problems).toMatchObject(
      Object.fromEntries(Object.entries(problems).map(([id, text]) => [id, { text: expect.stringMatching(text) }])),
    )
  })

  test('is shown again as it was ticked, with the addresses that were left out', async () => {
    const answer = await send([ip(1), ip(2), ip(3, { status: 'error' })], { [group]: ['eip_2'] }, anotherIsOpen)
    const again = answer.again(anotherIsOpen.words).blocks as KnownBlock[]

    expect(shown(again)).toContain('[ ] 203.0.113.1\n[x] 203.0.113.2')
    expect(shown(again)).toContain('203.0.113.3 has status error, not active.')
  })
})

test('a start that cannot be read is refused before anything of the account is read', async () => {
  const app = fakeApp({ directory: { zone: async () => 'UTC' }, store: { now: async () => 0 } })
  const call = { slashCommand: { origin: { userId: 'U0ADA00001' }, start: 'at 25:00' }, args: ['web-1', 'web-2'] }
  const refused = evacuateServer.create(app).commands[0]?.run(call as never)
  await expect(refused).rejects.toThrow(/^Not requested: `at 25:00` isn't a time\. Write a time such as `22:00`/)
})

describe('the preflight check of an evacuation', () => {
  test.each([true, false])(
    'reads one list for all addresses, those that show no server and BGP included (for a request: %s)',
    async (forRequest) => {
      const all = [...dead(1, 2), ip(3, { id: 'ueip_3', ...noServer })]
      const { app, reads } = appWith(all, { seen: [1, 2].map((index) => seenOnWeb1(index, minutes)) })
      const elasticIpIds = forRequest ? undefined : ['eip_1', 'eip_2']

      const { facts } = await evacuation(app).preflight({ serverId: 'sv_1', targetId: 'sv_2', elasticIpIds }, { forRequest })

      expect(facts.items.map(({ address }) => address)).toEqual(['203.0.113.1', '203.0.113.2'])
      expect(facts.bgp).toEqual(['203.0.113.3'])
      expect(reads.filter((read) => !read.startsWith('server'))).toEqual(forRequest ? [] : ['elasticIps'])
    },
  )

  test('takes what was sent there more than an hour ago only if it was chosen', async () => {
    const { app } = appWith(dead(1), { sent: { eip_1: 61 * minutes } })
    const check = (elasticIpIds?: string[]) =>
      evacuation(app).preflight({ serverId: 'sv_1', targetId: 'sv_2', elasticIpIds }, { forRequest: true })

    await expect(check()).rejects.toMatchObject({
      finding: { code: 'addresses-cannot-move', causes: [{ code: 'seen-long-ago', server: 'web-1', isSent: true }] },
    })
    expect((await check(['eip_1'])).facts.items).toHaveLength(1)
  })
})
