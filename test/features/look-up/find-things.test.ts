import { describe, expect, test } from 'vitest'
import type { ElasticIp, Server, VirtualMachine } from '../../../src/account/objects.ts'
import { findThings } from '../../../src/features/look-up.ts'

const lists = {
  elasticIps: [
    { id: 'eip_1', address: '203.0.113.10' },
    { id: 'eip_2', address: '2001:db8:40:1::/64' },
  ] as ElasticIp[],
  servers: [
    { id: 'sv_1', hostname: 'web-1', primaryIpv4: '198.51.100.21' },
    { id: 'sv_2', hostname: 'bastion-1' },
    { id: 'sv_3', hostname: 'bastion-1' },
  ] as Server[],
  virtualMachines: [{ id: 'vm_1', name: 'Preview-1', primaryIpv4: '192.0.2.110' }] as VirtualMachine[],
  hasElasticIps: true,
}
const idsOf = (words: string[]) => findThings(words, lists).map(({ id }) => id)

describe('a message', () => {
  test('names things by address, hostname, name and id, in the order of its words', () => {
    expect(idsOf(['sv_1', 'and', '203.0.113.10', '192.0.2.110'])).toEqual(['sv_1', 'eip_1', 'vm_1'])
    expect(idsOf(['2001:DB8:40:1::', 'WEB-1', 'preview-1'])).toEqual(['eip_2', 'sv_1', 'vm_1'])
    expect(idsOf(['*203.0.113.10*', 'web\u2010\u200b1', 'preview-1.'])).toEqual(['eip_1', 'sv_1', 'vm_1'])
  })

  test('names every server of a hostname, and each thing once', () => {
    expect(idsOf(['bastion-1'])).toEqual(['sv_2', 'sv_3'])
    expect(idsOf(['web-1', '198.51.100.21', 'sv_1'])).toEqual(['sv_1'])
  })

  test.each([
    ['a part of a hostname', 'web'],
    ['a longer hostname', 'web-1.example.com'],
    ['a longer address', '203.0.113.100'],
    ['a look-alike', 'wеb-1'],
    ['an id in other letters', 'SV_1'],
    ['an id that is not on the account', 'sv_9'],
    ['a member that every object has', 'constructor'],
  ])('does not name a thing by %s', (_, word) => {
    expect(idsOf([word])).toEqual([])
  })
})

const seen = (serverId: string, address = '203.0.113.11', agoMs = 60_000) => ({
  elasticIpId: `eip_${address}`,
  address,
  serverId,
  serverName: 'db-1',
  at: 0,
  agoMs,
})

describe('a server without addresses', () => {
  const findServer = (status: 'on' | 'off', seenAssignments?: ReturnType<typeof seen>[]) =>
    findThings(['db-1'], { ...lists, servers: [{ id: 'sv_9', hostname: 'db-1', status } as Server], seen: seenAssignments })[0]

  test('offers no evacuation, unless it is dead and Lockkeeper may have seen some there', () => {
    expect(findServer('on', [seen('sv_9')])?.isStuck).toBe(true)
    expect(findServer('off', [])?.isStuck).toBe(true)
    expect(findServer('off', [seen('sv_1')])?.isStuck).toBe(true)
    expect(findServer('off', [seen('sv_9')])?.isStuck).toBe(false)
    expect(findServer('off')?.isStuck).toBe(false)
  })

  test('names those that Lockkeeper saw there if it is dead, because the account shows none of its addresses then', () => {
    const line = (...of: Parameters<typeof findServer>) =>
      findServer(...of)
        ?.line.text.split('\n')[1]
        ?.replaceAll('\u00a0', ' ')
    expect(line('on', [seen('sv_9')])).toBe('No Elastic IPs')
    expect(line('off', [])).toBe('No Elastic IPs shown')
    expect(line('off', [seen('sv_1'), seen('sv_9'), seen('sv_9', '203.0.113.12', 660_000)])).toBe(
      'No Elastic IPs shown. Seen here 1 min to 11 min ago: `203.0.113.11`, `203.0.113.12`',
    )
  })
})

test('an address that the account shows on no server names the one on which Lockkeeper saw it', () => {
  const line = (seenAssignments?: ReturnType<typeof seen>[]) =>
    findThings(['203.0.113.10'], { ...lists, seen: seenAssignments })[0]
      ?.line.text.split('\n')[1]
      ?.replaceAll('\u00a0', ' ')
  expect(line([{ ...seen('sv_9'), elasticIpId: 'eip_1' }])).toBe("On no server, or its server isn't active. Seen on db-1 1 min ago")
  expect(line([seen('sv_9')])).toBe("On no server, or its server isn't active")
  expect(line()).toBe("On no server, or its server isn't active")
})
