import { describe, expect, test, vi } from 'vitest'
import type { AuditNote } from '../../src/audit/chain.ts'
import { reportInWords } from '../../src/bolt/errors.ts'
import { requestButtons } from '../../src/buttons/request-buttons.ts'
import { StoreUnavailableError } from '../../src/domain/errors.ts'
import { inLane } from '../../src/domain/lane.ts'
import type { Request } from '../../src/domain/request.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { buttonValue, cardButtons, rejectCallbackId } from '../../src/messages/button-ids.ts'
import type { NewRequest, Store } from '../../src/record/store.ts'
import { toUserMessage } from '../../src/slack/errors.ts'
import type { Click, Submission } from '../../src/slack/interactions.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import type { Mrkdwn } from '../../src/slack/text.ts'
import { startJobs } from '../given/jobs.ts'
import { newRequestFor, recordRequest } from '../given/request.ts'
import { signatures, signedBy } from '../given/signatures.ts'

const ben = { ...newRequestFor().origin, userId: 'U0BEN00001' }

/** The buttons of cards over a real Redis, for a bot whose only kind of change is the move. Ben may approve everything. */
function startButtons(broken: Partial<Store> = {}) {
  const jobs = startJobs([moveChange({} as never)], { rule: { changes: ['ip.move', 'dns.update'] } })
  const { store, redis, keys, said: effects } = jobs
  const noted: AuditNote[] = []
  const quiet: number[] = []
  const app = jobs.appWith({
    store: { ...store, ...broken },
    audit: { noteOnce: async (note, quietMs) => void (noted.push(note) + quiet.push(quietMs)) },
    queues: { wake: async () => void effects.push('wakes') },
    lines: { write: () => true },
    errors: { of: () => (error) => expect.fail(String(error)), shownToPerson: () => {} },
  })
  const buttons = requestButtons(app, async () => expect.fail('the Home tab was shown'))

  const subjects: string[] = []
  const about = (subject: Mrkdwn) => void subjects.push(subject.text)

  function approve(request: Request): Promise<unknown> {
    const handler = buttons.clicks[cardButtons.approve]
    if (typeof handler !== 'function') throw new Error('Approve opens a form')
    const answer = { elsewhere: () => void effects.push('shown on the card'), about } as Partial<Click['answer']>
    return handler({ actionId: cardButtons.approve, value: buttonValue(request), origin: ben, onHome: false, answer } as Click)
  }

  /** As a listener of Slack does it. Resolves with what Ben reads. */
  const refuseApprove = (request: Request) =>
    inLane('person', () => approve(request).catch((error) => reportInWords(app, error, { at: 'click request-approve', origin: ben })))

  function submitReject(request: Request): Promise<unknown> | undefined {
    const metadata = writeMetadata({ origin: ben, button: buttonValue(request) })
    const submission = { callbackId: rejectCallbackId, origin: ben, answer: { about }, metadata, values: { reason: 'Not today' } }
    return buttons.submissions[rejectCallbackId]?.(submission as unknown as Submission)
  }

  const recordOf = ({ id }: Request) => redis.hgetall(keys.record(id))
  const setField = ({ id }: Request, name: string, value: string) => redis.hset(keys.record(id), name, value)
  const record = (more: Partial<NewRequest> = {}) => recordRequest(store, signedBy(signatures, newRequestFor(more)))
  return { record, approve, refuseApprove, submitReject, recordOf, setField, store, noted, quiet, effects, subjects }
}

