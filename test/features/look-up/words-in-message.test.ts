import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wordsIn } from '../../../src/features/look-up.ts'

const none = { text: '', blocks: [], attachments: [] }

describe('the words of a message', () => {
  test.each([
    ['an address with its prefix length', 'move 203.0.113.10/32 away', '203.0.113.10'],
    ['an address at the end of a sentence', 'Nothing answers on 203.0.113.10.', '203.0.113.10'],
    ['an IPv6 address that ends with colons', '2001:db8:40:1:: is down', '2001:db8:40:1::'],
    ['a hostname with a port', 'instance="web-1:9100"', 'web-1'],
    ['a hostname in markup', '*web-1* and _web-2_ and `web-3`', 'web-2'],
    ['a hostname with a possessive', "web-1's disk", 'web-1'],
    ['a link of Slack', '<http://web-2.example.com|web-2.example.com>', 'web-2.example.com'],
    ['an id', '(eip_2BJYBkPZR5x1t)', 'eip_2BJYBkPZR5x1t'],
    ['an id in a path', 'https://dashboard.example.com/servers/sv_22mUQSvUfeqdv?tab=ips', 'sv_22mUQSvUfeqdv'],
    ['a name with characters that show nothing', 'web\u200b-1', 'web-1'],
    ['a name between entities', 'web-1&lt;web-2', 'web-2'],
  ])('contain %s', (_, text, word) => {
    expect(wordsIn({ ...none, text })).toContain(word)
  })

  test('contain no mention and no date', () => {
    expect(wordsIn({ ...none, text: '<@U0ADA00001> <#C0OPS00001|ops> <!date^1^{date}|web-1> hi' })).toEqual(['hi'])
  })

  test('come from the text, the blocks and the attachments, in this order, each once', () => {
    const rich = { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'in-blocks web-1' }] }] }
    const table = { type: 'data_table', rows: [[{ type: 'raw_text', text: 'in-table' }]] }
    const attachment = {
      fallback: 'in-fallback',
      title: 'in-title',
      fields: [{ title: 'instance', value: 'in-field:9100' }],
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'in-inner-block' } }],
    }

    const words = wordsIn({ text: 'web-1', blocks: [rich, table], attachments: [attachment] })

    expect(words).toEqual([
      'web-1',
      'in-blocks',
      'in-table',
      'in-fallback',
      'in-title',
      'instance',
      'in-field:9100',
      'in-field',
      'in-inner-block',
    ])
  })

  test('leave out ids of blocks and kinds', () => {
    expect(wordsIn({ ...none, blocks: [{ type: 'section', block_id: 'web-1', text: { type: 'plain_text', text: 'x' } }] })).toEqual(['x'])
  })

  test('are limited, however long, deep or broad the message is', () => {
    let deep: unknown = { text: 'deepest' }
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    const broad = Array.from({ length: 50_000 }, (_, index) => ({ text: `word-${index}` }))

    expect(wordsIn({ ...none, blocks: [deep] })).toEqual([])
    expect(wordsIn({ ...none, blocks: broad }).length).toBeLessThanOrEqual(5_000)
    expect(wordsIn({ ...none, text: 'x '.repeat(1_000_000) })).toEqual(['x'])
  })

  test('can be read from anything', () => {
    const anything = fc.array(fc.anything())
    fc.assert(
      fc.property(fc.string(), anything, anything, (text, blocks, attachments) => Array.isArray(wordsIn({ text, blocks, attachments }))),
    )
  })
})
