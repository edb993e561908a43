import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { input, modal, option, plainTextInput } from '../../../src/slack/blocks.ts'
import { externalSelect, radioButtons } from '../../../src/slack/pickers.ts'
import { problemsWithView } from '../../sandbox/slack/validate-blocks.ts'
import { hostileText } from '../text/hostile-text.ts'
import { anyBlocks, idUpTo } from './arbitrary-blocks.ts'

const anyOption = fc.record({ text: hostileText, value: idUpTo(74), description: hostileText }).map(option)

const anyElement = fc.oneof(
  fc
    .record({
      actionId: idUpTo(255),
      placeholder: hostileText,
      initialValue: hostileText,
      maxLength: fc.integer(),
      multiline: fc.boolean(),
    })
    .map(plainTextInput),
  fc.record({ actionId: idUpTo(255), placeholder: hostileText, initialOption: anyOption }).map(externalSelect),
  fc.tuple(idUpTo(255), anyOption).map(([actionId, one]) => radioButtons(actionId, [one], one)),
)

const anyInput = fc
  .record({ label: hostileText, hint: hostileText, optional: fc.boolean(), dispatchAction: fc.boolean(), element: anyElement })
  // Only a picker reports a choice at once.
  .map((one) => ({ ...one, dispatchAction: one.dispatchAction && one.element.type === 'external_select' }))

describe('a modal', () => {
  it('stays within every limit of Slack, whatever it is built from', () => {
    const texts = fc.record({ title: hostileText, submit: hostileText.filter((text) => text !== ''), close: hostileText })
    fc.assert(
      fc.property(texts, fc.array(anyInput, { maxLength: 8 }), fc.array(anyBlocks, { maxLength: 5 }), (names, inputs, parts) => {
        const blocks = [...parts.flat(), ...inputs.map((one, index) => input({ ...one, blockId: `input-${index}` }))]

        const view = modal({ ...names, callbackId: 'form', metadata: '{}', blocks })

        expect(problemsWithView(view, 'modal')).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('throws if its metadata is too long, because cut metadata would mean nothing', () => {
    expect(() => modal({ title: 'Move', blocks: [], metadata: 'x'.repeat(3001) })).toThrow(
      "a modal's metadata has 3001 characters, and Slack takes 1 to 3000",
    )
  })
})
