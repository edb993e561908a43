import { inspect } from 'node:util'
import { type Logger, LogLevel } from '@slack/bolt'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/domain/errors.ts'
import { Secret } from '../../../src/domain/signing.ts'
import { createLog, createRepeatedLines, redactUrl, slackLogger } from '../../../src/ops/log.ts'

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

    log.error({ error }, 'failed')
    log.error({ err: error, nested: { list: [error] } }, 'failed')
    log.error(error)
    log.error(error, 'failed')
    log.error('failed: %o', error)
    slackLogger(log, createRepeatedLines(log)).error('failed', error, { body: token })

    expect(lines).toHaveLength(6)
    expect(lines.join('')).not.toContain(password)
    expect(lines.join('')).not.toContain(token)
  })

  it('writes the name, the message and the stack of an unexpected error', () => {
    const { log, entries } = logInto()

    log.error({ error: ioredisError() }, 'jobs')

    expect(entries()[0]).toMatchObject({
      level: 'error',
      msg: 'jobs',
      error: {
        name: 'ReplyError',
        message: 'WRONGPASS invalid username-password pair or user is disabled.',
        stack: expect.stringMatching(/^\s+at /),
      },
    })
  })

  it('writes the safe fields of Lockkeeper’s own errors, without the stack and the account API’s message', () => {
    const { log, entries } = logInto()

    log.warn({ error: new ApiError({ operation: 'elasticIps.move', status: 422, codes: ['SITE_MISMATCH'], detail: token }) }, 'account API')

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

  it('writes secrets as [redacted], at any depth', () => {
    const { log, lines } = logInto()
    const secret = new Secret(password)

    log.info({ secret, nested: { list: [secret], map: new Map([['key', secret]]) } }, `${secret}`)

    expect(lines[0]).not.toContain(password)
    expect(inspect(secret)).toBe('[redacted]')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      secret: '[redacted]',
      nested: { list: ['[redacted]'], map: '[Map]' },
      msg: '[redacted]',
    })
  })

  it('redacts tokens and passwords that reached the log by mistake', () => {
    const { log, lines } = logInto()

    log.info({ url: `redis://default:${password}@redis.internal:6379/0`, xoxb: 'xoxb-203-113-abc' }, 'using xapp-1-A0LOCKKEEP-99 now')

    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      url: 'redis://[redacted]@redis.internal:6379/0',
      xoxb: '[redacted]',
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

  it('writes their other lines as text', () => {
    const { log, entries } = logInto()

    slackLogger(log, createRepeatedLines(log)).warn('socket-mode:SocketModeClient:0', 'A pong was not received', { frame: token })

    expect(entries()[0]).toMatchObject({ level: 'warn', from: 'slack', msg: 'socket-mode:SocketModeClient:0 A pong was not received' })
  })
})

describe('an address', () => {
  it.each([
    ['redis://default:pw@redis.internal:6379/0', 'redis://redis.internal:6379/…'],
    ['https://hooks.slack.com/commands/T0NIMBUS01/1/secret', 'https://hooks.slack.com/…'],
    ['https://api.example.com?key=1', 'https://api.example.com'],
    ['no address', '[not an address]'],
  ])('is written without the parts that may be secret: %s', (address, written) => {
    expect(redactUrl(address)).toBe(written)
  })
})
