import { describe, expect, test } from 'vitest'
import type { Request } from '../../../src/domain/request/request.ts'
import { createNoteOnEarlier } from '../../../src/requests/reconcile/note-on-earlier.ts'
import { requestFor } from '../request-for-test.ts'

const earlier = requestFor({ id: 'a'.repeat(32), state: 'done' })
const undoes = { id: earlier.id, channelId: earlier.origin.channelId, cardTs: earlier.cardTs ?? '' }
const back = requestFor({ id: 'b'.repeat(32), state: 'done', undoes, cardTs: '1795010500.000100' })

const items = (...states: ('done' | 'failed')[]) => states.map((state, index) => ({ id: `eip_${index}`, state, causes: [] }))

interface World {
  undone?: Request | undefined
  changed?: string
  outcome?: 'won' | 'changed' | 'lost'
}

/** Notes that `request` has undone another one. Returns the answer, the steps, and the requests that were shown. */
async function note(request: Request, { undone = earlier, changed, outcome = 'won' }: World = {}) {
  const taken: unknown[] = []
  const shown: string[] = []
  const noteOnEarlier = createNoteOnEarlier({
    store: {
      find: async (id) => (id === undone?.id ? undone : undefined),
      take: async (to, name, { set } = {}, token) => {
        taken.push([to.id, name, set?.undoneBy ?? set?.retriedBy, token])
        return { outcome, state: to.state as never }
      },
    },
    checkRecord: ({ id }) => (id === changed ? { code: 'record-changed' } : undefined),
    show: async (id) => void shown.push(id),
  })
  return { answer: await noteOnEarlier(request), taken, shown }
}

describe('a request that undid another one', () => {
  test('is noted on that one, whose message is shown again', async () => {
    const by = { id: back.id, channelId: back.origin.channelId, cardTs: '1795010500.000100', isWhole: true }
    expect(await note(back)).toEqual({
      answer: 'settled',
      taken: [[earlier.id, 'note-undone', by, back.id]],
      shown: [earlier.id],
    })
  })

  test('is noted as a part if some of what was done is left', async () => {
    const undone = { ...earlier, state: 'failed' as const, items: items('done', 'done', 'failed') }
    const wholeOf = async (...states: ('done' | 'failed')[]) =>
      (await note({ ...back, items: items(...states) }, { undone })).taken.map((step) => (step as [0, 0, { isWhole: boolean }])[2].isWhole)

    expect(await wholeOf('done', 'failed')).toEqual([false])
    expect(await wholeOf('done', 'done')).toEqual([true])
  })

  test('is noted once', async () => {
    const undone = { ...earlier, undoneBy: { ...undoes, id: back.id, isWhole: true } }
    expect(await note(back, { undone })).toEqual({ answer: 'settled', taken: [], shown: [] })
  })

  test('is noted again later if the other one took a step at the same moment', async () => {
    expect(await note(back, { outcome: 'changed' })).toMatchObject({ answer: 'again', shown: [] })
  })

  test.each<[string, Request, World]>([
    ['it undoes none', { ...back, undoes: undefined }, {}],
    ['it did not change anything', { ...back, state: 'failed' }, {}],
    ['the other one is gone', back, { undone: { ...earlier, id: 'other' } }],
    ['its record was changed', back, { changed: back.id }],
    ["the other one's record was changed", back, { changed: earlier.id }],
  ])('is not noted if %s', async (_, request, world) => {
    expect(await note(request, world)).toEqual({ answer: 'settled', taken: [], shown: [] })
  })
})

describe('a request that retried the rest of another one', () => {
  const partly = { ...earlier, state: 'failed' as const, items: items('done', 'failed', 'failed') }
  const retry = (...states: ('done' | 'failed')[]): Request => ({
    ...back,
    undoes: undefined,
    repeats: undoes,
    state: states.includes('failed') ? 'failed' : 'done',
    items: items('done', ...states).slice(1),
  })

  test('is noted on that one, as a whole or as a part', async () => {
    const noted = async (...states: ('done' | 'failed')[]) => (await note(retry(...states), { undone: partly })).taken

    expect(await noted('done', 'done')).toMatchObject([[earlier.id, 'note-retried', { id: back.id, isWhole: true }, back.id]])
    expect(await noted('done', 'failed')).toMatchObject([[earlier.id, 'note-retried', { isWhole: false }, back.id]])
    expect(await noted('failed', 'failed')).toEqual([])
  })

  test('is not noted on one that left no rest', async () => {
    expect((await note(retry('done', 'done'), { undone: { ...earlier, state: 'rejected' } })).taken).toEqual([])
  })
})
