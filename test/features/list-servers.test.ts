import { describe, expect, test } from 'vitest'
import { ApiError, ApiUnreachableError } from '../../src/domain/api-errors.ts'
import type { ElasticIp } from '../../src/domain/elastic-ip.ts'
import { ListCutError } from '../../src/domain/list-errors.ts'
import type { Server } from '../../src/domain/server.ts'
import { listServers } from '../../src/features/list-servers/index.ts'
import { listingOf } from './listing-of.ts'

const web1: Server = {
  id: 'sv_1WFgWmkF9Mzju',
  hostname: 'web-1',
  label: undefined,
  primaryIpv4: '192.0.2.11',
  status: 'on',
  locked: false,
  project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
  site: { id: 'loc_ash', name: 'Ashburn', slug: 'ASH' },
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
  const accountApi = { servers: { list: async () => servers }, elasticIps: { list: elasticIps } }
  return listingOf(listServers.create({ accountApi: accountApi as never }).commands[0], words)
}

describe('the list of servers', () => {
  test('shows status, project, site, addresses and label, in the order of the names', async () => {
    const { title, rows, notes } = await list([], [web10, bare, web1])

    expect([title, ...rows].map(String)).toMatchInlineSnapshot(`
      [
        "3 servers",
        "*\`sv_37rDaYrmwgNZr\`*  ·  status unknown  ·  \`sv_37rDaYrmwgNZr\`",
        "*\`web-1\`*  ·  on  ·  Storefront  ·  ASH  ·  \`192.0.2.11\`  ·  \`sv_1WFgWmkF9Mzju\`
      Elastic IPs: \`203.0.113.2\`, \`203.0.113.11\` (moving)",
        "*\`web-10\`*  ·  off, locked  ·  Storefront  ·  ASH  ·  \`192.0.2.11\`  ·  \`sv_2vGfTqoYmjY5u\`  ·  label: \`do not touch &lt;before&gt; the sale\`",
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
  ])('finds servers by %j', async (words, found) => {
    const { rows } = await list(words, [web1, web10])
    expect(rows.map(({ text }) => /`(.*?)`/.exec(text)?.[1])).toEqual(found)
  })

  test('counts the Elastic IPs of a server that it does not name', async () => {
    const many = Array.from({ length: 22 }, (_, index) => elasticIp(`203.0.113.${index + 1}`))
    const { rows } = await list([], [web1], async () => many)
    expect(String(rows[0])).toMatch(/`203\.0\.113\.10` and 12 more$/)
  })

  test('is shown without Elastic IPs if the team does not have that feature, and says so', async () => {
    const { rows, notes = [] } = await list([], [web1], async () => {
      throw new ApiError({ operation: 'elasticIps.list', status: 403, codes: ['FEATURE_NOT_ENABLED'] })
    })
    expect(String(rows[0])).not.toContain('Elastic IPs')
    expect(notes.map(String)).toMatchInlineSnapshot(`
      [
        ":warning: Couldn't read the Elastic IPs. Elastic IPs are not enabled for this team (feature flag elastic_ips). Ask the provider's support to enable them.",
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
        ":warning: Couldn't read the Elastic IPs. The account API cannot be reached just now, and nothing was changed. Try again in a minute.",
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
        ":warning: Not all Elastic IPs could be read, so a server may have more than are shown.",
      ]
    `)
  })

  test('fails for an error that nobody expects', async () => {
    const broken = list([], [web1], async () => {
      throw new TypeError('broken')
    })
    await expect(broken).rejects.toThrow('broken')
  })

  test('says that there are none', async () => {
    expect(String((await list([], [])).empty)).toBe('The account has no servers.')
  })
})
