import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { actions, button, fields, wholeSection } from '../../../src/slack/blocks.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { hostileWords, mrkdwnIn } from './arbitrary-blocks.ts'

describe('sections and fields', () => {
  it('show a text whole, however long it is', () => {
    fc.assert(
      fc.property(fc.array(hostileWords, { maxLength: 12 }), (facts) => {
        const shown = mrkdwnIn([...facts.flatMap(wholeSection), ...fields(facts)]).map(({ text }) => text)

        const all = [...facts, ...facts].map(({ text }) => text.trim() || '–')
        expect(shown.join('').replace(/\s/g, '')).toBe(all.join('').replace(/\s/g, ''))
      }),
    )
  })
})

it('shows a fact with a long word over the whole width, because Slack breaks it inside of a column', () => {
  const [narrow, wide] = [mrkdwn`*Site*\n${'ASH'}`, mrkdwn`*Owner*\n${'grace.hopper@nimbus.example'}`]

  expect(fields([narrow, narrow, wide])).toEqual([...fields([narrow, narrow]), ...wholeSection(wide)])
})

describe('an id or a value that Slack would not take', () => {
  it.each([
    ['the value of a button', () => button({ text: 'Approve', actionId: 'approve', value: 'x'.repeat(2001) })],
    ['the id of an action', () => button({ text: 'Approve', actionId: '', value: 'r1' })],
    ['the id of a block', () => actions([button({ text: 'Approve', actionId: 'approve', value: 'r1' })], 'x'.repeat(256))],
  ])('throws and is not cut: %s', (_, build) => {
    expect(build).toThrow(RangeError)
  })
})

describe('a button', () => {
  it('can show a confirmation dialog before its click is sent', () => {
    const confirm = { title: 'Revoke the key?', text: mrkdwn`${'ci <deploy>'} stops working at once.`, confirm: 'Revoke', deny: 'Keep' }

    const words = (text: string) => ({ type: 'plain_text', text, emoji: false })
    expect(button({ text: 'Revoke', actionId: 'revoke', value: 'k1', style: 'danger', confirm })).toEqual({
      type: 'button',
      text: words('Revoke'),
      action_id: 'revoke',
      value: 'k1',
      style: 'danger',
      confirm: {
        title: words('Revoke the key?'),
        text: { type: 'mrkdwn', text: 'ci &lt;deploy&gt; stops working at once.', verbatim: true },
        confirm: words('Revoke'),
        deny: words('Keep'),
      },
    })
  })
})
