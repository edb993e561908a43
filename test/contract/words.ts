import fc from 'fast-check'
import type { Words } from './generate.ts'

/** Mostly generates one of a few values, so that two objects often have equal ones, and sometimes an unusual value. */
function oneOf(usual: string[], unusual: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: unusual })
}

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', ' ', '<!channel>', 'x'.repeat(300)))

/** Ids in other forms than the vendor's, because ids are opaque. The last ones are ids of other objects, or contain them. */
const otherIds = fc.oneof(
  fc.uuid(),
  fc.nat().map(String),
  fc.constantFrom('web-1', 'SAO', 'no server', 'x'.repeat(80), 'sv_vKm8ZaLzG5R2n on sv_W3mVpQ0xNd7Lk', 'eip_KeQbB4BoO6x10 on no server'),
)

/** Addresses that are announced by BGP have ids with `ueip_`. The second id differs from the first in the case of one letter. */
export const elasticIpIds = ['eip_KeQbB4BoO6x10', 'eip_KeqbB4BoO6x10', 'ueip_v9BVDaGvdRm1W']
export const serverIds = ['sv_vKm8ZaLzG5R2n', 'sv_W3mVpQ0xNd7Lk', 'sv_w3mVpQ0xNd7Lk', 'sv_bT90rYxPqJ6Uh']
export const projectIds = ['proj_6059EqYkOQj8p', 'proj_6059EqYkOQj8p', 'proj_R82A9jVb5Lq0d']

/** Both kinds of objects have the same ids and names, so that neither an equal nor a different one proves anything. */
const siteIds = ['loc_87vRENkgNdPyk', 'loc_ZnPRbajK0koM1', 'site_sao', 'site_ash']

const shared: Record<string, fc.Arbitrary<string>> = {
  'project.id': oneOf(projectIds, fc.oneof(otherIds, fc.constant(''))),
  'project.name': oneOf(['Storefront', 'Billing'], text),
  'project.slug': oneOf(['storefront', 'billing', 'Storefront'], fc.constantFrom('', 'invoices')),
  hostname: oneOf(['web-1', 'web-2', 'db-1'], fc.constantFrom('', 'WEB-1', 'web-1.example.net', '203.0.113.10')),
  'site.id': oneOf(siteIds, fc.oneof(otherIds, fc.constant(''))),
  'site.name': oneOf(['São Paulo', 'São Paulo 74', 'Ashburn'], text),
  'site.slug': oneOf(['SAO', 'SAO', 'sao', 'SAO2', 'ASH'], fc.constantFrom('', 'FRA96')),
}

/** Chooses values by the end of a member's place. Of several known ends the longest counts. Other members get any text. */
function words(known: Record<string, fc.Arbitrary<string>>): Words {
  return (place) => {
    const end = Object.keys(known)
      .filter((key) => place === key || place.endsWith(`.${key}`))
      .toSorted((a, b) => b.length - a.length)[0]
    return (end === undefined ? undefined : known[end]) ?? text
  }
}

/** Documented statuses, an older one (`provisioning`), and some undocumented ones. */
export const elasticIpStatus = fc.oneof(
  { weight: 6, arbitrary: fc.constant('active') },
  { weight: 3, arbitrary: fc.constant('moving') },
  { weight: 3, arbitrary: fc.constantFrom('pending', 'configuring', 'releasing', 'error', 'provisioning') },
  { weight: 1, arbitrary: fc.constantFrom('frozen', 'ACTIVE', 'Moving', 'active ', 'unknown', '') },
)

export const elasticIpWords = words({
  ...shared,
  id: oneOf(elasticIpIds, otherIds),
  address: oneOf(['203.0.113.10', '203.0.113.10/32', '203.0.113.99', '2001:DB8::a', '2001:db8::A/128'], fc.constant('')),
  status: elasticIpStatus,
  mode: oneOf(['routed', 'routed', 'routed', 'routed', 'bgp'], fc.constantFrom('BGP', '', 'anycast')),
  'server.id': oneOf(serverIds, fc.oneof(otherIds, fc.constant(''))),
  'location.id': oneOf(siteIds, fc.oneof(otherIds, fc.constant(''))),
  'location.name': oneOf(['São Paulo', 'Ashburn'], text),
  'location.slug': oneOf(['SAO', 'SAO', 'sao', 'SAO2', 'ASH'], fc.constantFrom('', 'FRA96')),
})

export const serverWords = words({
  ...shared,
  id: oneOf(serverIds, otherIds),
  status: oneOf(['on', 'off', 'unknown', 'deploying', 'disk_erasing', 'rescue_mode', 'starting_deploy'], text),
  primary_ipv4: oneOf(['198.51.100.22', '198.51.100.21'], text),
})

export const virtualMachineWords = words({
  ...shared,
  id: oneOf(['vm_19o9skue5y1L0', 'vm_7vYAZqGBdMQ94'], otherIds),
  name: oneOf(['search-1', 'search-2', 'SEARCH-2'], fc.oneof(fc.constant(''), text)),
  status: oneOf(['Running', 'Starting', 'Stopped', 'Failed', 'Configuring network'], text),
  site: oneOf(['ASH', 'DAL'], text),
})

export const apiKeyWords = words({
  id: oneOf(['tok_57jvG72qDZNTv', 'tok_6VE1Wd37dXnZJ'], otherIds),
  name: oneOf(['deploy', 'ci'], fc.oneof(fc.constant(''), text)),
  token_last_slice: oneOf(['0ff1c', '2daaa', 'aBcDe'], fc.constantFrom('', '00000')),
  token: fc.constant('d00dfeedd00dfeedd00dfeedd00dfeed0ff1c'.slice(1)),
  last_used_at: oneOf(['2025-10-18T03:22:51.570Z'], text),
})

export const baselineWords = words({ id: oneOf(['bl_2KlNltRYMQQ5l'], otherIds) })
export const planWords = words({ id: oneOf(['plan_jv6m5J18NLPeE'], otherIds) })
export const eventWords = words({ id: oneOf(['evt_1FCY1WgOpwoIk'], otherIds) })
