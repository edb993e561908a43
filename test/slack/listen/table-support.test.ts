import { describe, expect, it } from 'vitest'
import { notice } from '../../../src/slack/blocks.ts'
import type { TableMessage } from '../../../src/slack/interactions.ts'
import { createRespondWithTable, createTableSupport, probeMessage } from '../../../src/slack/listen.ts'
import type { Respond } from '../../../src/slack/response-url.ts'
import { dataTable } from '../../../src/slack/table.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import type { Message } from '../../../src/slack/web-api.ts'
import { problemsWithBlocks } from '../../sandbox/slack/validate-blocks.ts'

const url = 'https://hooks.slack.com/commands/T0/1/x'
const block = dataTable('Elastic IPs', { headers: ['Address'], rows: [['203.0.113.10']] })
const answer: TableMessage = { table: { text: 'table', blocks: block ? [block] : [] }, instead: notice(mrkdwn`text`) }

const invalidBlocks = { is: 'refused', error: 'invalid_blocks' } as const
const takes = { is: 'sent' } as const
type Results = Record<'table' | 'probe', Awaited<ReturnType<Respond>>>

/** Slack takes text. `results` says what it answers to the table and to the probe. */
function setUp(results: Results) {
  const sent: string[] = []
  let now = 0
  const probe = probeMessage()
  const nameOf = ({ text }: Message) => (text === probe.text ? 'probe' : text)
  const respond: Respond = async (_url, message, { replaceOriginal } = {}) => {
    sent.push(`${nameOf(message)}${replaceOriginal ? ' in place of the last one' : ''}`)
    return message === answer.table ? results.table : nameOf(message) === 'probe' ? results.probe : takes
  }
  const respondWithTable = createRespondWithTable(
    respond,
    createTableSupport(() => now),
  )
  const wait = (hours: number) => {
    now += hours * 3_600_000
  }
  return { respondWithTable, sent, wait, results }
}

describe('a table', () => {
  it('is sent as it is where Slack takes tables', async () => {
    const { respondWithTable, sent } = setUp({ table: takes, probe: takes })

    await respondWithTable(url, answer, { isClick: false })

    expect(sent).toEqual(['table'])
  })

  it('that Slack refuses for its content is sent as text in place of the probe, and the next one is tried', async () => {
    const { respondWithTable, sent } = setUp({ table: invalidBlocks, probe: takes })

    await respondWithTable(url, answer, { isClick: false })
    await respondWithTable(url, answer, { isClick: false })

    const once = ['table', 'probe', 'text in place of the last one']
    expect(sent).toEqual([...once, ...once])
  })

  it('is not tried for a day after Slack has refused the smallest table too', async () => {
    const { respondWithTable, sent, wait } = setUp({ table: invalidBlocks, probe: invalidBlocks })

    await respondWithTable(url, answer, { isClick: false })
    wait(23)
    await respondWithTable(url, answer, { isClick: false })
    wait(2)
    await respondWithTable(url, answer, { isClick: false })

    expect(sent).toEqual(['table', 'probe', 'text', 'text', 'table', 'probe', 'text'])
  })

  it('is tried all the same by the doctor, and once Slack takes it, so are the others', async () => {
    const { respondWithTable, sent, results } = setUp({ table: invalidBlocks, probe: invalidBlocks })
    await respondWithTable(url, answer, { isClick: false })
    results.table = takes

    await respondWithTable(url, { ...answer, tries: true }, { isClick: false })
    await respondWithTable(url, answer, { isClick: false })

    expect(sent.slice(3)).toEqual(['table', 'table'])
  })

  it('is sent as text after a click without a probe, which would replace the message that was clicked', async () => {
    const { respondWithTable, sent } = setUp({ table: invalidBlocks, probe: takes })

    await respondWithTable(url, answer, { isClick: true })

    expect(sent).toEqual(['table', 'text'])
  })

  it('is sent as text if nobody knows whether it arrived, and nothing is concluded from that', async () => {
    const { respondWithTable, sent } = setUp({ table: { is: 'unknown', problem: 'HTTP status 500' }, probe: takes })

    await respondWithTable(url, answer, { isClick: false })
    await respondWithTable(url, answer, { isClick: false })

    expect(sent).toEqual(['table', 'text', 'table', 'text'])
  })

  it.each(['used_url', 'expired_url', 'http_404'])(
    'is left to the next way of answering if the response URL is used up (%s)',
    async (error) => {
      const { respondWithTable, sent } = setUp({ table: { is: 'refused', error }, probe: takes })

      const result = await respondWithTable(url, answer, { isClick: false })

      expect([result, sent]).toEqual([{ is: 'refused', error }, ['table']])
    },
  )
})

it('the probe is a table that Slack takes', () => {
  expect(problemsWithBlocks(probeMessage().blocks)).toEqual([])
  expect(probeMessage().blocks[0]).toMatchObject({ type: 'data_table' })
})
