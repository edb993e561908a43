import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanText, dateTime, escapeMrkdwn, mention, mrkdwn, splitMrkdwn, truncate } from '../../src/slack/text.ts'
import { hostileText } from './hostile-text.ts'

const brokenEntity = /&(?!amp;|lt;|gt;)/
const words = fc
  .array(fc.oneof(hostileText.map(escapeMrkdwn), fc.constant(mention('U0ADA00001')), fc.constant(dateTime(0))), { maxLength: 8 })
  .map((parts) => parts.reduce((all, part) => mrkdwn`${all} ${part}`, mrkdwn``).text)

describe('text that is too long', () => {
  it('is cut to the limit, marked, and not cut inside a character', () => {
    fc.assert(
      fc.property(
        hostileText.map((text) => cleanText(text)),
        fc.integer({ min: 1, max: 200 }),
        (text, max) => {
          const cut = truncate(text, max, 'plain')

          expect(cut.length).toBeLessThanOrEqual(max)
          expect(cut.isWellFormed()).toBe(true)
          if (cut !== text) expect(cut).toMatch(/…$/)
          expect(text.startsWith(cut.replace(/…$/, ''))).toBe(true)
          expect(truncate(cut, max, 'plain')).toBe(cut)
        },
      ),
    )
  })

  it('keeps mentions, dates and entities whole, or leaves them out', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 200 }), (text, max) => {
        const cut = truncate(text, max, 'mrkdwn')

        expect(cut.length).toBeLessThanOrEqual(max)
        expect(cut).not.toMatch(brokenEntity)
        expect(cut.match(/</g)?.length).toBe(cut.match(/>/g)?.length)
      }),
    )
  })

  it.each([
    ['web-1', 5, 'web-1'],
    ['web-10', 5, 'web-…'],
    ['R&amp;D', 4, 'R…'],
    ['by <@U0ADA00001>', 10, 'by …'],
    ['🏳🏳🏳', 4, '🏳…'],
    ['x', 0, ''],
  ])('%s in %i characters', (text, max, cut) => {
    expect(truncate(text, max, 'mrkdwn')).toBe(cut)
  })
})

describe('text that is split', () => {
  it('loses nothing but white space, and each part stays within the limit', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 100, max: 3000 }), (text, max) => {
        const parts = splitMrkdwn(text, max)

        expect(parts.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
        for (const part of parts) {
          expect(part.length).toBeLessThanOrEqual(max)
          expect(part).not.toMatch(brokenEntity)
          expect(part.match(/</g)?.length).toBe(part.match(/>/g)?.length)
        }
      }),
    )
  })

  it('is split at a line end, or else between words, or else anywhere', () => {
    expect(splitMrkdwn('one two\nthree four', 12)).toEqual(['one two', 'three four'])
    expect(splitMrkdwn('one two three four', 12)).toEqual(['one two', 'three four'])
    expect(splitMrkdwn('onetwothreefour', 6)).toEqual(['onetwo', 'threef', 'our'])
  })
})
