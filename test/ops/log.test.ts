import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { type Logger, LogLevel } from '@slack/bolt'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { AccountLimitError, ApiError, ApiUnreachableError, StoreUnavailableError, UserError } from '../../src/domain/errors.ts'
import { inLane, noteRequest } from '../../src/domain/lane.ts'
import { Secret } from '../../src/domain/signing.ts'
import { createAuditLog, createErrorReports, createLog, createRepeatedLines, slackLogger } from '../../src/ops/log.ts'

const password = 'correct-horse-battery'
const token = 'lk_9f2c1b7e4d'

function logInto(level: 'trace' | 'info' = 'trace') {
  const lines: string[] = []
  const log = createLog({ level, destination: { write: (line) => void lines.push(line) } })
  const entries = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log, lines, entries }
}

// Errors as the libraries throw them, each with a secret.

const ioredisError = () =>
  Object.assign(new Error('WRONGPASS invalid username-password pair or user is disabled.'), {
    name: 'ReplyError',
    command: { name: 'hello', args: ['3', 'AUTH', 'default', password] },
  })
const unknownCommandError = () => new Error(`ERR unknown command 'SETT', with args beginning with: 'key' '${token}'`)
const slackPlatformError = () =>
  Object.assign(new Error('An API error occurred: not_in_channel'), {
    code: 'slack_webapi_platform_error',
    data: { ok: false, error: 'not_in_channel', echo: token },
  })
const slackHtmlError = () =>
  Object.assign(new Error(`An API error occurred: <html>${token}</html>`), {
    code: 'slack_webapi_platform_error',
    data: { error: `<html>${token}</html>` },
  })
const httpError = () =>
  Object.assign(new Error('A request error occurred'), {
    code: 'slack_webapi_http_error',
    body: token,
    headers: { authorization: token },
    config: { token },
  })
const parseError = () => {
  try {
    return JSON.parse(token) as Error
  } catch (error) {
    return error as Error
  }
}

