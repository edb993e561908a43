import { describe, expect, it } from 'vitest'
import { ApiError, ApiUnreachableError, StoreUnavailableError, UserError } from '../../src/domain/errors.ts'
import { createApiTrouble } from '../../src/ops/api-trouble.ts'
import { createTrouble } from '../../src/ops/trouble.ts'

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
  const trouble = createTrouble({ log: log as never, count: (place) => void counted.push(place) })
  return { counted, lines, fields, log: log as never, trouble }
}

describe('what goes wrong', () => {
  it('is counted each time, where the log has one line for many', () => {
    const { counted, lines, trouble } = setUp()
    const report = trouble.often('queue')
    for (let time = 0; time < 3; time += 1) report(new Error('away'))
    expect(counted).toEqual(['queue', 'queue', 'queue'])
    expect(lines).toEqual(['queue'])
  })

  it('is counted where it was, with a line for each', () => {
    const { counted, lines, trouble } = setUp()
    trouble.each('slack')(new Error('x'))
    trouble.each('operators')(new Error('y'))
    expect(counted).toEqual(['slack', 'operators'])
    expect(lines).toEqual(['slack', 'operators'])
  })

  it('is what a person was told of, unless they were refused', () => {
    const { counted, lines, trouble } = setUp()
    for (const error of [new UserError('Not in this channel.'), apiError(404), apiError(422), noFeature])
      trouble.told(error, { at: 'command' })
    expect(counted).toEqual([])
    for (const error of [new Error('a bug'), new StoreUnavailableError('Redis'), away, apiError(401)])
      trouble.told(error, { at: 'command' })
    expect(counted).toEqual(['people', 'people', 'people', 'people'])
    expect(lines).toEqual(['refused', ...Array(7).fill('a person was told of an error')])
  })
})

describe('what Slack sent and nobody took', () => {
  it('has one line for each kind, and for each member that was missing', () => {
    const { counted, lines, fields, trouble } = setUp()
    const unreadable = [
      { kind: 'block_actions', members: ['user'] },
      { kind: 'block_actions', members: ['user'] },
      { kind: 'block_actions', members: ['actions'] },
      { kind: 'view_submission', members: ['user'] },
    ]

    for (const one of unreadable) trouble.untaken({ ...one, why: 'unreadable' })
    for (const kind of ['shortcut', 'shortcut', 'block_actions']) trouble.untaken({ kind, why: 'unheard' })

    const could = expect.stringMatching(/could not be read/)
    const handle = expect.stringMatching(/does not handle/)
    expect(lines).toEqual([could, could, could, handle, handle])
    expect(fields).toEqual([unreadable[0], unreadable[2], unreadable[3], { kind: 'shortcut' }, { kind: 'block_actions' }])
    // What nothing listens to is nothing that went wrong.
    expect(counted).toEqual(['slack', 'slack', 'slack', 'slack'])
  })

  it('is told apart by 200 kinds at most, because kinds come from outside', () => {
    const { lines, trouble } = setUp()

    for (let kind = 0; kind < 300; kind += 1) trouble.untaken({ kind: `kind_${kind}`, why: 'unheard' })

    expect(lines).toHaveLength(200)
  })
})

describe('trouble with the account API', () => {
  it('is counted each time: a rejected key, its being away, and not what it refuses of what was asked', () => {
    const { lines, log } = setUp()
    const rejected: number[] = []
    let count = 0
    const onApiError = createApiTrouble({
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
    expect(lines).toEqual(['account API'])
    expect(rejected).toEqual([401])
  })
})
