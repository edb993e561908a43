/** Matches what must not be cut in two: mentions, links, dates and entities of mrkdwn, and characters of two UTF-16 units. */
const mrkdwnUnits = /<[^<>]{1,500}>|&(?:amp|lt|gt);|[\s\S]/gu
const plainUnits = /[\s\S]/gu

type TextFormat = 'plain' | 'mrkdwn'

/**
 * Cuts text to at most `max` UTF-16 units, which is the strictest way to count Slack's characters, and marks the cut with `…`. In mrkdwn
 * no mention and no entity is cut in two, so the text before the mark keeps its meaning.
 */
export function truncate(text: string, max: number, format: TextFormat): string {
  if (text.length <= max) return text
  return max < 1 ? '' : `${text.slice(0, lengthWithin(text, max - 1, format))}…`
}

/**
 * Splits mrkdwn into parts of at most `max` UTF-16 units. Only the white space between the parts is lost. A part ends at a line end, or
 * else at a space, if there is one in its second half. It never ends inside a character, an entity or a mention.
 */
export function splitMrkdwn(text: string, max: number): string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest.length > max) {
    const end = breakingPoint(rest, max)
    parts.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  return rest === '' ? parts : [...parts, rest]
}

function* unitsOf(text: string, format: TextFormat): Generator<string> {
  for (const [unit] of text.matchAll(format === 'mrkdwn' ? mrkdwnUnits : plainUnits)) yield unit
}

function lengthWithin(text: string, max: number, format: TextFormat): number {
  let length = 0
  for (const unit of unitsOf(text, format)) {
    if (length + unit.length > max) break
    length += unit.length
  }
  return length
}

function breakingPoint(text: string, max: number): number {
  let end = 0
  let space = 0
  let lineEnd = 0
  for (const unit of unitsOf(text, 'mrkdwn')) {
    if (end + unit.length > max) break
    if (unit === '\n') lineEnd = end
    if (unit === ' ') space = end
    end += unit.length
  }
  return [lineEnd, space].find((at) => at > max / 2) ?? Math.max(1, end)
}
