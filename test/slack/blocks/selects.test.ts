import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { option } from '../../../src/slack/blocks.ts'
import { problemsWithOptions } from '../../sandbox/slack/validate-blocks.ts'
import { hostileText } from '../text/hostile-text.ts'
import { idUpTo } from './arbitrary-blocks.ts'

describe('options', () => {
  it('stay within every limit of Slack, whatever they are built from', () => {
    const anyOption = fc.record({ text: hostileText, value: idUpTo(74), description: hostileText }).map(option)
    fc.assert(
      fc.property(fc.array(anyOption, { maxLength: 100 }), (options) => {
        expect(problemsWithOptions({ options })).toEqual([])
      }),
    )
  })

  it('throw if their value is too long, because a cut value would mean something else', () => {
    expect(() => option({ text: 'web-1', value: 'x'.repeat(75) })).toThrow(RangeError)
  })
})
