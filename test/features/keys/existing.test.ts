import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ApiKey } from '../../../src/account/objects.ts'
import { uniqueKeyName, writeKeyName } from '../../../src/domain/account.ts'
import { AccountLimitError, ApiUnreachableError } from '../../../src/domain/errors.ts'
import { endsProblem } from '../../../src/domain/policy.ts'
import { phraseText } from '../../../src/domain/text.ts'
import { extensionChange } from '../../../src/features/keys/extend.ts'
import { revokeChange } from '../../../src/features/keys/revoke.ts'
import { rotateChange } from '../../../src/features/keys/rotate.ts'
import { findTyped } from '../../../src/kit/thing.ts'
import { apiKeys } from '../../../src/kit/things.ts'
import { fakeApp } from '../../fake-app.ts'
import { wholeList } from '../../whole-list.ts'

const keyCalled = (name: string, id: string) => ({ id, name, tokenLastSlice: 'a1b2c' }) as ApiKey

/** An account and shared lists with these keys. */
function membersWith(keys: () => Promise<ApiKey[]>) {
  const list = async () => wholeList(await keys())
  return { account: { apiKeys: { list } }, lists: { apiKeys: list }, ownLastSlice: 'own' }
}

/** No key has an end that is recorded. */
const withoutEnds = {
  config: { signsWithApiKey: false },
  redis: { hgetall: async () => ({}) },
  keys: { keyEnds: 'ends' },
  store: { findMany: async () => [], now: async () => Date.now() },
}

const appWith = (keys: () => Promise<ApiKey[]>) => fakeApp(withoutEnds, membersWith(keys))

test('a name is that of a key of the account and of one that Lockkeeper created, because people see both by that name', async () => {
  const keys = [keyCalled('terraform', 'tok_1'), keyCalled(uniqueKeyName('Terraform', 'U0ADA00001', 'a'.repeat(32)), 'tok_2')]
  const found = async (typed: string) =>
    (
      await findTyped(
        appWith(async () => keys),
        apiKeys,
        typed,
      )
    ).map(({ id }) => id)

  expect(await found('terraform')).toEqual(['tok_1', 'tok_2'])
  expect(await found(keys[1]?.name ?? '')).toEqual(['tok_2'])
  expect(await found('tok_1')).toEqual(['tok_1'])
})

test('approvers of a key that shares its name get a warning', async () => {
  const list = [
    { ...keyCalled('grafana read', 'tok_1'), tokenLastSlice: '716c9' },
    keyCalled(uniqueKeyName('Grafana read', 'U0ADA00001', 'a'.repeat(32)), 'tok_2'),
    keyCalled('terraform', 'tok_3'),
  ]
  const { preflight, explain } = revokeChange(appWith(async () => list))
  const warned = async (keyId: string) => {
    const { warnings = [] } = await preflight({ keyId }, { signal: AbortSignal.timeout(1_000) })
    return warnings.map((warning) => explain(warning)?.why ?? '').filter((why) => why.includes('called'))
  }

  expect(await warned('tok_1')).toEqual(['Another API key (…a1b2c) is also called “grafana read”.'])
  expect(await warned('tok_2')).toEqual(['Another API key (…716c9) is also called “Grafana read”.'])
  expect(await warned('tok_3')).toEqual([])
})

test.each([
  ['revoked', revokeChange, 'Revoke API key ci (token ends in a1b2c)', 'Revoked API key ci (token ends in a1b2c). It no longer works.'],
  [
    'rotated',
    rotateChange,
    'Rotate API key ci (old token ends in a1b2c)',
    /^Rotated API key ci \(old token ends in a1b2c\)\. .*no longer works\./,
  ],
])(
  'of several keys of one name, the title and the result say which one is %s, and that the others still work',
  async (_, make, title, done) => {
    const list = [keyCalled('ci', 'tok_1'), { ...keyCalled('ci', 'tok_2'), tokenLastSlice: '716c9' }, keyCalled('terraform', 'tok_3')]
    const change = make(appWith(async () => list))
    const wordsOf = async (keyId: string) => {
      const { facts } = await change.preflight({ keyId }, { forRequest: true })
      const { title, facts: shown } = change.describe(facts)
      return { title: phraseText(title), done: phraseText(change.doneSentence(facts)), shown: JSON.stringify(shown) }
    }
    const words = await wordsOf('tok_1')
    expect(words.title).toBe(title)
    expect(words.done).toMatch(done)
    expect(words.done).toMatch(/no longer works\. Another API key \(…716c9\) is also called ci and still works\.$/)
    expect(words.shown).not.toContain('oken ends in')
    const alone = await wordsOf('tok_3')
    expect([alone.title, alone.shown]).toEqual([expect.stringMatching(/key terraform$/), expect.stringContaining('oken ends in')])
    expect(alone.done).not.toContain('Another')
  },
)

