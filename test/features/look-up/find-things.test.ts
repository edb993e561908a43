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

test('a server without addresses offers no evacuation, unless it is dead and Lockkeeper may have seen some there', () => {
  const isStuck = (status: 'on' | 'off', seenOn?: Set<string>) =>
    findThings(['db-1'], { ...lists, servers: [{ id: 'sv_9', hostname: 'db-1', status } as Server], seenOn })[0]?.isStuck
  expect(isStuck('on', new Set(['sv_9']))).toBe(true)
  expect(isStuck('off', new Set())).toBe(true)
  expect(isStuck('off', new Set(['sv_9']))).toBe(false)
  expect(isStuck('off')).toBe(false)
})