describe('a click on Approve while Redis is away', () => {
  const away = () => Promise.reject(new StoreUnavailableError('Redis: Error Connection is closed.'))

  test.each<[string, Partial<Store>, RegExp]>([
    [
      'says that it did not count, if it certainly was not stored',
      { now: away },
      /^Not approved: Redis isn't responding\. Try again in a minute\.$/,
    ],
    ['says that nothing runs twice, if it may be stored', { take: away }, /^Lockkeeper's database .* nothing runs twice\.$/],
  ])('%s', async (_, broken, words) => {
    const { record, approve } = startButtons(broken)
    const error = await approve(await record()).catch((thrown: unknown) => thrown)
    expect(toUserMessage(error)).toMatch(words)
  })
})

describe('a click on a request that another version of Lockkeeper wrote', () => {
  const otherVersion = 'Another version of Lockkeeper made this, so nothing was changed. Try again in a few minutes.'

  test.each([
    ['kind', { kind: 'dns.update' as const }],
    ['content', { facts: { weather: 'rain' } }],
  ])('changes nothing and says so if its %s is unknown', async (_, unknown) => {
    const { record, approve, recordOf, noted, effects } = startButtons()
    const request = await record(unknown)
    const before = await recordOf(request)

    await expect(approve(request)).rejects.toThrow(otherVersion)

    expect(await recordOf(request)).toEqual(before)
    expect(effects).toEqual([])
    expect(noted).toMatchObject([{ act: 'refused', by: ben.userId, attempted: 'request-approve', causes: [{ code: 'other-version' }] }])
  })

  test('changes nothing and says so if its state is unknown, also with a form', async () => {
    const { record, approve, submitReject, recordOf, setField, effects } = startButtons()
    const request = await record()
    await setField(request, 'state', '"waiting-for-weather"')
    const before = await recordOf(request)

    await expect(approve(request)).rejects.toThrow(otherVersion)
    await expect(submitReject(request)).rejects.toThrow(otherVersion)

    expect(await recordOf(request)).toEqual(before)
    expect(effects).toEqual([])
  })

  test('is reported to the operators instead if the record is not what was requested', async () => {
    const { record, approve, setField, noted, effects, subjects } = startButtons()
    const request = await record()
    await setField(request, 'kind', '"dns.update"')

    await expect(approve(request)).rejects.toThrow('was changed, so nothing was done')

    // Nothing of a record is shown that somebody may have changed.
    expect(subjects).toEqual([`*Unverified request ${request.id.slice(0, 8)}*`])
    expect(effects).toEqual(['distrust record-changed'])
    expect(noted).toMatchObject([{ causes: [{ code: 'record-changed' }] }])
  })
})

describe('a refused click on Approve is in the audit once', () => {
  const changed = [{ act: 'refused', by: ben.userId, attempted: 'request-approve', causes: [{ code: 'record-changed' }] }]

  test('if somebody changed the record before it was read', async () => {
    const { record, refuseApprove, setField, noted } = startButtons()
    const request = await record()
    await setField(request, 'facts', '{}')
    expect(await refuseApprove(request)).toMatchObject({ text: expect.stringContaining('was changed, so nothing was done') })
    expect(noted).toMatchObject(changed)
  })

  test('if somebody changed the record after it was read, which the operators learn', async () => {
    const take = vi.fn<Store['take']>()
    const { record, refuseApprove, setField, noted, effects } = startButtons({ take })
    const request = await record()
    take.mockImplementation(async () => {
      await setField(request, 'facts', '{"weather":"rain"}')
      return { outcome: 'changed', state: 'waiting' }
    })
    expect(await refuseApprove(request)).toMatchObject({ text: expect.stringContaining('was changed, so nothing was done') })
    expect(noted).toMatchObject(changed)
    expect(effects).toEqual(['distrust record-changed'])
  })

  test('for ten minutes on an open request, and while its record is kept on an ended one', async () => {
    const { record, refuseApprove, store, noted, quiet } = startButtons()
    const approved = await record()
    await store.take(approved, 'approve')
    const ended = await record({ resource: 'elastic_ip:eip_2' })
    await store.take(ended, 'expire')
    for (const request of [approved, ended]) await refuseApprove(request)
    expect(noted.map(({ requestId }) => requestId)).toEqual([approved.id, ended.id])
    expect(quiet).toEqual([10 * 60_000, 30 * 24 * 3_600_000])
  })
})
