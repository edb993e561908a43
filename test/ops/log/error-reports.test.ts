import { afterEach, beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { ApiError, ApiUnreachableError, StoreUnavailableError, UserError } from '../../../src/domain/errors.ts'
import { inLane, noteRequest } from '../../../src/domain/lane.ts'
import { createApiErrorHandler, createErrorReports, createRepeatedLines } from '../../../src/ops/log.ts'

const apiError = (status: number, ...codes: string[]) => new ApiError({ operation: 'elasticIps.list', status, codes })
const noFeature = apiError(403, 'FEATURE_NOT_ENABLED')
const away = new ApiUnreachableError({ operation: 'elasticIps.list', requestSent: 'no', problem: 'ECONNREFUSED' })

function setUp() {
  const counted: string[] = []
  const lines: unknown[] = []
  const fields: unknown[] = []
  const line = (about: unknown, text?: unknown) => {
    fields.push(about)
    lines.push(text)
  }
  const log = { info: line, warn: line, error: line }
  const repeated = createRepeatedLines(log)
  onTestFinished(repeated.flush)
  const reports = createErrorReports({ log, lines: repeated, count: (place) => void counted.push(place) })
  return { counted, lines, fields, repeated, reports }
}

describe('an error', () => {
  it('is counted each time, even if the log has one line for many', () => {
    const { counted, lines, reports } = setUp()
    const report = reports.of('queue')
    for (let time = 0; time < 3; time += 1) report(new Error('away'))
    expect(counted).toEqual(['queue', 'queue', 'queue'])
    expect(lines).toEqual(['The queue of jobs failed. A tick does the work instead'])
  })

  it('is counted by place, with a log line for each', () => {
    const { counted, fields, reports } = setUp()
    const same = new Error('x')
    reports.of('slack')(same)
    reports.of('operators')(same)
    expect(counted).toEqual(['slack', 'operators'])
    expect(fields).toEqual([
      { code: 'slack-listener-failed', error: same },
      { code: 'operators-not-notified', error: same },
    ])
  })

  it('names the request that the work was for', () => {
    const { fields, reports } = setUp()
    const named = { requestId: 'r1' }
    reports.of('jobs')(new Error('away'), 'r1')
    inLane('execute', () => inLane('retract', () => reports.of('people')(new Error('away'))), named)
    inLane('person', () => {
      noteRequest('r1')
      reports.shownToPerson(new Error('away'), { at: 'request-approve' })
      reports.shownToPerson(new UserError('Not in this channel.'), { at: 'request-approve' })
    })
    expect(fields).toMatchObject([named, named, named, named])
  })

  it('that was shown to a person is counted, unless it is a refusal', () => {
    const { counted, lines, reports } = setUp()
    for (const error of [new UserError('Not in this channel.'), apiError(404), apiError(422), noFeature])
      reports.shownToPerson(error, { at: 'command' })
    expect(counted).toEqual([])
    for (const error of [new Error('a bug'), new StoreUnavailableError('Redis'), away, apiError(401)])
      reports.shownToPerson(error, { at: 'command' })
    expect(counted).toEqual(['people', 'people', 'people', 'people'])
    expect(lines).toEqual(['refused', ...Array(7).fill('An error was shown to a person')])
  })
})

describe('while Redis is away', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** What the connections, BullMQ and the store throw in one outage. */
  const errors = [
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6379'), { code: 'ECONNREFUSED' }),
    new Error('Connection is closed.'),
    new Error("Socket timeout. Expecting data, but didn't receive any in 15000ms."),
    new StoreUnavailableError('Redis: Error Command timed out'),
    new Error('LOADING Redis is loading the dataset in memory'),
  ]

  test('the log has one line at the start, one a minute, and one when it is over, with the number of all and the time of the last', () => {
    const { counted, fields, reports } = setUp()
    const startedAt = Date.now()
    const after = (ms: number) => new Date(startedAt + ms).toISOString()
    const report = reports.of('jobs')

    for (let second = 0; second < 100; second += 1) {
      for (const error of errors) report(error)
      vi.advanceTimersByTime(1_000)
    }
    vi.advanceTimersByTime(180_000)

    expect(fields).toEqual([
      { code: 'job-failed', error: errors[0] },
      { code: 'job-failed', error: errors.at(-1), repeats: 299, lastAt: after(59_000) },
      { code: 'job-failed', error: errors.at(-1), repeats: 499, lastAt: after(99_000) },
      { code: 'job-failed', repeats: 499, afterMs: 99_000 },
    ])
    expect(counted).toHaveLength(500)
  })

  test('an error of another kind has its own line', () => {
    const { fields, reports } = setUp()
    const defect = new TypeError("Cannot read properties of undefined (reading 'id')")
    const rejected = new StoreUnavailableError('Redis: ReplyError NOPERM', 'NOPERM')

    for (const error of [...errors, defect, rejected, ...errors, defect]) reports.of('jobs')(error)

    expect(fields).toEqual([errors[0], defect, rejected].map((error) => ({ code: 'job-failed', error })))
  })

  test('the same error about another request is a repeat', () => {
    const { fields, reports } = setUp()

    for (const id of ['0529d210-1111-4222-8333-444455556666', 'b7e2d210-1111-4222-8333-444455556666'])
      reports.of('jobs')(new Error(`could not renew lock for job ${id}`))

    expect(fields).toHaveLength(1)
  })
})

