import { expect, test } from 'vitest'
import { notice, noticeView } from '../../src/slack/blocks.ts'
import { code, mrkdwn, nameInAll, nameInWords, ownWords } from '../../src/slack/text.ts'

const config = { opsChannel: 'C0OPS00001', slack: { command: '/nimbus' } }

test.each([
  ["Tell Lockkeeper's operators.", "Tell Lockkeeper's operators (<#C0OPS00001>)."],
  ["Lockkeeper's operators can add a rule.", "Lockkeeper's operators (<#C0OPS00001>) can add a rule."],
  ['If it lasts, run the doctor command.', 'If it lasts, run `/nimbus doctor`.'],
  ['Nobody is named.', 'Nobody is named.'],
  // Not in what a person wrote, and not where the text would become longer than Slack accepts.
  [`Rejected: ${code("ask Lockkeeper's operators")}.`, "Rejected: `ask Lockkeeper's operators`."],
  [`Rejected: ${code('run the doctor command')}.`, 'Rejected: `run the doctor command`.'],
  [`${'x'.repeat(1_970)} Lockkeeper's operators`, `${'x'.repeat(1_970)} Lockkeeper's operators`],
])('the operators are named with their channel, and the doctor with its command: %s', (text, named) => {
  expect(nameInWords(config, ownWords(text)).text).toBe(named)
  expect(nameInAll(config, notice(ownWords(text)))).toEqual(notice(ownWords(named)))
  expect(nameInAll(config, noticeView(ownWords(text)))).toEqual(noticeView(ownWords(named)))
})

test('plain text, where Slack shows no mention, names nobody, and neither does a bot without a channel for operators', () => {
  const view = { blocks: [{ type: 'plain_text', text: "Tell Lockkeeper's operators." }] }
  const message = notice(mrkdwn`Tell Lockkeeper's operators.`)

  expect(nameInAll(config, view)).toEqual(view)
  expect(nameInAll({ ...config, opsChannel: undefined }, message)).toEqual(message)
})
