import { describe, expect, test } from 'vitest'
import type { ElasticIp, Server } from '../../src/domain/account.ts'
import { ApiError, ApiUnreachableError, ListCutError } from '../../src/domain/errors.ts'
import { listServers } from '../../src/features/servers.ts'
import { fakeApp } from '../fake-app.ts'
import { listingOf } from './listing-of.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }

const web1: Server = {
  id: 'sv_1WFgWmkF9Mzju',
  hostname: 'web-1',
  label: undefined,
  primaryIpv4: '192.0.2.11',
  status: 'on',
  locked: false,
  project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
  site: { id: 'loc_ash', name: 'Ashburn 74', slug: 'ASH' },
  regionNames: ['Ashburn', 'United States'],
}
const web10: Server = {
  ...web1,
  id: 'sv_2vGfTqoYmjY5u',
  hostname: 'web-10',
  status: 'off',
  locked: true,
  label: 'do not touch <before> the sale',
}
const bare: Server = {
  ...web1,
  id: 'sv_37rDaYrmwgNZr',
  hostname: undefined,
  primaryIpv4: undefined,
  status: undefined,
  project: undefined,
  site: undefined,
}

const elasticIp = (address: string, more: Partial<ElasticIp> = {}): ElasticIp => ({
  id: `eip_${address}`,
  address,
  status: 'active',
  server: { id: web1.id, hostname: 'web-1' },
  project: web1.project,
  site: undefined,
  ...more,
})

const some = [elasticIp('203.0.113.11', { status: 'moving' }), elasticIp('203.0.113.2'), elasticIp('203.0.113.3', { server: undefined })]

function list(words: string[], servers: Server[], elasticIps: () => Promise<ElasticIp[]> = async () => some) {
  const inventory = { servers: async () => servers, elasticIps }
  return listingOf(listServers.create(fakeApp({ lists: inventory })).commands[0], words)
}

