import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiKeyResponse } from '../../src/account/objects.ts'
import type { Preflight } from '../../src/domain/change.ts'
import { UserError } from '../../src/domain/errors.ts'
import type { KeyFacts } from '../../src/features/keys/existing.ts'
import { revocationFindings, revokeChange } from '../../src/features/keys/revoke.ts'
import { rotateChange } from '../../src/features/keys/rotate.ts'
import { fakeApp } from '../fake-app.ts'
import { accountOf } from './account.ts'
import { apiKeys } from './documented.ts'
import { answersOf, apiKeyWords, patience, runs, type Wire } from './generate.ts'
import { shown } from './visible.ts'

const aKey = answersOf(ApiKeyResponse, apiKeyWords) as fc.Arbitrary<Wire>
const someKeys = fc.uniqueArray(aKey, { selector: ({ id }) => id, maxLength: 4 })
const documented = apiKeys.map(({ wire }, index): Wire => ({ ...(wire as Wire), id: `tok_documented${index}` }))
const ownLastSlice = '2daaa'
const changes = { rotate: rotateChange, revoke: revokeChange }

type Outcome = { refused: string } | { passed: Preflight<KeyFacts> }

async function preflight(
  create: typeof rotateChange | typeof revokeChange,
  all: Wire[],
  keyId: string,
  unavailable: string[] = [],
): Promise<Outcome> {
  const change = create(
    fakeApp({
      account: accountOf({ apiKeys: all, unavailable }),
      ownLastSlice: ownLastSlice,
    }),
  )
  try {
    return { passed: await change.preflight({ keyId }, {}) }
  } catch (error) {
    if (error instanceof UserError) return { refused: error.message }
    throw error
  }
}

describe('the preflight check of a rotation and a revocation', patience, () => {
  const check = async (create: typeof rotateChange | typeof revokeChange, all: Wire[], keyId: string) => {
    const key = all.find(({ id }) => id === keyId)
    const lastSlice = shown(key, 'attributes', 'token_last_slice')
    const outcome = await preflight(create, all, keyId)

    expect('refused' in outcome).toBe(key === undefined || lastSlice === ownLastSlice)
    if ('refused' in outcome) return
    expect(outcome.passed.unchecked).toHaveLength(lastSlice === undefined ? 1 : 0)
    expect(outcome.passed.incomplete).toBe(false)
  }

  test.each(Object.entries(changes))('%s refuses only a missing key and the key that Lockkeeper itself uses', async (_, create) => {
    for (const { id } of [...documented, { id: 'tok_gone' }]) await check(create, documented, String(id))
    const keyId = fc.constantFrom('tok_57jvG72qDZNTv', 'tok_6VE1Wd37dXnZJ', 'tok_gone')
    await fc.assert(
      fc.asyncProperty(someKeys, keyId, (all, id) => check(create, all, id)),
      runs,
    )
  })
})

/** Returns the members that both reads of a key show and that differ. The order of the allowed addresses does not matter. */
function visibleChanges(then: Wire, now: Wire): string[] {
  const texts = ['token_last_slice', 'name'].filter((member) => {
    const [before, today] = [then, now].map((key) => shown(key, 'attributes', member))
    return before !== undefined && today !== undefined && before !== today
  })
  const [before, today] = [then, now].map(({ attributes }) => attributes as Wire) as [Wire, Wire]
  const readOnly = typeof before.read_only === 'boolean' && typeof today.read_only === 'boolean' && before.read_only !== today.read_only
  const origins = [before, today].map(({ allowed_ips: listed }) =>
    listed === undefined ? undefined : JSON.stringify(((listed ?? []) as unknown[]).map((entry) => JSON.stringify(entry)).toSorted()),
  )
  const originsDiffer = origins[0] !== undefined && origins[1] !== undefined && origins[0] !== origins[1]
  return [...texts, ...(readOnly ? ['read_only'] : []), ...(originsDiffer ? ['allowed_ips'] : [])]
}

describe('what has changed since the approval of a rotation or a revocation', patience, () => {
  const differences = async (then: Wire, now: Wire): Promise<string[] | undefined> => {
    const [approved, latest] = await Promise.all([then, now].map((key) => preflight(revokeChange, [key], String(key.id))))
    if (!approved || !latest || !('passed' in approved && 'passed' in latest)) return undefined
    return revokeChange(fakeApp({}))
      .differences(approved.passed.facts, latest.passed.facts)
      .map((finding) => revocationFindings.explain(finding)?.why ?? '')
  }

  const addresses = fc.constantFrom<unknown[]>('203.0.113.10', '198.51.100.0/24', '2001:db8::/32', { cidr: '192.0.2.0/24' })
  const origins = fc.option(fc.oneof(fc.uniqueArray(addresses, { maxLength: 3 }), fc.constant(undefined)), { nil: null, freq: 5 })
  const aKeyFrom = fc.tuple(aKey, origins).map(([key, listed]): Wire => {
    const { allowed_ips: _, ...attributes } = key.attributes as Wire
    return { ...key, id: 'tok_57jvG72qDZNTv', attributes: listed === undefined ? attributes : { ...attributes, allowed_ips: listed } }
  })

  test('is reported exactly if both reads show a member and it differs', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(aKeyFrom, aKeyFrom, async (then, now) => {
        const reported = await differences(then, now)
        fc.pre(reported !== undefined)
        const visible = visibleChanges(then, now)
        expect({ reported: reported.length > 0, visible }).toEqual({ reported: visible.length > 0, visible })
        for (const member of visible) seen.add(member)
      }),
      { numRuns: runs.numRuns * 2 },
    )
    expect(seen).toEqual(new Set(['token_last_slice', 'name', 'read_only', 'allowed_ips']))
  })
})
