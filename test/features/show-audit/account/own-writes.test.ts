import { expect, test } from 'vitest'
import { type AuditEntry, auditVersion } from '../../../../src/audit/entry.ts'
import { isAboutWrite, ownWritesIn } from '../../../../src/features/show-audit/account/own-writes.ts'
import { itemSteps } from '../../../../src/requests/steps/items.ts'
import { isEnd, isSend, steps } from '../../../../src/requests/steps.ts'

const catalog = { changeIfKnown: () => ({ eventActions: ['update'] }) as never }
const names = [...Object.keys(steps), ...Object.keys(itemSteps)]
/** `begin` sends nothing itself. The items send the writes. */
const sending = names.filter((name) => isSend(name) && name !== 'begin')
/** The steps that end a request of which a write was sent. */
const endings = Object.keys(steps).filter((name) => isEnd(name) && isAboutWrite(entry(name), new Set(['eip_1'])))

function entry(act: string, more: Partial<AuditEntry> = {}): AuditEntry {
  const item = Object.hasOwn(itemSteps, act) ? { item: 'eip_1' } : {}
  const about = { requestId: 'r1', kind: 'ip.move', resource: 'elastic_ip:eip_1' }
  return { version: auditVersion, seq: 1, at: 1_000, act, ...about, ...item, prev: '', ...more }
}

test.each(sending)('an entry with the step %s is a write of Lockkeeper', (act) => {
  expect(ownWritesIn([entry(act)], catalog)).toMatchObject([{ targetId: 'eip_1', actions: ['update'], sentAt: 1_000 }])
})

test('the steps that send a write are known', () => {
  expect(sending).toEqual(['send', 'issue', 'send-item'])
})

test.each(endings)('the account has no event of a write that the step %s reports as not started', (act) => {
  expect(ownWritesIn([entry('send'), entry(act, { seq: 2, to: 'not-started' })], catalog)).toEqual([])
})
