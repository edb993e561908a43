import { expect, it } from 'vitest'
import { createResponder } from '../../src/slack/respond.ts'
import { freePort } from '../sandbox/programs.ts'

it.each([
  [200, 'ok', { is: 'sent' }],
  [200, '', { is: 'sent' }],
  [200, '{"ok":true}', { is: 'sent' }],
  [200, '{"ok":false,"error":"invalid_blocks"}', { is: 'refused', error: 'invalid_blocks' }],
  [400, '{"ok":false,"error":"invalid_blocks","errors":["must be more than 0 characters"]}', { is: 'refused', error: 'invalid_blocks' }],
  [400, 'invalid_payload', { is: 'refused', error: 'invalid_payload' }],
  [400, 'Bad request', { is: 'refused', error: 'http_400' }],
  [404, '{"ok":false,"error":"used_url"}', { is: 'refused', error: 'used_url' }],
  [429, 'rate_limited', { is: 'refused', error: 'http_429' }],
  [500, 'invalid_payload', { is: 'refused', error: 'invalid_payload' }],
  [500, '{"ok":false,"error":"internal_error"}', { is: 'unknown', problem: 'HTTP status 500' }],
  [503, '<html>upstream</html>', { is: 'unknown', problem: 'HTTP status 503' }],
])('a response URL that answers %i with %j', async (status, body, expected) => {
  const respond = createResponder({ allowedOrigins: ['https://hooks.slack.com'], fetch: async () => new Response(body, { status }) })

  expect(await respond('https://hooks.slack.com/commands/T0/1/x', { text: 'hello', blocks: [] })).toEqual(expected)
})

it.each([
  [new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) }), 'ECONNREFUSED'],
  [new TypeError('fetch failed', { cause: new Error('unexpected redirect') }), 'no answer'],
  [new DOMException('The operation was aborted due to timeout', 'TimeoutError'), 'TimeoutError'],
])('a response URL that fails with %s has the problem %s', async (error, problem) => {
  const respond = createResponder({ allowedOrigins: ['https://hooks.slack.com'], fetch: () => Promise.reject(error) })

  expect(await respond('https://hooks.slack.com/commands/T0/1/x', { text: 'hello', blocks: [] })).toEqual({ is: 'unknown', problem })
})

it('a response URL behind a closed port has the problem that Node names', async () => {
  const origin = `http://127.0.0.1:${await freePort()}`
  const respond = createResponder({ allowedOrigins: [origin] })

  expect(await respond(`${origin}/x`, { text: 'hello', blocks: [] })).toEqual({ is: 'unknown', problem: 'ECONNREFUSED' })
})
