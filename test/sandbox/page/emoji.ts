/** The emoji that the bot writes. An unknown name is shown as text. */
const glyphs: Record<string, string> = {
  alarm_clock: '⏰',
  arrow_backward: '◀️',
  arrow_forward: '▶️',
  arrows_counterclockwise: '🔄',
  ballot_box_with_check: '☑️',
  bell: '🔔',
  eyes: '👀',
  grey_question: '❔',
  hourglass: '⌛',
  hourglass_flowing_sand: '⏳',
  information_source: 'ℹ️',
  key: '🔑',
  large_green_circle: '🟢',
  large_orange_circle: '🟠',
  leftwards_arrow_with_hook: '↩️',
  no_entry: '⛔',
  no_entry_sign: '🚫',
  point_right: '👉',
  red_circle: '🔴',
  rotating_light: '🚨',
  see_no_evil: '🙈',
  small_blue_diamond: '🔹',
  snail: '🐌',
  speech_balloon: '💬',
  warning: '⚠️',
  wastebasket: '🗑️',
  white_check_mark: '✅',
  white_circle: '⚪',
  white_small_square: '▫️',
  x: '❌',
}

export function emojiNamed(name: string): string | undefined {
  return Object.hasOwn(glyphs, name) ? glyphs[name] : undefined
}
