import { expect, test } from 'vitest'
import { checkOpsChannel } from '../../src/outbox/operators.ts'
import type { ChannelMembership } from '../../src/slack/web-api.ts'
import { fakeApp } from '../fake-app.ts'

/** Checks a channel of which Slack says this. */
async function check(found: ChannelMembership) {
  const lines: unknown[] = []
  const app = fakeApp({
    slack: { probe: { membership: async () => found } },
    lines: { write: ({ fields, text, level }) => lines.push([fields, text, level]) > 0 },
  })
  return { answer: await checkOpsChannel(app, 'C0NIGHT001'), lines }
}

test.each<[string, ChannelMembership, string]>([
  ['is not in OPS_CHANNEL', { is: 'absent' }, 'Lockkeeper is not in the channel, or there is no such channel'],
  ['has an archived OPS_CHANNEL', { is: 'archived' }, 'the channel is archived'],
])('the log says that notices cannot be posted if the bot %s', async (_, found, problem) => {
  const { answer, lines } = await check(found)

  expect(answer).toEqual(found)
  const text = `Notices can't be posted in OPS_CHANNEL (C0NIGHT001): ${problem}`
  expect(lines).toEqual([[{ code: 'operators-unreachable', problem }, text, undefined]])
})

test.each<ChannelMembership>([{ is: 'member' }, { is: 'unreadable', why: 'no answer' }, { is: 'unreadable', why: 'missing_scope' }])(
  'the log says nothing if Slack says %j: no answer does not mean that notices cannot be posted',
  async (found) => {
    expect((await check(found)).lines).toEqual([])
  },
)