test.each([
  ['rotated', rotateChange],
  ['revoked', revokeChange],
])("Lockkeeper's own key is not %s, and neither is one that is gone", async (_, change) => {
  const own = { ...keyCalled('lockkeeper', 'tok_own'), tokenLastSlice: 'own' } as ApiKey
  const check = (keyId: string) => change(appWith(async () => [own])).preflight({ keyId }, { forRequest: true })
  await expect(check('tok_own')).rejects.toThrow('Lockkeeper uses this key')
  await expect(check('tok_gone')).rejects.toThrow('No API key')
})

describe('what the account shows of a key', () => {
  const key = { ...keyCalled('ci', 'tok_1'), readOnly: false, allowedIps: ['203.0.113.10', '198.51.100.0/24'] } as ApiKey
  const preflight = (more: Partial<ApiKey>) => {
    const change = revokeChange(appWith(async () => [{ ...key, ...more }]))
    return change.preflight({ keyId: 'tok_1' }, { forRequest: false })
  }

  test('leaves open whether it is the own one if its token is not shown', async () => {
    expect((await preflight({})).unchecked).toEqual([])
    expect((await preflight({ tokenLastSlice: undefined })).unchecked).toEqual([{ code: 'perhaps-own-key', name: 'ci' }])
  })

  test.each<[what: string, since: Partial<ApiKey>, differences: object[]]>([
    ['the token', { tokenLastSlice: 'f9f9f', name: 'cd' }, [{ code: 'token-changed' }]],
    ['the name', { name: 'cd' }, [{ code: 'key-changed', what: 'name', before: 'ci', now: 'cd' }]],
    ['the access', { readOnly: true }, [expect.objectContaining({ what: 'access' })]],
    ['the allowed addresses', { allowedIps: ['203.0.113.10'] }, [expect.objectContaining({ what: 'allowed addresses' })]],
    ['nothing: the addresses have another order', { allowedIps: ['198.51.100.0/24', '203.0.113.10'] }, []],
    ['nothing: less is shown', { tokenLastSlice: undefined, name: undefined, readOnly: undefined, allowedIps: undefined }, []],
  ])('differs since the approval by %s', async (_, since, differences) => {
    const [approved, now] = [(await preflight({})).facts, (await preflight(since)).facts]
    const change = revokeChange(fakeApp({}))
    expect(change.differences(approved, now)).toEqual(differences)
    expect(change.differences(now, approved)).toHaveLength(differences.length)
  })
})

test.each([
  ['revoked', revokeChange, 'Revoke API key ci', 'Token ends in'],
  ['rotated', rotateChange, 'Rotate API key ci', 'Old token ends in'],
])(
  'of a key that is %s while the account is away, an earlier list is shown with its age, and the write compares it',
  async (_, make, title, endsIn) => {
    const at = Date.parse('2026-11-20T10:00:00Z')
    const name = uniqueKeyName('ci', 'U0ADA00001', 'a'.repeat(32))
    const key = { ...keyCalled(name, 'tok_1'), readOnly: false, allowedIps: [], user: { email: 'ada@nimbus.works' } } as ApiKey
    const away = () => Promise.reject(new ApiUnreachableError({ operation: 'apiKeys.list', requestSent: 'no', problem: 'away' }))
    const kept = { ...wholeList([key]), readAt: at, old: { agoMs: 76_000 } }
    const change = make(
      fakeApp(withoutEnds, { account: { apiKeys: { list: away } }, lists: { apiKeys: async () => kept }, ownLastSlice: 'own' }),
    )
    const { facts, unchecked, incomplete } = await change.preflight({ keyId: 'tok_1' }, { forRequest: true })
    const { title: shown, facts: rows } = change.describe(facts)

    expect([phraseText(shown), change.subject(facts)]).toEqual([title, 'ci'])
    expect(rows).toEqual([
      { label: 'For', value: 'U0ADA00001', isPerson: true },
      { label: endsIn, value: 'a1b2c' },
      { label: 'Access', value: ['full access'] },
      { label: 'Usable from', value: ['any IP'] },
      { label: 'Owner', value: 'ada@nimbus.works' },
      { label: 'As of', value: [{ time: at }] },
    ])
    expect([incomplete, unchecked]).toEqual([true, [{ code: 'key-unread', keyId: 'tok_1', called: 'ci (…a1b2c)' }]])
    const now = async (is: Partial<ApiKey>) => {
      const read = await make(appWith(async () => [{ ...key, ...is }])).preflight({ keyId: 'tok_1' }, { forRequest: false })
      return change.differences(facts, read.facts).map(({ code }) => code)
    }
    expect([await now({}), await now({ tokenLastSlice: 'f9f9f' }), await now({ name: 'cd' })]).toEqual([
      [],
      ['token-changed'],
      ['key-changed'],
    ])
    const before = await change.preflight({ keyId: 'tok_1' }, { forRequest: false })
    expect([before.incomplete, before.facts.listed]).toEqual([true, undefined])
  },
)

