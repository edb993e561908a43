import fc from 'fast-check'
import { anyText } from '../any-text.ts'

/** Pieces that can break a message: markup, mentions, entities, emoji of many units, half characters, direction marks. */
const piece = fc.oneof(
  fc.constantFrom('<!channel>', '<!here>', '<@U0ADA00001>', '<#C0OPS00001>', '<https://example.com|web-2>', '@here', '&amp;', '&lt;', '&'),
  fc.constantFrom('`', '*', '_', '~', '>', '\n', '\r\n', '\u2028', '\t', '\0', '\u202e', '\u200b', '👩‍👩‍👧', '🏳️‍🌈', '\ud83d', '\udc00'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  anyText({ maxLength: 20 }),
)

/** Any text that can come from people, host names or the account API, from empty to more than 10,000 characters. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')) },
  {
    weight: 2,
    arbitrary: fc.tuple(piece, fc.integer({ min: 1, max: 12_000 })).map(([text, length]) => text.repeat(length).slice(0, length)),
  },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', '\n', '\u200b', 'web-1') },
)
