import { expect, test } from 'vitest'
import { isSameCreation, labelOf, parseKeyName, requesterOfKey, uniqueKeyName, writeKeyName } from '../../src/domain/account.ts'
import { callDue, namedEnds, signEnd, wholeMinute } from '../../src/domain/key-ends.ts'
import { createKeyring, Secret } from '../../src/domain/signing.ts'

const keyringOf = (...secrets: [string, ...string[]]) =>
  createKeyring(secrets.map((one) => new Secret(one)) as [Secret, ...Secret[]], { purpose: 'key-ends', prefix: 'lockkeeper' })
const keyring = keyringOf('a-key-for-tests-of-32-characters')
const team = 'T0LOCK0001'
const created = Date.parse('2026-09-25T10:00:30Z')
const end = Date.parse('2026-12-24T10:00:00Z')
const day = 24 * 3_600_000

const key = { label: 'ci-deploy', requester: 'U0ADA00001', request: '1f2e3d4c5b6a', end }
const nameBy = (by = keyring, more: Partial<typeof key> = {}) => writeKeyName(signEnd(by, { ...key, ...more }, team, created))
const listed = (name: string, seconds = 0, id = 'tok_1') => ({ id, name, createdAt: new Date(created + seconds * 1_000).toISOString() })
const isGenuine = (keys: Parameters<typeof namedEnds>[1], by = keyring, of = team) =>
  [...namedEnds(by, keys, of).values()].map((one) => one.isGenuine)

test('a name says the label, the requester, the request and the end', () => {
  const name = nameBy()
  expect(name).toMatch(/^ci-deploy \[U0ADA00001 1f2e3d4c5b6a until 2026-12-24T10:00Z [0-9a-f]{16}\]$/)
  expect(parseKeyName(name)).toMatchObject(key)
  expect([labelOf(name), requesterOfKey({ name })]).toEqual(['ci-deploy', 'U0ADA00001'])
  expect(isSameCreation(name, uniqueKeyName('ci-deploy', 'U0ADA00001', '1f2e3d4c5b6a77777777'))).toBe(true)
  expect(isSameCreation(name, uniqueKeyName('ci-deploy', 'U0BEN00001', '1f2e3d4c5b6a77777777'))).toBe(false)
})

test('an end is genuine on the key that was created within two minutes of the signed time, and on no other', () => {
  for (const seconds of [-150, -29, 0, 60, 89]) expect(isGenuine([listed(nameBy(), seconds)]), String(seconds)).toEqual([true])
  for (const seconds of [-160, 100, 3_600]) expect(isGenuine([listed(nameBy(), seconds)]), String(seconds)).toEqual([false])
  expect(isGenuine([{ id: 'tok_1', name: nameBy() }])).toEqual([false])
})

test('nobody can change a part of it, and a copy of the name makes both doubtful', () => {
  const name = nameBy()
  const changed = [name.replace('2026-12-24', '2026-12-23'), name.replace('U0ADA', 'U0BEN'), name.replace('1f2e', '1f2f')]
  for (const other of changed) expect(isGenuine([listed(other)]), other).toEqual([false])
  expect(isGenuine([listed(name)], keyring, 'T0OTHER001')).toEqual([false])
  expect(isGenuine([listed(name), listed(name, 10, 'tok_2')])).toEqual([false, false])
  // The label is not signed: people may rename a key and leave the rest.
  expect(isGenuine([listed(name.replace('ci-deploy', 'ci'))])).toEqual([true])
  expect([
    ...namedEnds(keyring, [listed('ci until 2026-12-24T10:00Z'), listed(uniqueKeyName('ci', 'U0ADA00001', 'a'.repeat(32)))], team),
  ]).toEqual([])
})

test('every key of STATE_KEY verifies, and the first one signs', () => {
  const [old, both] = [
    keyringOf('old-key-for-tests-of-32-characters'),
    keyringOf('new-key-for-tests-of-32-characters', 'old-key-for-tests-of-32-characters'),
  ]
  expect([isGenuine([listed(nameBy(old))], both), isGenuine([listed(nameBy(both))], old)]).toEqual([[true], [false]])
})

test('calls come 7 days and 1 day before, and not for ends that were nearer when the key got them', () => {
  const at = (before: number, since = created) => callDue({ end, since }, end - before)
  expect([at(8 * day), at(7 * day), at(2 * day), at(day), at(60_000), at(0)]).toEqual([undefined, '7d', '7d', '1d', '1d', undefined])
  expect([at(2 * day, end - 3 * day), at(3_600_000, end - 3 * day), at(60_000, end - day)]).toEqual([undefined, '1d', undefined])
})

test('an end is a whole minute, and never earlier than it was requested', () => {
  expect([wholeMinute(60_000), wholeMinute(60_001)]).toEqual([60_000, 120_000])
})