describe('the log', () => {
  test('is text on a terminal, without emoji codes, and with a stack only if an error ended the process', () => {
    const shown: string[] = []
    const log = createLog({ level: 'info', isTerminal: true, destination: { write: (line) => void shown.push(line) } })
    const error = new TypeError('broken')

    log.info({ role: 'all', opsPort: 9090 }, 'Lockkeeper is starting')
    log.warn({ code: 'api-key-rejected' }, ':warning: The key is rejected.')
    log.error({ code: 'job-failed', error }, 'Work failed')
    log.fatal({ code: 'defect', error }, 'A defect ended the process')

    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colors of a terminal
    const plain = shown.map((line) => line.replace(/\u001b\[\d+m/g, '').replace(/^\[\S+\] /, ''))
    expect(plain.slice(0, 3).join('')).toMatchInlineSnapshot(`
      "INFO: Lockkeeper is starting {"role":"all","opsPort":9090}
      WARN: The key is rejected. {"code":"api-key-rejected","fix":"Give the key the right, or set another INFRA_API_KEY and restart all processes."}
      ERROR: Work failed: TypeError: broken {"code":"job-failed","fix":"Look at error. NOPERM: correct the Redis user (docs/redis.md)."}
      "
    `)
    expect(plain[3]).toMatch(/^FATAL: A defect ended the process: TypeError: broken\n\s+at /)
  })

  test('prints no command for a terminal that is in the words of an error', () => {
    const shown: string[] = []
    const log = createLog({ level: 'info', isTerminal: true, destination: { write: (line) => void shown.push(line) } })

    log.error({ code: 'job-failed', error: new TypeError('a\u001b]0;title\u0007b\u009b2Jc\u202ed\nINFO: e') }, 'Work\u001b[2J failed')

    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colors of a terminal
    const plain = shown.join('').replace(/\u001b\[\d+m/g, '')
    expect(plain).toMatch(/ERROR: Work\[2J failed: TypeError: a\]0;titleb2Jcd INFO: e [^\n]*\n$/)
    expect(plain.trimEnd()).toMatch(/^[\x20-\x7e]*$/)
  })

  it.each([
    ['a failed Redis login', ioredisError],
    ['an unknown Redis command', unknownCommandError],
    ['an error from Slack', slackPlatformError],
    ['an answer from Slack that is not JSON', slackHtmlError],
    ['a failed request', httpError],
    ['an answer that is not JSON', parseError],
    ['the cause of another error', () => new Error('outer', { cause: ioredisError() })],
  ])('describes %s without what was sent or received, however it is passed', (_, make) => {
    const { log, lines } = logInto()
    const error = make()

    log.error({ code: 'job-failed', error }, 'failed')
    log.error({ code: 'job-failed', ...{ err: error, list: [error], nested: { error } } }, 'failed')
    slackLogger(log, createRepeatedLines(log)).error('failed', error, { body: token })

    expect(lines).toHaveLength(3)
    expect(lines.join('')).not.toContain(password)
    expect(lines.join('')).not.toContain(token)
  })

  it('writes the safe fields of Lockkeeper’s own errors, without the stack and the account API’s message', () => {
    const { log, entries } = logInto()

    log.warn(
      {
        code: 'account-api-error',
        error: new ApiError({ operation: 'elasticIps.move', status: 422, codes: ['SITE_MISMATCH'], detail: token }),
      },
      'account API',
    )

    expect(entries()[0]?.error).toMatchInlineSnapshot(`
      {
        "codes": [
          "SITE_MISMATCH",
        ],
        "message": "elasticIps.move: 422 SITE_MISMATCH",
        "name": "ApiError",
        "operation": "elasticIps.move",
        "status": 422,
      }
    `)
  })

  it('says of an error what to do about it', () => {
    const { log, entries } = logInto()

    log.warn({ code: 'no-worker' }, 'No worker runs')
    log.info({ code: 'no-worker' }, 'A worker runs')

    expect(entries().map(({ fix }) => fix)).toEqual(['Start a worker (ROLE=worker or all), or check its log for the reason.', undefined])
  })

  it('writes secrets as [redacted], and no other object', () => {
    const { log, lines } = logInto()
    const secret = new Secret(password)

    log.info({ problem: secret, members: [secret], from: { secret }, why: new Map([['key', secret]]) }, `${secret}`)

    expect(lines[0]).not.toContain(password)
    expect(inspect(secret)).toBe('[redacted]')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      problem: '[redacted]',
      members: ['[redacted]'],
      from: '[object]',
      why: '[object]',
      msg: '[redacted]',
    })
  })

  it('redacts tokens and passwords that reached the log by mistake', () => {
    const { log, lines } = logInto()

    log.info({ problem: `redis://default:${password}@redis.internal:6379/0`, why: 'xoxb-203-113-abc' }, 'using xapp-1-A0LOCKKEEP-99 now')

    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      problem: 'redis://[redacted]@redis.internal:6379/0',
      why: '[redacted]',
      msg: 'using [redacted] now',
    })
  })

  it('writes one line of JSON for any input', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })),
        fc.string(),
        (fields, text) => {
          const { log, lines } = logInto()

          log.info(fields, text)

          expect(lines).toHaveLength(1)
          expect(lines[0]).toMatch(/^\{.*\}\n$/)
          expect(() => JSON.parse(lines[0] ?? '')).not.toThrow()
        },
      ),
    )
  })
})

describe('the log of Slack’s libraries', () => {
  it('never writes their debug lines, which contain whole bodies, at any level', () => {
    const { log, lines } = logInto('trace')
    const logger = slackLogger(log, createRepeatedLines(log)) as Logger

    logger.setLevel(LogLevel.DEBUG)
    logger.debug('http request body', token)

    expect(lines).toEqual([])
    expect(logger.getLevel()).toBe('info')
  })
})

