import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { option } from '../../../src/slack/blocks.ts'
import { radioButtons } from '../../../src/slack/pickers.ts'
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

describe('radio buttons', () => {
  it('show at most 10 options, of which the last says how many are not shown and cannot be chosen', () => {
    const options = Array.from({ length: 12 }, (_, index) => option({ text: `web-${index}`, value: `sv_${index}` }))

    const { options: offered } = radioButtons({ actionId: 'server', options })

    expect(offered).toHaveLength(10)
    expect(offered.at(-1)).toEqual(option({ text: "3 more aren't shown", value: 'not-a-choice' }))
  })

  it('start with the initial option only if it is one of the options', () => {
    const [web1, web2] = [option({ text: 'web-1', value: 'sv_1WFgWmkF9Mzju' }), option({ text: 'web-2', value: 'sv_22mUQSvUfeqdv' })]

    expect(radioButtons({ actionId: 'server', options: [web1], initialOption: web1 }).initial_option).toEqual(web1)
    expect(radioButtons({ actionId: 'server', options: [web1], initialOption: web2 }).initial_option).toBeUndefined()
  })
})