describe('an unhandled Slack payload', () => {
  it('is logged once for each kind and missing member', () => {
    const { counted, lines, fields, reports } = setUp()
    const unreadable = [
      { kind: 'block_actions', members: ['user'] },
      { kind: 'block_actions', members: ['user'] },
      { kind: 'block_actions', members: ['actions'] },
      { kind: 'view_submission', members: ['user'] },
    ]

    for (const one of unreadable) reports.unhandled({ ...one, why: 'unreadable' })
    for (const kind of ['shortcut', 'shortcut', 'block_actions']) reports.unhandled({ kind, why: 'no-listener' })

    const could = expect.stringMatching(/could not be read/)
    const handle = expect.stringMatching(/does not handle/)
    expect(lines).toEqual([could, could, could, handle, handle])
    const code = { code: 'payload-unreadable' }
    expect(fields).toEqual([
      { ...code, ...unreadable[0] },
      { ...code, ...unreadable[2] },
      { ...code, ...unreadable[3] },
      { code: 'payload-not-handled', kind: 'shortcut' },
      { code: 'payload-not-handled', kind: 'block_actions' },
    ])
    // A kind without a listener is not counted as an error.
    expect(counted).toEqual(['slack', 'slack', 'slack', 'slack'])
  })

  it('is logged for at most 200 kinds, because kinds come from outside', () => {
    const { lines, reports } = setUp()

    for (let kind = 0; kind < 300; kind += 1) reports.unhandled({ kind: `kind_${kind}`, why: 'no-listener' })

    expect(lines).toHaveLength(200)
  })
})

describe('an error of the account API', () => {
  it('is counted each time, for a rejected key or an outage, but not for a refusal', () => {
    const { fields, repeated } = setUp()
    const rejected: number[] = []
    let count = 0
    const onApiError = createApiErrorHandler({
      lines: repeated,
      count: () => {
        count += 1
      },
      onRefusedKey: ({ status }) => void rejected.push(status),
    })
    const unasked = [new UserError('No such address.'), new StoreUnavailableError('Redis')]
    for (const error of [...unasked, apiError(404), apiError(409), apiError(422), noFeature]) onApiError(error)
    expect([count, rejected]).toEqual([0, []])
    for (const error of [apiError(401), apiError(401), apiError(403), apiError(429), apiError(503), away]) onApiError(error)
    expect(count).toBe(6)
    expect(fields).toHaveLength(9)
    expect(rejected).toEqual([401, 403])
  })
})