describe('the list of servers', () => {
  test('shows status, project, site, addresses and label, in the order of the names', async () => {
    const { title, rows, notes, table } = await list([], [web10, bare, web1])

    expect(table?.rows.map((row) => row.map(String))).toMatchInlineSnapshot(`
      [
        [
          "\`sv_37rDaYrmwgNZr\`",
          "undefined",
          "undefined",
          "undefined",
          "undefined",
          "undefined",
          "undefined",
        ],
        [
          "\`web-1\`",
          "on",
          "ASH",
          "Storefront",
          "\`203.0.113.2\`, \`203.0.113.11\` (moving)",
          "\`192.0.2.11\`",
          "undefined",
        ],
        [
          "\`web-10\`",
          "off, locked",
          "ASH",
          "Storefront",
          "undefined",
          "\`192.0.2.11\`",
          "\`do not touch &lt;before&gt; the sale\`",
        ],
      ]
    `)
    expect([title, ...rows].map(String)).toMatchInlineSnapshot(`
      [
        "3 servers",
        "*\`sv_37rDaYrmwgNZr\`*  ·  status unknown",
        "*\`web-1\`*  ·  on  ·  ASH  ·  Storefront
      Elastic IPs: \`203.0.113.2\`, \`203.0.113.11\` (moving)
      own address \`192.0.2.11\`",
        "*\`web-10\`*  ·  off, locked  ·  ASH  ·  Storefront
      own address \`192.0.2.11\`  ·  label \`do not touch &lt;before&gt; the sale\`",
      ]
    `)
    expect(notes).toEqual([])
  })

  test.each<[words: string[], found: string[]]>([
    [['off'], ['web-10']],
    [['LOCKED', 'ash'], ['web-10']],
    [['storefront'], ['web-1', 'web-10']],
    [['203.0.113.2'], ['web-1']],
    [['eip_203.0.113.11'], ['web-1']],
    [
      ['192.0.2.11', 'on'],
      ['web-1', 'web-10'],
    ],
    [['sale'], ['web-10']],
    [['203.0.113.3'], []],
    [
      ['ashburn', 'states'],
      ['web-1', 'web-10'],
    ],
    [['dallas'], []],
  ])('finds servers by %j', async (words, found) => {
    const { rows } = await list(words, [web1, web10])
    expect(rows.map(({ text }) => /`(.*?)`/.exec(text)?.[1])).toEqual(found)
  })

  test('counts the Elastic IPs of a server that it does not name', async () => {
    const many = Array.from({ length: 22 }, (_, index) => elasticIp(`203.0.113.${index + 1}`))
    const { rows } = await list([], [web1], async () => many)
    expect(String(rows[0])).toMatch(/`203\.0\.113\.10` and 12 more\n/)
  })

  test('is shown without Elastic IPs if the team does not have that feature, and says so', async () => {
    const { rows, notes = [] } = await list([], [web1], async () => {
      throw new ApiError({ operation: 'elasticIps.list', status: 403, codes: ['FEATURE_NOT_ENABLED'] })
    })
    expect(String(rows[0])).not.toContain('Elastic IPs')
    expect(notes.map(String)).toMatchInlineSnapshot(`
      [
        ":warning: Couldn't read the Elastic IPs. Elastic IPs aren't enabled for this team (feature flag elastic_ips). Ask the provider's support to enable them.",
      ]
    `)
  })

  test('is shown if the Elastic IPs cannot be read', async () => {
    const { rows, notes = [] } = await list([], [web1], async () => {
      throw new ApiUnreachableError({ operation: 'elasticIps.list', requestSent: 'no', problem: 'ECONNREFUSED' })
    })
    expect(rows).toHaveLength(1)
    expect(notes.map(String)).toMatchInlineSnapshot(`
      [
        ":warning: Couldn't read the Elastic IPs. Couldn't reach the account API. Try again in a minute. If it lasts, run the doctor command.",
      ]
    `)
  })

  test('says if not all Elastic IPs were read', async () => {
    const { rows, notes = [] } = await list([], [web1], async () => {
      throw new ListCutError({ operation: 'elasticIps.list', limit: 'pages', items: [elasticIp('203.0.113.2')] })
    })
    expect(String(rows[0])).toContain('203.0.113.2')
    expect(notes.map(String)).toMatchInlineSnapshot(`
      [
        ":warning: Couldn't read all Elastic IPs. A server may have more than are shown.",
      ]
    `)
  })

  test('fails for an error that nobody expects', async () => {
    const broken = list([], [web1], async () => {
      throw new TypeError('broken')
    })
    await expect(broken).rejects.toThrow('broken')
  })

  test('has the details of each server, with all its Elastic IPs', async () => {
    const many = Array.from({ length: 22 }, (_, index) => elasticIp(`203.0.113.${index + 1}`))
    const onServer = many.map((one) => ({ ...one, server: { id: web10.id, hostname: 'web-10' } }))
    const { details } = listServers.create(
      fakeApp({
        account: { servers: { get: async () => web10 } },
        lists: { servers: async () => [], elasticIps: async () => [...onServer, elasticIp('203.0.113.99')] },
      }),
    )

    const shown = await details?.server?.(web10.id, origin)

    expect([shown?.title, ...(shown?.facts ?? []).map(({ label, words }) => `${label}: ${words}`)].map(String)).toMatchInlineSnapshot(`
      [
        "\`web-10\`",
        "Status: off, locked",
        "Site: ASH",
        "Project: Storefront",
        "Elastic IPs: \`203.0.113.1\`, \`203.0.113.2\`, \`203.0.113.3\`, \`203.0.113.4\`, \`203.0.113.5\`, \`203.0.113.6\`, \`203.0.113.7\`, \`203.0.113.8\`, \`203.0.113.9\`, \`203.0.113.10\`, \`203.0.113.11\`, \`203.0.113.12\`, \`203.0.113.13\`, \`203.0.113.14\`, \`203.0.113.15\`, \`203.0.113.16\`, \`203.0.113.17\`, \`203.0.113.18\`, \`203.0.113.19\`, \`203.0.113.20\`, \`203.0.113.21\`, \`203.0.113.22\`",
        "Address: \`192.0.2.11\`",
        "Label: \`do not touch &lt;before&gt; the sale\`",
        "Id: \`sv_2vGfTqoYmjY5u\`",
      ]
    `)
  })

  test('has no details of a server that is gone, and fails if the account API does', async () => {
    const detailsAt = (status: number) =>
      listServers.create(
        fakeApp({
          account: { servers: { get: () => Promise.reject(new ApiError({ operation: 'servers.get', status, codes: [] })) } },
          lists: { servers: async () => [], elasticIps: async () => [] },
        }),
      ).details
    expect(await detailsAt(404)?.server?.(web1.id, origin)).toBeUndefined()
    await expect(detailsAt(500)?.server?.(web1.id, origin)).rejects.toThrow(ApiError)
  })

  test('tells servers with one name apart in the picker by project and site, and by id only if these are equal', async () => {
    const same = { ...web10, hostname: 'web-1' }
    const elsewhere = { ...same, id: 'sv_3other', project: { id: 'proj_2', name: 'Data platform', slug: 'data-platform' } }
    const { choices } = await list([], [web1, same, elsewhere, bare])
    expect(choices?.options.map((one) => [one?.text.text, one?.value])).toEqual([
      [bare.id, bare.id],
      ['web-1 (Storefront, ASH), …F9Mzju', web1.id],
      ['web-1 (Storefront, ASH), …YmjY5u', web10.id],
      ['web-1 (Data platform, ASH)', 'sv_3other'],
    ])
  })

  test('tells servers with one long name apart in the picker, too', async () => {
    const hostname = 'x'.repeat(90)
    const { choices } = await list(
      [],
      [
        { ...web1, hostname },
        { ...web10, hostname },
      ],
    )
    const texts = choices?.options.map((one) => one?.text.text ?? '') ?? []

    expect(texts[0]).toMatch(/x…, …F9Mzju$/)
    expect(new Set(texts).size).toBe(2)
  })

  test('names its sites if nothing matches', async () => {
    const { empty } = await list(['dallas'], [web1, web10])
    expect(String(empty)).toBe('None of the 2 servers match `dallas`. Use another word. Sites in this list: ASH.')
  })

  test('says that there are none', async () => {
    expect(String((await list([], [])).empty)).toBe('The account has no servers.')
  })
})
