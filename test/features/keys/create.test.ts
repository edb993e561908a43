import { expect, test } from 'vitest'
import type { ApiKey } from '../../../src/account/objects.ts'
import { uniqueKeyName } from '../../../src/domain/account.ts'
import { newKeyChange, parseAllowedAddresses } from '../../../src/features/keys/create.ts'
import { fakeApp } from '../../fake-app.ts'
import { wholeList } from '../../whole-list.ts'

const { resource, moreResources } = newKeyChange(fakeApp({}))

/** What a request for a key of this name holds until it ends. */
function heldBy(name: string): string[] {
  const key = { name, readOnly: true, allowedIps: [] }
  return [resource(key), ...(moreResources?.(key, key) ?? [])]
}

test('two open requests never create two keys of one name, because people could not distinguish them', () => {
  const [first, second] = [
    heldBy(uniqueKeyName('ci-deploy', 'U0ADA00001', 'a'.repeat(32))),
    heldBy(uniqueKeyName('CI-Deploy', 'U0BEN00001', 'b'.repeat(32))),
  ]

  expect(first.filter((held) => second.includes(held))).toHaveLength(1)
  expect(heldBy(uniqueKeyName('terraform', 'U0ADA00001', 'c'.repeat(32))).filter((held) => first.includes(held))).toEqual([])
})

test('approvers read that other keys are known by the same name, also if Lockkeeper created them, and that a key never ends', async () => {
  const called = (id: string, name: string) => ({ id, name, tokenLastSlice: id.slice(-1).repeat(5) }) as ApiKey
  const keys = [
    called('tok_1', 'Terraform'),
    called('tok_2', uniqueKeyName('terraform', 'U0BEN00001', 'd'.repeat(32))),
    called('tok_3', 'ci'),
  ]
  const { preflight, explain } = newKeyChange(
    fakeApp({ config: { signsWithApiKey: false }, account: { apiKeys: { list: async () => wholeList(keys) } } }),
  )
  const checkOf = async (name: string, endsAt?: { afterMs: number }) => {
    const input = { name: uniqueKeyName(name, 'U0ADA00001', 'e'.repeat(32)), readOnly: true, allowedIps: [], endsAt }
    const { warnings = [] } = await preflight(input, { signal: AbortSignal.timeout(1_000), forRequest: true })
    return warnings.map((warning) => explain(warning)?.why)
  }
  const check = (name: string) => checkOf(name, { afterMs: 60_000 })

  expect(await check('terraform')).toEqual(['2 other API keys (…11111, …22222) are also called terraform.'])
  expect(await check('ci')).toEqual(['Another API key (…33333) is also called ci.'])
  expect(await check('ci-deploy')).toEqual([])
  expect(await checkOf('ci-deploy')).toEqual(['The key never ends.'])
})

test.each(['203.0.113.7', '203.0.113.0/24', '10.0.0.0/8', '2001:db8::1', '2001:db8::/32', '2001::/16'])(
  '%s is an address or a range',
  (text) => {
    expect(parseAllowedAddresses(text)).toEqual({ addresses: [text], wrong: [] })
  },
)

// Two halves of all addresses would not be shown as any address.
test.each([
  '0.0.0.0/0',
  '::/0',
  '0.0.0.0/1',
  '128.0.0.0/1',
  '::/1',
  '8000::/1',
  '203.0.113.0/33',
  '2001:db8::/129',
  '203.0.113.0/024',
  '203.0.113.0/',
  '203.0.113.0/24/24',
  'web-1',
])('%s is none', (text) => {
  expect(parseAllowedAddresses(text)).toEqual({ addresses: [], wrong: [text] })
})
