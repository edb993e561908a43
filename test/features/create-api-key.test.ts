import { expect, test } from 'vitest'
import type { ApiKey } from '../../src/account/objects.ts'
import { uniqueKeyName } from '../../src/domain/account.ts'
import { newKeyChange } from '../../src/features/keys-create.ts'
import { fakeApp } from '../fake-app.ts'

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

test('approvers read that other keys are known by the same name, also if Lockkeeper created them', async () => {
  const called = (id: string, name: string) => ({ id, name, tokenLastSlice: id.slice(-1).repeat(5) }) as ApiKey
  const keys = [
    called('tok_1', 'Terraform'),
    called('tok_2', uniqueKeyName('terraform', 'U0BEN00001', 'd'.repeat(32))),
    called('tok_3', 'ci'),
  ]
  const { preflight, explain } = newKeyChange(fakeApp({ account: { apiKeys: { list: async () => keys } } }))
  const check = async (name: string) => {
    const input = { name: uniqueKeyName(name, 'U0ADA00001', 'e'.repeat(32)), readOnly: true, allowedIps: [] }
    const { warnings = [] } = await preflight(input, { signal: AbortSignal.timeout(1_000), forRequest: true })
    return warnings.map((warning) => explain(warning)?.why)
  }

  expect(await check('terraform')).toEqual(['2 other API keys (…11111, …22222) are already called terraform.'])
  expect(await check('ci')).toEqual(['Another API key (…33333) is already called ci.'])
  expect(await check('ci-deploy')).toEqual([])
})
