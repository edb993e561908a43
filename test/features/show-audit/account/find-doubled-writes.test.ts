import { expect, test } from 'vitest'
import type { AuditEntry } from '../../../../src/audit/entry.ts'
import type { FoundEntry } from '../../../../src/audit/find-entries.ts'
import type { AccountEvent } from '../../../../src/domain/account/account-event.ts'
import { createFindDoubledWrites } from '../../../../src/features/show-audit/account/find-doubled-writes.ts'

const minutes = 60_000
/** 18 November 2026, 14:00 UTC. */
const now = Date.UTC(2026, 10, 18, 14)
const bot = { id: 'user_bot', name: 'bot', email: undefined }
const catalog = { changeIfKnown: () => ({ eventActions: ['update'] }) as never }

/** The entries of a move that was sent so long ago. */
function entriesOf(
  requestId: string,
  agoMs: number,
  { resource = 'elastic_ip:eip_1', item }: { resource?: string; item?: string } = {},
): FoundEntry[] {
  const steps = item ? ['send-item', 'accept-item', 'finish-item'] : ['send', 'accept', 'finish']
  return steps.map((act, index) => {
    const entry: AuditEntry = {
      version: 1,
      seq: now - agoMs + index,
      at: now - agoMs + index,
      act,
      requestId,
      kind: 'ip.move',
      resource,
      prev: '',
      ...(item ? { item } : {}),
    }
    return { ...entry, verdict: 'genuine' }
  })
}

function event(id: string, agoMs: number, more: Partial<AccountEvent> = {}): AccountEvent {
  const createdAt = new Date(now - agoMs).toISOString()
  return { id, action: 'update.elastic_ip', target: { id: 'eip_1', name: undefined }, author: bot, createdAt, ...more }
}

function startComparing(entries: FoundEntry[], events: AccountEvent[]) {
  const doubled: string[] = []
  const reads: string[][] = []
  const clock = { now }
  const run = createFindDoubledWrites({
    audit: { find: async (fits) => ({ entries: entries.filter(fits), searched: 0, unreadable: 0, since: 0, all: false }) },
    accountEvents: {
      readEvents: async (resources) => {
        reads.push(resources.map(({ targetId }) => targetId))
        return {
          events: events.filter(({ target }) => resources.some(({ targetId }) => targetId === target?.id)),
          read: resources,
          full: [],
          unread: [],
        }
      },
    },
    catalog,
    now: async () => clock.now,
    onDoubled: (requestId) => void doubled.push(requestId),
  })
  return { run, doubled, reads, clock }
}

test.each([
  ['two events of Lockkeeper’s user', [event('a', 10 * minutes), event('b', 10 * minutes - 900)], ['r1']],
  ['one event', [event('a', 10 * minutes)], []],
  ['no event', [], []],
  ['a second event of another person', [event('a', 10 * minutes), event('b', 10 * minutes, { author: { ...bot, id: 'user_ada' } })], []],
  ['a second event without an author', [event('a', 10 * minutes), event('b', 10 * minutes, { author: undefined })], []],
  ['a second event with another action', [event('a', 10 * minutes), event('b', 10 * minutes, { action: 'update.elastic_ip_tags' })], []],
  ['a second event much later', [event('a', 10 * minutes), event('b', 4 * minutes)], []],
])('a write counts as doubled if the account shows it twice: %s', async (_, events, expected) => {
  const { run, doubled } = startComparing(entriesOf('r1', 10 * minutes), events)
  await run()
  expect(doubled).toEqual(expected)
})

test('two writes with an event each are not doubled', async () => {
  const entries = [...entriesOf('r1', 10 * minutes), ...entriesOf('r2', 9 * minutes)]
  const { run, doubled } = startComparing(entries, [event('a', 10 * minutes), event('b', 9 * minutes)])
  await run()
  expect(doubled).toEqual([])
})

test('a write of an item of an evacuation is compared, too', async () => {
  const { run, doubled } = startComparing(entriesOf('r1', 10 * minutes, { item: 'eip_1' }), [
    event('a', 10 * minutes),
    event('b', 10 * minutes),
  ])
  await run()
  expect(doubled).toEqual(['r1'])
})

test('a write is compared once, after its events had time to appear', async () => {
  const { run, doubled, reads, clock } = startComparing(entriesOf('r1', minutes), [event('a', minutes), event('b', minutes)])

  await run()
  expect(reads).toEqual([])

  clock.now += 5 * minutes
  await run()
  await run()

  expect(reads).toEqual([['eip_1']])
  expect(doubled).toEqual(['r1'])
})

test('at most ten resources are read at once, and the others by the next runs', async () => {
  const entries = Array.from({ length: 25 }, (_, index) =>
    entriesOf(`r${index}`, 10 * minutes, { resource: `elastic_ip:eip_${index}` }),
  ).flat()
  const { run, reads } = startComparing(entries, [])
  for (let turn = 0; turn < 4; turn += 1) await run()
  expect(reads.map((read) => read.length)).toEqual([10, 10, 5])
})
