import type { KnownBlock } from '@slack/web-api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { actions, button, context, divider, fields, header, message, reasonBlocks, wholeSection } from '../../../src/slack/blocks.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { charactersIn, problemsWithBlocks } from '../../sandbox/slack/validate-blocks.ts'
import { anyBlocks, mrkdwnIn } from './arbitrary-blocks.ts'

describe('a message', () => {
  it('stays within every limit of Slack, whatever it is built from', () => {
    fc.assert(
      fc.property(fc.array(anyBlocks, { maxLength: 12 }), anyBlocks, (parts, early) => {
        const sent = message(parts.flat(), early)

        expect(problemsWithBlocks(sent.blocks)).toEqual([])
        expect(charactersIn(sent.blocks)).toBeLessThanOrEqual(10_000)
        expect(sent.text.length).toBeGreaterThan(0)
        expect(sent.text.length).toBeLessThanOrEqual(4000)
        for (const one of mrkdwnIn(sent.blocks)) {
          expect(one.verbatim).toBe(true)
          expect(one.text).not.toMatch(/[<>]/)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('leaves out the blocks at its end first, buttons included, and says how many', () => {
    const lines = Array.from({ length: 52 }, (_, index) => mrkdwn`line ${index + 1}`)
    const approve = button({ text: 'Approve', actionId: 'approve', value: 'r1' })

    const { blocks } = message([...lines.flatMap(wholeSection), ...actions([approve])])

    expect(blocks).toHaveLength(50)
    expect(blocks.slice(-2)).toEqual([
      ...wholeSection(mrkdwn`line 49`),
      ...context([mrkdwn`:warning: 4 more parts don't fit here and aren't shown.`]),
    ])
  })

  it('holds at most 10,000 characters, shows as many blocks from its beginning as fit, and says how many it leaves out', () => {
    const sections = (count: number) => Array.from({ length: count }, (_, index) => wholeSection(mrkdwn`${index}${'x'.repeat(999)}`)).flat()
    const shown = (blocks: KnownBlock[]) => message(blocks).blocks

    expect(shown(sections(10))).toEqual(sections(10))
    expect(shown(sections(11))).toEqual([...sections(9), ...context([mrkdwn`:warning: 2 more parts don't fit here and aren't shown.`])])
    expect(shown([...sections(10), ...actions([button({ text: 'Approve', actionId: 'approve', value: 'r1' })])])).toHaveLength(10)
  })

  it('counts the texts that people read towards that limit, and not the values of buttons', () => {
    const value = 'v'.repeat(2_000)
    const buttons = Array.from({ length: 20 }, (_, index) => button({ text: 'Turn', actionId: `turn-${index}`, value }))
    const facts = Array.from({ length: 10 }, () => mrkdwn`${'fact '.repeat(240)}`)

    expect(message(actions(buttons)).blocks).toEqual(actions(buttons))
    expect(message([header('Facts'), ...fields(facts)]).blocks).toEqual([
      header('Facts'),
      ...context([mrkdwn`:warning: 1 more part doesn't fit here and isn't shown.`]),
    ])
  })

  it('says in its text what its blocks say, what is to be read early right after the first block, and nothing twice', () => {
    const early = wholeSection(mrkdwn`*Check first*`)
    const facts = fields([mrkdwn`*Server*\n${'<web-1>'}`])
    const said = message(
      [header('Move a & b'), ...facts, ...reasonBlocks('Reason', '*now* https://a.example/b'), ...early, divider()],
      early,
    )

    expect(said.text).toBe('Move a &amp; b\n*Check first*\n*Server:* &lt;web-1&gt;\nReason: `*now* https://a.example/b`')
  })

  it('shows a dash in place of empty text, which Slack refuses', () => {
    expect(message(wholeSection(mrkdwn``))).toEqual({
      text: '–',
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: '–', verbatim: true } }],
    })
  })
})
