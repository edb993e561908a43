import { expect, it, test } from 'vitest'
import { notice } from '../../src/slack/blocks.ts'
import type { TableMessage } from '../../src/slack/interactions.ts'
import { createResponder, probeMessage } from '../../src/slack/response-url.ts'
import { dataTable } from '../../src/slack/table.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'

const url = 'https://hooks.slack.com/commands/T0/1/x'
const allowedOrigins = ['https://hooks.slack.com']
const naming = { inMessage: <T>(message: T) => message }

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
  const respond = createResponder({ allowedOrigins, naming, fetch: async () => new Response(body, { status }) })

  expect(await respond(url, { text: 'hello', blocks: [] })).toEqual(expected)
})

const block = dataTable('Elastic IPs', { headers: ['Address'], rows: [['203.0.113.10']] })
const answer: TableMessage = { table: { text: 'table', blocks: block ? [block] : [] }, instead: notice(mrkdwn`text`) }
const probe = probeMessage()

/** Slack takes text. `answers` are its codes for the table and for the probe. */
function setUp(answers: { table: string; probe: string }) {
  const sent: string[] = []
  let now = 0
  const respond = createResponder({
    allowedOrigins,
    naming,
    now: () => now,
    fetch: async (_, init) => {
      const { text, replace_original: replaces } = JSON.parse(String(init?.body)) as { text: string; replace_original: boolean }
      const name = text === probe.text ? 'probe' : text
      sent.push(`${name}${replaces ? ' in place of the last one' : ''}`)
      return new Response(name === 'text' ? 'ok' : answers[name as 'table' | 'probe'])
    },
  })
  const wait = (hours: number) => {
    now += hours * 3_600_000
  }
  return { respond, sent, wait, answers }
}

test('a table is sent as it is where Slack takes tables', async () => {
  const { respond, sent } = setUp({ table: 'ok', probe: 'ok' })

  await respond(url, answer)

  expect(sent).toEqual(['table'])
})

test('a table that Slack refuses for its content is sent as text in place of the probe, and the next one is tried', async () => {
  const { respond, sent } = setUp({ table: 'invalid_blocks', probe: 'ok' })

  await respond(url, answer)
  await respond(url, answer)

  const once = ['table', 'probe', 'text in place of the last one']
  expect(sent).toEqual([...once, ...once])
})

test('a table is not tried for a day after Slack has refused the smallest one too, except by the doctor', async () => {
  const { respond, sent, wait, answers } = setUp({ table: 'invalid_blocks', probe: 'invalid_blocks' })

  await respond(url, answer)
  wait(23)
  await respond(url, answer)
  wait(2)
  await respond(url, answer)
  answers.table = 'ok'
  await respond(url, { ...answer, tries: true })
  await respond(url, answer)

  expect(sent).toEqual(['table', 'probe', 'text', 'text', 'table', 'probe', 'text', 'table', 'table'])
})

test('a table is sent as text after a click without a probe, which would replace the message that was clicked', async () => {
  const { respond, sent } = setUp({ table: 'invalid_blocks', probe: 'ok' })

  await respond(url, answer, { isClick: true })

  expect(sent).toEqual(['table', 'text'])
})

test('a table is sent as text if nobody knows whether it arrived, and nothing is concluded from that', async () => {
  const { respond, sent } = setUp({ table: 'internal_error', probe: 'ok' })

  await respond(url, answer)
  await respond(url, answer)

  expect(sent).toEqual(['table', 'text', 'table', 'text'])
})

test('a table is left to the next way of answering if the response URL is used up', async () => {
  const { respond, sent } = setUp({ table: 'used_url', probe: 'ok' })

  expect([await respond(url, answer), sent]).toEqual([{ is: 'refused', error: 'used_url' }, ['table']])
})

test('the probe is a table that Slack takes', () => {
  expect(problemsWithBlocks(probe.blocks)).toEqual([])
  expect(probe.blocks[0]).toMatchObject({ type: 'data_table' })
})
