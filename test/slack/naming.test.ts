import { describe, expect, it } from 'vitest'
import { notice, noticeView } from '../../src/slack/blocks.ts'
import { code, createNaming, mrkdwn } from '../../src/slack/text.ts'

const { inWords, inAll } = createNaming({ opsChannel: 'C0OPS00001', command: '/nimbus' })

describe('the people who run Lockkeeper', () => {
  it.each([
    ['Tell the people who run Lockkeeper.', 'Tell the people who run Lockkeeper (<#C0OPS00001>).'],
    ['The people who run Lockkeeper can add a rule.', 'The people who run Lockkeeper (<#C0OPS00001>) can add a rule.'],
    ['Nobody is named.', 'Nobody is named.'],
  ])('are named with their channel: %s', (text, named) => {
    expect(inWords(mrkdwn`${text}`).text).toBe(named)
  })

  it('are named in the text and the blocks of a message, and in a form', () => {
    const words = mrkdwn`Tell the people who run Lockkeeper.`

    expect(JSON.stringify(inAll(notice(words))).match(/<#C0OPS00001>/g)).toHaveLength(2)
    expect(JSON.stringify(inAll(noticeView(words)))).toContain('the people who run Lockkeeper (<#C0OPS00001>)')
  })

  it('are not named in what a person wrote', () => {
    const words = mrkdwn`Rejected: ${code('ask the people who run Lockkeeper')}. Ask the people who run Lockkeeper.`

    expect(inWords(words).text).toBe('Rejected: `ask the people who run Lockkeeper`. Ask the people who run Lockkeeper (<#C0OPS00001>).')
  })

  it('are not named in plain text, where Slack shows no mention', () => {
    const view = { blocks: [{ type: 'plain_text', text: 'Tell the people who run Lockkeeper.' }] }

    expect(inAll(view)).toEqual(view)
  })

  it('are not named where the text would become longer than Slack accepts', () => {
    const long = mrkdwn`${'x'.repeat(1_970)} the people who run Lockkeeper`

    expect(inWords(long).text).toBe(long.text)
  })

  it('are named by these words alone without a channel', () => {
    const without = createNaming({ opsChannel: undefined, command: '/nimbus' })
    const message = notice(mrkdwn`Tell the people who run Lockkeeper.`)

    expect(without.inAll(message)).toEqual(message)
  })
})

describe('the doctor command', () => {
  it.each(['C0OPS00001', undefined])("is written with the slash command's name, with the operators' channel %s", (opsChannel) => {
    const naming = createNaming({ opsChannel, command: '/nimbus' })
    const words = mrkdwn`If it lasts, run the doctor command.`

    expect(naming.inWords(words).text).toBe('If it lasts, run `/nimbus doctor`.')
    expect(naming.inAll(notice(words)).text).toBe('If it lasts, run `/nimbus doctor`.')
    expect(JSON.stringify(naming.inAll(noticeView(words)))).toContain('run `/nimbus doctor`.')
  })

  it('stays as it is in what a person wrote', () => {
    const words = mrkdwn`Rejected: ${code('run the doctor command')}.`

    expect(inWords(words).text).toBe(words.text)
  })
})
