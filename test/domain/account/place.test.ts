import { describe, expect, test } from 'vitest'
import { type Site, sameProject, sameSite } from '../../../src/domain/account.ts'
import { ashburn, billing, frankfurt, ids, storefront } from '../account-objects.ts'

const unknown = undefined

function site(id?: string, slug?: string, name?: string): Site {
  return { id, slug, name }
}

describe('whether the target of a move is in the same site', () => {
  test.each<[string, boolean | undefined, Parameters<typeof sameSite>[0]]>([
    [
      'ids and names differ between kinds of objects, and the slugs are equal',
      true,
      { location: ashburn.onElasticIps, assigned: ashburn.onServers, target: ashburn.onServers },
    ],
    ['slugs agree in other letters', true, { location: site('site_sao', 'sao'), assigned: unknown, target: site('loc_1', 'SAO') }],
    [
      'the two servers have the same site, and the address shows another one',
      true,
      { location: site('site_sao', 'SAO'), assigned: site('loc_ZnPRbajK0koM1', 'SAO2'), target: site('loc_ZnPRbajK0koM1', 'SAO2') },
    ],
    ['two servers without slugs have one id', true, { location: unknown, assigned: site('loc_1'), target: site('loc_1') }],
    [
      'the two servers have different sites',
      false,
      { location: ashburn.onElasticIps, assigned: ashburn.onServers, target: frankfurt.onServers },
    ],
    [
      'the address is in another site, and shows no server',
      false,
      { location: ashburn.onElasticIps, assigned: unknown, target: frankfurt.onServers },
    ],
    ['two servers without slugs have different ids', false, { location: unknown, assigned: site('loc_1'), target: site('loc_2') }],
    ['equal ids of different kinds mean nothing', unknown, { location: site('loc_1'), assigned: unknown, target: site('loc_1') }],
    ['different ids of different kinds mean nothing', unknown, { location: site('site_1'), assigned: unknown, target: site('loc_1') }],
    [
      'the names of the address and the server are not compared',
      unknown,
      { location: site(unknown, unknown, 'Ashburn'), assigned: unknown, target: site('loc_1', unknown, 'Ashburn') },
    ],
    [
      'the names of two servers are not compared',
      unknown,
      { location: unknown, assigned: site(unknown, unknown, 'A'), target: site(unknown, unknown, 'B') },
    ],
    [
      'two servers have the same slug and different ids',
      unknown,
      { location: unknown, assigned: site('loc_1', 'ASH'), target: site('loc_2', 'ASH') },
    ],
    ['the target shows no site', unknown, { location: ashburn.onElasticIps, assigned: ashburn.onServers, target: unknown }],
    ['only the target shows a site', unknown, { location: unknown, assigned: unknown, target: ashburn.onServers }],
  ])('%s: %s', (_, same, sites) => {
    expect(sameSite(sites)).toBe(same)
  })
})

describe('whether two objects are in the same project', () => {
  test.each([
    ['one id', true, storefront, { id: ids.storefront }],
    ['different ids', false, storefront, billing],
    ['different ids without slugs', false, { id: ids.storefront }, { id: ids.billing }],
    ['different ids with one slug', unknown, storefront, { id: ids.billing, slug: 'Storefront' }],
    ['not shown by one of them', unknown, storefront, undefined],
  ] as const)('%s: %s', (_, same, a, b) => {
    expect(sameProject(a, b)).toBe(same)
    expect(sameProject(b, a)).toBe(same)
  })
})
