/** What must stay together: mentions, links and dates of mrkdwn, entities, and characters of two UTF-16 units. */
const mrkdwnUnits = /<[^<>]{1,500}>|&(?:amp|lt|gt);|[\s\S]/gu
const plainUnits = /[\s\S]/gu

export type Reading = 'plain' | 'mrkdwn'

/**
 * At most `max` UTF-16 units, which is the strictest way to count Slack's characters. What was cut is marked with `…`. Of mrkdwn no
 * mention and no entity is cut in two, so that it means the same up to the mark.
 */
export function truncate(text: string, max: number, reading: Reading): string {
  if (text.length <= max) return text
  return max < 1 ? '' : `${text.slice(0, lengthWithin(text, max - 1, reading))}…`
}

/**
 * Mrkdwn in parts of at most `max`, all of it but the white space between them: broken at a line end or a space where there is one
 * in the second half, and never inside a character, an entity or a mention.
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

function* unitsOf(text: string, reading: Reading): Generator<string> {
  for (const [unit] of text.matchAll(reading === 'mrkdwn' ? mrkdwnUnits : plainUnits)) yield unit
}

function lengthWithin(text: string, max: number, reading: Reading): number {
  let length = 0
  for (const unit of unitsOf(text, reading)) {
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
