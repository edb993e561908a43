import { describe, expect, test } from 'vitest'
import type { ApiKey } from '../../src/account/objects.ts'
import { apiKeyListing } from '../../src/features/keys.ts'

const unknown = { tokenLastSlice: undefined, readOnly: undefined, createdAt: undefined, updatedAt: undefined }

test('a name with line breaks adds no line to the list of API keys', () => {
  const name = 'x\n:large_green_circle: *Done.* API key prod was revoked, and no longer works.'
  const user = { id: 'user_1', email: 'eve@example.com\u2028:key: *prod*' }
  const key = { ...unknown, id: 'tok_9ZXm2eMd1nvsF', name, allowedIps: [], lastUsedAt: undefined, user }

  const { rows } = apiKeyListing([key], [], { now: 0, ownLastSlices: { INFRA_API_KEY: '2daaa' } })

  expect(rows[0]?.text.split('\n').map((line) => line.slice(0, 40))).toMatchInlineSnapshot(`
    [
      ":warning: *x :large_green_circle: *Done.",
      "access unknown  ·  from any IP  ·  last ",
      "Needs attention: never used",
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

  const { rows } = apiKeyListing([key], [], { now: 0, ownLastSlices: { INFRA_API_KEY: '2daaa' } })

  expect(rows[0]?.text).toContain('full access  ·  allowed addresses unknown')
  expect(rows[0]?.text).not.toMatch(/anywhere|everywhere/)
})

describe('the remarks on a key', () => {
  const minute = 60_000
  const day = 24 * 60 * minute
  const now = Date.parse('2026-11-20T12:00:00Z')
  const madeAgo = (ms: number, more: Partial<ApiKey> = {}): ApiKey => ({
    ...unknown,
    id: 'tok_9ZXm2eMd1nvsF',
    name: 'ci',
    readOnly: true,
    allowedIps: ['203.0.113.7'],
    createdAt: new Date(now - ms).toISOString(),
    lastUsedAt: undefined,
    user: undefined,
    ...more,
  })
  const listed = (key: ApiKey, words: string[] = []) =>
    apiKeyListing([key], words, { now, ownLastSlices: { INFRA_API_KEY: '2daaa' } })
      .rows.map(({ text }) => text)
      .join('\n')

  test('say nothing about a key that was rotated within a day, although the account shows no use of it', () => {
    const rotated = madeAgo(400 * day, { updatedAt: new Date(now - 5 * minute).toISOString() })
    const text = listed(rotated)

    expect(text).toContain('last used: no use shown')
    expect(text).not.toContain('never used')
    expect(listed(madeAgo(400 * day, { updatedAt: new Date(now - 2 * day).toISOString() }))).toContain('never used')
  })

  test('stand next to the name, where a phone shows them, and *For* is there only if a key is for somebody', () => {
    const headersOf = (key: ApiKey) => apiKeyListing([key], [], { now, ownLastSlices: { INFRA_API_KEY: '2daaa' } }).table?.headers

    expect(headersOf(madeAgo(day))?.slice(0, 3)).toEqual(['Name', 'Needs attention', 'Token ends in'])
    expect(headersOf(madeAgo(day, { name: 'ci [U0ADA00001 0123456789ab]' }))?.slice(0, 3)).toEqual(['Name', 'Needs attention', 'For'])
  })

  test('do not call a key never used that is minutes old', () => {
    expect(listed(madeAgo(5 * minute))).not.toContain('never used')
    expect(listed(madeAgo(day - minute))).not.toContain('never used')
    expect(listed(madeAgo(day))).toContain('Needs attention: never used')
    expect(listed(madeAgo(0, { createdAt: undefined }))).toContain('never used')
  })

  test('do not call the key unused that Lockkeeper itself uses, and say whose it is', () => {
    const own = { tokenLastSlice: '2daaa' }
    const stale = new Date(now - 200 * day).toISOString()

    expect(listed(madeAgo(30 * day, own))).toContain('last used: now, by Lockkeeper')
    expect(listed(madeAgo(30 * day, own))).not.toMatch(/never used|not used yet/)
    expect(listed(madeAgo(300 * day, { ...own, lastUsedAt: stale }))).not.toContain('unused')
    expect(listed(madeAgo(300 * day, { lastUsedAt: stale }))).toContain('unused for 200 days')
    expect(listed(madeAgo(30 * day, own), ['lockkeeper'])).toContain('2daaa')
  })

  test('still name other risks of the key that Lockkeeper itself uses', () => {
    const own = madeAgo(800 * day, { tokenLastSlice: '2daaa', readOnly: false, allowedIps: [] })
    expect(listed(own)).toContain('Needs attention: 2 years old, full access from any IP')
  })
})
