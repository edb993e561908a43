import { expect, test } from 'vitest'
import { apiKeyListing } from '../../src/features/list-api-keys/messages.ts'

const unknown = { tokenLastSlice: undefined, apiVersion: undefined, readOnly: undefined, createdAt: undefined, updatedAt: undefined }

test('a name with line breaks adds no line to the list of API keys', () => {
  const name = 'x\n:large_green_circle: *Done.* API key prod was revoked, and no longer works.'
  const user = { id: 'user_1', email: 'eve@example.com\u2028:key: *prod*' }
  const key = { ...unknown, id: 'tok_9ZXm2eMd1nvsF', name, allowedIps: [], lastUsedAt: undefined, user }

  const { rows } = apiKeyListing([key], [], 0)

  expect(rows[0]?.text.split('\n').map((line) => line.slice(0, 40))).toMatchInlineSnapshot(`
    [
      ":warning: *x :large_green_circle: *Done.",
      "access not told, from anywhere  ·  not u",
      "_Worth a look: never used._",
    ]
  `)
})

test('a key with unknown allowed addresses is not listed as usable from anywhere', () => {
  const key = {
    ...unknown,
    id: 'tok_9ZXm2eMd1nvsF',
    name: 'ci',
    readOnly: false,
    allowedIps: undefined,
    lastUsedAt: undefined,
    user: undefined,
  }

  const { rows } = apiKeyListing([key], [], 0)

  expect(rows[0]?.text).toContain('full access, from where is not told')
  expect(rows[0]?.text).not.toMatch(/anywhere|everywhere/)
})
