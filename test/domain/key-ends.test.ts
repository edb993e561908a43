import { expect, test } from 'vitest'
import { isSameCreation, labelOf, parseKeyName, requesterOfKey, uniqueKeyName, writeKeyName } from '../../src/domain/account.ts'
import { callDue, wholeMinute } from '../../src/domain/key-ends.ts'

const created = Date.parse('2026-09-25T10:00:30Z')
const end = Date.parse('2026-12-24T10:00:00Z')
const day = 24 * 3_600_000
const key = { label: 'ci-deploy', requester: 'U0ADA00001', request: '1f2e3d4c5b6a', end }

test('a name says the label, the requester, the request and the end', () => {
  const name = writeKeyName(key)
  expect(name).toBe('ci-deploy [U0ADA00001 1f2e3d4c5b6a until 2026-12-24T10:00Z]')
  expect(parseKeyName(name)).toEqual(key)
  expect([labelOf(name), requesterOfKey({ name })]).toEqual(['ci-deploy', 'U0ADA00001'])
  expect(isSameCreation(name, uniqueKeyName('ci-deploy', 'U0ADA00001', '1f2e3d4c5b6a77777777'))).toBe(true)
  expect(isSameCreation(name, uniqueKeyName('ci-deploy', 'U0BEN00001', '1f2e3d4c5b6a77777777'))).toBe(false)
})

test('calls come 7 days and 1 day before, and not for ends that were nearer when the key got them, or in the hour after that', () => {
  const at = (before: number, since = created) => callDue({ end, since }, end - before)
  expect([at(8 * day), at(7 * day), at(2 * day), at(day), at(60_000), at(0)]).toEqual([undefined, '7d', '7d', '1d', '1d', undefined])
  expect([at(2 * day, end - 3 * day), at(3_600_000, end - 3 * day), at(60_000, end - day)]).toEqual([undefined, '1d', undefined])
  // Of a key for 7 days, whose end is a whole minute.
  expect([at(7 * day - 60_000, end - 7 * day - 30_000), at(day, end - 7 * day - 30_000)]).toEqual([undefined, '1d'])
})

test('an end is a whole minute, and never earlier than it was requested', () => {
  expect([wholeMinute(60_000), wholeMinute(60_001)]).toEqual([60_000, 120_000])
})
