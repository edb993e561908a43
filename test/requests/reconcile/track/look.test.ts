import { describe, expect, test } from 'vitest'
import { createLook, lookEveryMs } from '../../../../src/requests/reconcile/track/look.ts'
import type { Tracked } from '../../../../src/requests/reconcile/track/observe-each.ts'

const now = 1_000_000

/** Starts looks at moves whose list shows `listed`. `budget` is what is left of the requests. */
function startLooks({ budget = 60, isAnswered = true }: { budget?: number; isAnswered?: boolean } = {}) {
  const account = { listed: new Set<string>(), isListAnswered: true }
  const counts = { lists: 0, left: budget }
  const read: string[][] = []
  const postponed: string[][] = []
  async function survey({ firstPageOnly }: { firstPageOnly?: boolean }): Promise<Set<string>> {
    expect(firstPageOnly).toBe(true)
    counts.lists += 1
    if (!account.isListAnswered) throw new Error('the account API does not answer')
    return account.listed
  }
  const { look } = createLook({
    now: async () => now,
    budget: {
      spend: async (wanted) => {
        const granted = Math.min(wanted, counts.left)
        counts.left -= granted
        return granted
      },
    },
    pace: { paceMs: () => 500, postpone: async (requests) => void postponed.push(requests.map(({ id }) => id)) },
    observeEach: async (requests) => {
      read.push(requests.map(({ id }) => id))
      return requests.map(() => (isAnswered ? 'read' : 'unread'))
    },
    pollIntervalMs: 5_000,
    lateAfterMs: 900_000,
    onApiError: () => {},
  })

  function move(id: string, { sentMsAgo = 10_000, ...rest }: Partial<Tracked> & { sentMsAgo?: number } = {}): Tracked {
    const surveyed = { survey, surveyKeys: [id] }
    return {
      id,
      kind: 'ip.move',
      state: 'tracking',
      createdAt: 0,
      sentAt: now - sentMsAgo,
      lateAt: undefined,
      trackedUntil: undefined,
      surveyed,
      ...rest,
    }
  }
  return { look, move, account, counts, read, postponed }
}

describe('a look between two ticks', () => {
  test('at a move alone reads that move, and costs one request', async () => {
    const { look, move, read, counts } = startLooks()

    expect(await look([move('a')])).toBe(1_000)

    expect(read).toEqual([['a']])
    expect(counts).toEqual({ lists: 0, left: 59 })
  })

  test('at several moves reads the first page of their list, and costs one request', async () => {
    const { look, move, account, read, counts, postponed } = startLooks()
    account.listed = new Set(['a', 'b', 'c'])

    expect(await look([move('a'), move('b'), move('c')])).toBe(1_000)

    expect(read.flat()).toEqual([])
    expect(postponed).toEqual([['a', 'b', 'c']])
    expect(counts).toEqual({ lists: 1, left: 59 })
  })

  test('reads a move that the list no longer shows, also when the budget is spent', async () => {
    const { look, move, account, read, counts } = startLooks({ budget: 2 })
    account.listed = new Set(['a', 'b', 'c'])
    const moves = [move('a'), move('b'), move('c')]
    await look(moves)
    account.listed = new Set(['a'])

    await look(moves)

    expect(read.flat()).toEqual(['b', 'c'])
    expect(counts.left).toBe(0)
  })

  test('reads a move that the list has never shown only as the budget allows', async () => {
    const { look, move, read, counts, postponed } = startLooks({ budget: 2 })

    await look([move('a'), move('b'), move('c')])

    expect(read).toEqual([['a']])
    expect(postponed).toEqual([['b', 'c']])
    expect(counts.left).toBe(0)
  })

  test('does nothing and plans no other when the budget is spent', async () => {
    const { look, move, read, counts } = startLooks({ budget: 0 })

    expect(await look([move('a')])).toBeUndefined()

    expect(read).toEqual([])
    expect(counts.lists).toBe(0)
  })

  test('plans no other when the account API does not answer, and reads nothing else', async () => {
    const { look, move, account, read } = startLooks()
    account.isListAnswered = false

    expect(await look([move('a'), move('b')])).toBeUndefined()

    expect(read).toEqual([])
  })

  test('plans no other when a move could not be read', async () => {
    const { look, move } = startLooks({ isAnswered: false })

    expect(await look([move('a')])).toBeUndefined()
  })

  test.each<[string, Parameters<ReturnType<typeof startLooks>['move']>[1]]>([
    ['that was sent two minutes ago', { sentMsAgo: 120_000 }],
    ['that is late', { lateAt: now - 1 }],
    ['whose answer is unknown', { state: 'starting' }],
    ['of a kind without a survey, whose observation may delete something', { surveyed: undefined }],
  ])('leaves a change %s to the ticks', async (_, differences) => {
    const { look, move, read, counts } = startLooks()

    expect(await look([move('a', differences)])).toBeUndefined()

    expect(read).toEqual([])
    expect(counts.left).toBe(60)
  })
})

test.each([
  [0, undefined],
  [1, 1_000],
  [5, 1_000],
  [6, 2_000],
  [20, 2_000],
  [21, 3_000],
  [100, 3_000],
  [101, undefined],
])('the more moves are under way, the fewer looks there are: %i moves', (count, everyMs) => {
  expect(lookEveryMs(count, 5_000)).toBe(everyMs)
})

test('nothing is looked at between ticks that are as frequent', () => {
  expect(lookEveryMs(1, 1_000)).toBeUndefined()
  expect(lookEveryMs(30, 2_500)).toBeUndefined()
})
