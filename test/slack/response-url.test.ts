import { expect, it, test } from 'vitest'
import { notice } from '../../src/slack/blocks.ts'
import type { TableMessage } from '../../src/slack/interactions.ts'
import { createResponder } from '../../src/slack/response-url.ts'
import { dataTable } from '../../src/slack/table.ts'
import { mrkdwn } from '../../src/slack/text.ts'

const url = 'https://hooks.slack.com/commands/T0/1/x'
const allowedOrigins = ['https://hooks.slack.com']

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
  const respond = createResponder({ allowedOrigins, fetch: async () => new Response(body, { status }) })

  expect(await respond(url, { text: 'hello', blocks: [] })).toEqual(expected)
})

const block = dataTable('Elastic IPs', { headers: ['Address'], rows: [['203.0.113.10']] })
const answer: TableMessage = { table: { text: 'table', blocks: block ? [block] : [] }, instead: notice(mrkdwn`text`) }

test.each([
  ['is sent as it is where Slack takes tables', 'ok', ['table']],
  ['is sent as text where Slack refuses it', 'invalid_blocks', ['table', 'text']],
  ['is sent as text if nobody knows whether it arrived', 'internal_error', ['table', 'text']],
  ['is left to the next way of answering if the response URL is used up', 'used_url', ['table']],
])('a table %s', async (_, code, expected) => {
  const sent: string[] = []
  const respond = createResponder({
    allowedOrigins,
    fetch: async (_, init) => {
      const { text } = JSON.parse(String(init?.body)) as { text: string }
      sent.push(text)
      return new Response(text === 'table' ? code : 'ok')
    },
  })

  await respond(url, answer)

  expect(sent).toEqual(expected)
})