describe('reports of errors', () => {
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
    const debug = (_: unknown, text?: unknown) => void lines.push(`debug: ${text}`)
    const log = { debug, info: line, warn: line, error: line }
    const repeated = createRepeatedLines(log)
    const reports = createErrorReports(log, repeated, (place) => void counted.push(place))
    return { counted, lines, fields, repeated, reports }
  }

  describe('an error', () => {
    it('names the request that the work was for', () => {
      const { fields, reports } = setUp()
      const named = { requestId: 'r1' }
      reports.of('jobs')(new Error('away'), 'r1')
      inLane('send', () => inLane('retract', () => reports.of('people')(new Error('away'))), named)
      inLane('person', () => {
        noteRequest('r1')
        reports.shownToPerson(new Error('away'), { at: 'request-approve' })
        reports.shownToPerson(new UserError('not-in-channel', 'Not in this channel.'), { at: 'request-approve' })
      })
      expect(fields).toMatchObject([named, named, named, named])
    })

    it('is none if work waits for the limit of the account', () => {
      const { counted, lines, reports } = setUp()
      reports.of('jobs')(new AccountLimitError({ operation: 'elasticIps.list', kind: 'read', waitMs: 900, perMinute: 60, answered: false }))
      expect([counted, lines]).toEqual([[], ["debug: Work waits for the account's limit"]])
    })

    it('that a person or a machine gets again and again is one line, with its code, the person, the request and the act', () => {
      const { lines, fields, reports } = setUp()
      const refused = (userId: string, at: string) =>
        inLane('person', () => reports.shownToPerson(new UserError('too-late', 'Already approved.'), { at, userId }), {
          userId,
          requestId: 'r1',
        })
      for (const userId of ['U0ADA00001', 'machine:ci'])
        for (const at of ['click request-approve', 'x']) for (let click = 0; click < 3; click += 1) refused(userId, at)
      expect(lines).toEqual(['refused', 'refused', 'refused', 'refused'])
      expect(fields[0]).toEqual({ code: 'too-late', requestId: 'r1', userId: 'U0ADA00001', at: 'click request-approve' })
    })

    it('that was shown to a person is counted, unless it is a refusal', () => {
      const { counted, lines, reports } = setUp()
      for (const error of [new UserError('not-in-channel', 'Not in this channel.'), apiError(404), apiError(422), noFeature])
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

    test('the log has one line at the start and one a minute, with the number of those since the last line', () => {
      const { counted, fields, reports } = setUp()
      const report = reports.of('jobs')

      for (let second = 0; second < 100; second += 1) {
        for (const error of errors) report(error)
        vi.advanceTimersByTime(1_000)
      }
      vi.advanceTimersByTime(180_000)

      expect(fields).toEqual([
        { code: 'job-failed', error: errors[0] },
        { code: 'job-failed', error: errors[0], repeats: 299 },
      ])
      expect(counted).toHaveLength(500)
    })

    test('the end of an error has a line, and the next error is a first one again', () => {
      const { fields, lines, repeated } = setUp()
      const away = () => repeated.write({ fields: { code: 'redis-not-responding' }, text: 'away' })
      for (const _ of [1, 2]) away()
      vi.advanceTimersByTime(2_000)
      for (const _ of [1, 2]) repeated.end('redis-not-responding', 'back')
      away()

      expect(lines).toEqual(['away', 'back', 'away'])
      expect(fields[1]).toEqual({ code: 'redis-not-responding', repeats: 1, afterMs: 2_000 })
    })

    test('an error of another kind has its own line', () => {
      const { fields, reports } = setUp()
      const defect = new TypeError("Cannot read properties of undefined (reading 'id')")
      const rejected = new StoreUnavailableError('Redis: ReplyError NOPERM', 'NOPERM')

      for (const error of [...errors, defect, rejected, ...errors, defect]) reports.of('jobs')(error)

      expect(fields).toEqual([errors[0], defect, rejected].map((error) => ({ code: 'job-failed', error })))
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
  })
})

describe('the audit in the log', () => {
  function openInFolder(name: string, flags: string | number, prepare = (_: string) => {}) {
    const folder = mkdtempSync(join(tmpdir(), 'audit-log-'))
    const path = join(folder, name)
    prepare(path)
    const destination = openSync(path, flags)
    onTestFinished(() => {
      closeSync(destination)
      rmSync(folder, { recursive: true })
    })
    return { path, destination }
  }

  /** Opens a pipe of limited size, like standard output when a collector reads the log. */
  function openPipe() {
    return openInFolder('pipe', constants.O_RDWR | constants.O_NONBLOCK, (path) => void execFileSync('mkfifo', [path]))
  }

  function empty(pipe: number): string {
    const buffer = Buffer.alloc(1_000_000)
    return buffer.toString('utf8', 0, readSync(pipe, buffer))
  }

  test('a line is in the file when the write returns', () => {
    const { path, destination } = openInFolder('log', 'w')
    const write = createAuditLog({ destination })

    write('{"stream":"audit","what":"über"}')
    write('{"stream":"audit"}')

    expect(readFileSync(path, 'utf8')).toBe('{"stream":"audit","what":"über"}\n{"stream":"audit"}\n')
  })

  test('a write to a full pipe fails after its deadline, and the next line starts on a new line', () => {
    const { destination } = openPipe()
    const write = createAuditLog({ destination })

    expect(() => write('x'.repeat(300_000))).toThrow(/EAGAIN/)
    expect(empty(destination)).toMatch(/^x+$/)
    write('{"stream":"audit"}')

    expect(empty(destination)).toBe('\n{"stream":"audit"}\n')
  })
})
