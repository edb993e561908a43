import { describe, expect, it } from 'vitest'
import { ApiError, ApiUnreachableError } from '../../../src/domain/api-errors.ts'
import { StoreUnavailableError, UserError } from '../../../src/domain/errors.ts'
import { createApiErrorHandler } from '../../../src/ops/log/api-error-handler.ts'
import { createErrorReports } from '../../../src/ops/log/error-reports.ts'

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
  const reports = createErrorReports({ log: log as never, count: (place) => void counted.push(place) })
  return { counted, lines, fields, log: log as never, reports }
}

describe('an error', () => {
  it('is counted each time, even if the log has one line for many', () => {
    const { counted, lines, reports } = setUp()
    const report = reports.throttled('queue')
    for (let time = 0; time < 3; time += 1) report(new Error('away'))
    expect(counted).toEqual(['queue', 'queue', 'queue'])
    expect(lines).toEqual(['queue'])
  })

  it('is counted by place, with a log line for each', () => {
    const { counted, lines, reports } = setUp()
    reports.each('slack')(new Error('x'))
    reports.each('operators')(new Error('y'))
    expect(counted).toEqual(['slack', 'operators'])
    expect(lines).toEqual(['slack', 'operators'])
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
    const { lines, log } = setUp()
    const rejected: number[] = []
    let count = 0
    const onApiError = createApiErrorHandler({
      log,
      count: () => {
        count += 1
      },
      onRefusedKey: ({ status }) => void rejected.push(status),
    })
    for (const error of [new UserError('No such address.'), apiError(404), apiError(409), apiError(422), noFeature]) onApiError(error)
    expect([count, rejected]).toEqual([0, []])
    for (const error of [apiError(401), apiError(401), apiError(403), apiError(429), apiError(503), away]) onApiError(error)
    expect(count).toBe(6)
    expect(lines).toEqual(['A call to the account API failed'])
    expect(rejected).toEqual([401])
  })
})
