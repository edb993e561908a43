import { expect, test } from 'vitest'
import { uniqueKeyName } from '../../src/domain/account/api-key-name.ts'
import { createNewKeyChange } from '../../src/features/create-api-key/change.ts'

const { resource, moreResources } = createNewKeyChange({ apiKeys: {} as never })

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
