import { expect, test } from 'vitest'
import { type ApiKey, uniqueKeyName } from '../../src/domain/account.ts'
import { AccountLimitError } from '../../src/domain/errors.ts'
import { phraseText } from '../../src/domain/text.ts'
import { chooseKey, createRevokeChange, keyChoiceModal } from '../../src/features/keys-change.ts'
import { mrkdwn } from '../../src/slack/text.ts'

const keyCalled = (name: string, id: string) => ({ id, name, tokenLastSlice: 'a1b2c' }) as ApiKey

const commandFor = (id: string) => mrkdwn`keys revoke ${id}`

test('a name that several keys have is refused with the command for each of the first ten, and the number of the others', () => {
  const keys = Array.from({ length: 12 }, (_, index) => keyCalled('ci-deploy', `tok_${index}`))

  expect(() => chooseKey(keys.slice(0, 2), 'ci-deploy', commandFor)).toThrow(
    [
      '2 API keys are called `ci-deploy`. Nothing was requested. Copy the command for the one that you mean:',
      '•  Token ends in `a1b2c` (ci-deploy): keys revoke tok_0',
      '•  Token ends in `a1b2c` (ci-deploy): keys revoke tok_1',
    ].join('\n'),
  )
  expect(() => chooseKey(keys, 'ci-deploy', commandFor)).toThrow(/^12 API keys .*keys revoke tok_9\n2 more aren't listed\.$/s)
})

test('a name is refused that a key of the account and one that Lockkeeper created have, because people see both by that name', () => {
  const keys = [keyCalled('terraform', 'tok_1'), keyCalled(uniqueKeyName('Terraform', 'U0ADA00001', 'a'.repeat(32)), 'tok_2')]

  expect(() => chooseKey(keys, 'terraform', commandFor)).toThrow(/^2 API keys are called `terraform`.* tok_1\n.* tok_2$/s)
  expect(chooseKey(keys, keys[1]?.name ?? '', commandFor)).toBe('tok_2')
  expect(chooseKey(keys, 'tok_1', commandFor)).toBe('tok_1')
})

test('the forms say when the token stops working', () => {
  const hintOf = (verb: 'rotate' | 'revoke') => JSON.stringify(keyChoiceModal(verb, { metadata: '' }))

  expect(hintOf('rotate')).toContain('After the approval, you press “Rotate key”. The old token stops working then')
  expect(hintOf('revoke')).toContain('Its token stops working as soon as the request is approved.')
})

test('the title of a key that shares its name shows the end of its token, and approvers get a warning', async () => {
  const list = [
    { ...keyCalled('grafana read', 'tok_1'), tokenLastSlice: '716c9' },
    keyCalled(uniqueKeyName('Grafana read', 'U0ADA00001', 'a'.repeat(32)), 'tok_2'),
    keyCalled('terraform', 'tok_3'),
  ]
  const { preflight, describe } = createRevokeChange({
    accountApi: { apiKeys: { list: async () => list } } as never,
    ownLastSlices: { INFRA_API_KEY: 'own' },
  })
  const shown = async (keyId: string) => {
    const { facts, warnings = [] } = await preflight({ keyId }, { signal: AbortSignal.timeout(1_000) })
    return { title: phraseText(describe(facts).title), codes: warnings.map(({ code }) => code) }
  }

  expect(await shown('tok_1')).toEqual({
    title: 'Revoke API key “grafana read” (token ends in 716c9)',
    codes: ['same-name', 'token-stops', 'key-history'],
  })
  expect((await shown('tok_2')).codes).toContain('same-name')
  expect(await shown('tok_3')).toEqual({ title: 'Revoke API key terraform', codes: ['token-stops', 'key-history'] })
})

test('a check that has to wait for the limit of the account is no check that stays open', async () => {
  const limit = new AccountLimitError({ operation: 'apiKeys.list', kind: 'read', waitMs: 40_000, perMinute: 60, answered: false })
  const { preflight } = createRevokeChange({
    accountApi: { apiKeys: { list: async () => Promise.reject(limit) } } as never,
    ownLastSlices: {},
  })

  await expect(preflight({ keyId: 'tok_1' }, { signal: AbortSignal.timeout(1_000), forRequest: true })).rejects.toBe(limit)
})
