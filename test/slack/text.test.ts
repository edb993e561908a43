import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanText } from '../../src/domain/text.ts'
import {
  channelMention,
  code,
  dateTime,
  escapeMrkdwn,
  joinMrkdwn,
  mention,
  mrkdwn,
  nameWords,
  ownWords,
  splitMrkdwn,
  toPlainText,
  truncate,
  userGroupMention,
} from '../../src/slack/text.ts'
import { hostileText } from './hostile-text.ts'

const asTyped = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

describe('text from outside', () => {
  it('never becomes a mention, a link or a date, and escaping loses nothing of it', () => {
    fc.assert(
      fc.property(hostileText, (typed) => {
        const { text } = mrkdwn`${typed}`

        expect(text).not.toMatch(/[<>]/)
        expect(text.replace(/&(amp|lt|gt);/g, '')).not.toContain('&')
        expect(asTyped(text).replaceAll(/\s+/g, '')).toBe(cleanText(typed).replaceAll(/\s+/g, ''))
      }),
    )
  })

  it('never becomes a separate line', () => {
    fc.assert(
      fc.property(hostileText, (typed) => {
        expect(mrkdwn`${typed}`.text).not.toMatch(/[\n\r\v\f\u0085\u2028\u2029]/)
      }),
    )
    expect(mrkdwn`*${'prod \r\n\n :large_green_circle: *Done.*'}*\nNew`.text).toBe('*prod  :large_green_circle: *Done.**\nNew')
    expect(mrkdwn`1${',  2'} ${' 3 '}`.text).toBe('1,  2  3 ')
  })

  it.each([
    ['<!channel> <!here>', '&lt;!channel&gt; &lt;!here&gt;'],
    ['<@U0ADA00001>', '&lt;@U0ADA00001&gt;'],
    ['R&D <ops>', 'R&amp;D &lt;ops&gt;'],
    ['&lt;!channel&gt;', '&amp;lt;!channel&amp;gt;'],
  ])('is shown as it was typed: %s', (typed, sent) => {
    expect(escapeMrkdwn(typed).text).toBe(sent)
  })

  it('is escaped even in an object that looks like Mrkdwn', () => {
    const lookalike = { text: '<!channel>', toString: () => '<!channel>' } as unknown as string

    expect(mrkdwn`${lookalike}`.text).toBe('&lt;!channel&gt;')
  })

  it('never leaves its inline code', () => {
    fc.assert(
      fc.property(hostileText, (typed) => {
        const { text } = code(typed)

        expect(text).toMatch(/^(`[^`<>\n]+`|\(empty\))$/)
      }),
    )
  })

  it.each([
    ['web-1', 'web-1'],
    ['web-1.fra.example.com', 'web-1.fra.example.com'],
    ['Zoë', 'Zoë'],
    ['Web Shop', '“Web Shop”'],
    ["Lockkeeper's operators", "`Lockkeeper's operators`"],
    ['203.0.113.10', '`203.0.113.10`'],
    ['2001:db8::1', '`2001:db8::1`'],
    ['sv_1WFgWmkF9Mzju', '`sv_1WFgWmkF9Mzju`'],
    ['*web* _1_ ~2~', '`*web* _1_ ~2~`'],
    ['a`b', '`a’b`'],
    [':white_check_mark:', '`:white_check_mark:`'],
    ['Done. Approved', '`Done. Approved`'],
    ['web-1 → web-2', '`web-1 → web-2`'],
    ['https://evil.example', '`https://evil.example`'],
    ['@here', '`@here`'],
    ['<!channel>', '`&lt;!channel&gt;`'],
    ['wеb-1', '`wеb-1`'],
    ['שרת', '`שרת`'],
    ['', '(empty)'],
  ])('is text as a name if it is only words, and code otherwise: %s', (name, shown) => {
    expect(nameWords(name).text).toBe(shown)
  })

  it('is no markup as a name', () => {
    fc.assert(
      fc.property(fc.oneof(hostileText, fc.string({ unit: 'grapheme' })), (name) => {
        expect(nameWords(name).text).toMatch(/^(`[^`<>\n]+`|\(empty\)|“?[\p{Script=Latin}\d .-]+”?)$/u)
      }),
    )
  })

  it('keeps scripts, accents and emoji, and loses what shows nothing, hides or reverses', () => {
    for (const name of ['Zoë', 'Łódź', '東京-1', '👩', '🇺🇦', 'e\u0301']) expect(cleanText(name)).toBe(name)
    expect(cleanText('\u{1f469}\u200d\u{1f467} \u0645\u06cc\u200c\u062e \u2764\ufe0f')).toBe('\u{1f469}\u{1f467} \u0645\u06cc\u062e \u2764')
    expect(cleanText('web\u200b-1 \u202egnp.exe\u202c \u0007\ufeff\u2066x\u2069')).toBe('web-1 gnp.exe x')
    expect(cleanText('half \ud83d')).toBe('half \ufffd')
  })

  it('keeps its lines, or is put on one line on request', () => {
    expect(cleanText('one\r\ntwo\rthree\u2028four')).toBe('one\ntwo\nthree\nfour')
    expect(cleanText('  one\r\n\ttwo ', { oneLine: true })).toBe('one two')
  })

  it('does not change when it is cleaned a second time', () => {
    fc.assert(
      fc.property(hostileText, fc.boolean(), (typed, oneLine) => {
        const once = cleanText(typed, { oneLine })

        expect(cleanText(once, { oneLine })).toBe(once)
        expect(once.isWellFormed()).toBe(true)
      }),
    )
  })
})

describe('Mrkdwn', () => {
  it('is escaped only once, however often it is combined', () => {
    const inner = mrkdwn`${mention('U0ADA00001')} moves ${code('R&D <1>')}`

    expect(joinMrkdwn([mrkdwn`*${inner}*`, mrkdwn`${'<!here>'} ${3}`], '\n').text).toBe(
      '*<@U0ADA00001> moves `R&amp;D &lt;1&gt;`*\n&lt;!here&gt; 3',
    )
  })

  it('mentions people, groups and channels only by id', () => {
    expect(mention('U0ADA00001').text).toBe('<@U0ADA00001>')
    expect(userGroupMention('S0ONCALL01').text).toBe('<!subteam^S0ONCALL01>')
    expect(channelMention('C0OPS00001').text).toBe('<#C0OPS00001>')
    fc.assert(
      fc.property(hostileText, (id) => {
        expect(mention(id).text).toMatch(/^(<@[A-Z0-9]{2,30}>|[^<>]+)$/)
      }),
    )
  })

  it('shows a time in the time zone of its reader', () => {
    expect(dateTime(Date.UTC(2026, 10, 18, 14, 5, 59)).text).toBe('<!date^1795010759^{time} {date_short_pretty}|2026-11-18 14:05 UTC>')
    expect(dateTime(Number.NaN).text).toBe('an unknown time')
  })

  it('becomes plain text without markup', () => {
    const words = mrkdwn`*Moved* ${code('R&D')} by ${mention('U0ADA00001')} at ${dateTime(0)}, ${ownWords('<!subteam^S0ONCALL01>')}`

    expect(toPlainText(words)).toBe('Moved R&D by U0ADA00001 at 1970-01-01 00:00 UTC, S0ONCALL01')
    expect(toPlainText(mrkdwn`*Not* a match of ${code('(a*|<b>)*')}, *yet* \``)).toBe('Not a match of (a*|<b>)*, yet ')
  })
})

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