test('of a key whose end Redis lost, an earlier list says so while the account is away', async () => {
  const end = Date.parse('2026-12-24T10:00:00Z')
  const name = writeKeyName({ label: 'ci', requester: 'U0ADA00001', request: 'a'.repeat(12), end })
  const away = () => Promise.reject(new ApiUnreachableError({ operation: 'apiKeys.list', requestSent: 'no', problem: 'away' }))
  const kept = { ...wholeList([keyCalled(name, 'tok_1')]), old: { agoMs: 76_000 } }
  const app = fakeApp(withoutEnds, { account: { apiKeys: { list: away } }, lists: { apiKeys: async () => kept }, ownLastSlice: 'own' })
  const endsAt = Math.ceil(Date.now() / 60_000) * 60_000 + 86_400_000
  const checked = extensionChange(app).preflight({ keyId: 'tok_1', endsAt }, { forRequest: true })
  await expect(checked).rejects.toThrow("Redis lost the record of this key's end")
})

test('a check that has to wait for the limit of the account is no check that stays open', async () => {
  const limit = new AccountLimitError({ operation: 'apiKeys.list', kind: 'read', waitMs: 40_000, perMinute: 60, answered: false })
  const { preflight } = revokeChange(appWith(async () => Promise.reject(limit)))

  await expect(preflight({ keyId: 'tok_1' }, { signal: AbortSignal.timeout(1_000), forRequest: true })).rejects.toBe(limit)
})

test('the time for which a rotation keeps the old key begins when its button is pressed, however late, and never outlasts its own end', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-20T10:00:00Z') })
  onTestFinished(() => void vi.useRealTimers())
  const hour = 3_600_000
  const check = async (name: string, forRequest: boolean) => {
    const app = fakeApp({
      ...membersWith(async () => [{ ...keyCalled(name, 'tok_1'), readOnly: false, allowedIps: [] } as ApiKey]),
      config: { signsWithApiKey: false },
      redis: { hgetall: async () => ({}) },
      keys: { keyEnds: 'ends' },
      store: { now: async () => Date.now(), findMany: async () => [] },
    })
    const change = rotateChange(app)
    const { facts } = await change.preflight({ keyId: 'tok_1', oldEndsAt: { afterMs: hour }, newKey: ' [U0ADA00001 b]' }, { forRequest })
    return [phraseText(change.describe(facts).title), phraseText(change.doneSentence(facts)).replace(/.*The old/, 'The old')]
  }
  const name = uniqueKeyName('ci', 'U0ADA00001', 'a'.repeat(32))
  expect(await check(name, true)).toEqual(['Rotate API key ci, keeping the old one for 1\u00a0h', expect.anything()])
  vi.setSystemTime(Date.now() + 3 * hour)
  expect(await check(name, false)).toEqual([
    'Rotate API key ci, keeping the old one until 2026-11-20 14:00 UTC',
    'The old key works until 2026-11-20 14:00 UTC.',
  ])
  const ending = name.replace(']', ' until 2026-11-20T13:30Z]')
  expect((await check(ending, true))[0]).toMatch(/until 2026-11-20 13:30 UTC$/)
})

test('the end of a new key beside the old one is unread without a list, and then that of the old one, or never', async () => {
  const soon = Math.ceil(Date.now() / 60_000) * 60_000 + 24 * 3_600_000
  const name = uniqueKeyName('ci', 'U0ADA00001', 'a'.repeat(32))
  const endOf = async (list: () => Promise<ApiKey[]>) => {
    const app = fakeApp({
      ...membersWith(list),
      config: { signsWithApiKey: false },
      redis: { hgetall: async () => ({}) },
      keys: { keyEnds: 'ends' },
      store: { findMany: async () => [] },
    })
    const change = rotateChange(app)
    const { facts, input } = await change.preflight(
      { keyId: 'tok_1', oldEndsAt: soon, newKey: ' [U0ADA00001 bbbbbbbbbbbb]' },
      { forRequest: true },
    )
    const end = change.endOf?.(input ?? { keyId: 'tok_1' }, facts)
    return [end, end && endsProblem({ ends: { required: true } }, end, Date.now())]
  }
  const key = { ...keyCalled(name, 'tok_1'), readOnly: false, allowedIps: [] } as ApiKey
  const away = new ApiUnreachableError({ operation: 'apiKeys.list', requestSent: 'unknown', problem: 'ECONNRESET' })
  expect(await endOf(() => Promise.reject(away))).toEqual(['unread', 'end-unread'])
  expect(await endOf(async () => [key])).toEqual([{ endsAt: undefined }, 'end-required'])
  const long = { ...key, name: `${'x'.repeat(61)}${name.slice(2)}` }
  await expect(endOf(async () => [long])).rejects.toThrow('may have 60 characters before the bracket, and this one has more.')
  // Redis lost its end, and the name still says it.
  const ending = { ...key, name: name.replace(']', ` until ${new Date(soon).toISOString().slice(0, 16)}Z]`) }
  expect(await endOf(async () => [ending])).toEqual([{ endsAt: soon }, undefined])
})
