/**
 * Formats a date like Slack: `{time} {date_short_pretty}` in the reader's time zone and language. Source:
 * https://docs.slack.dev/messaging/formatting-message-text, "Date formatting".
 */
export function formatSlackDate(seconds: number, format: string, now: Date, locale?: string): string {
  const date = new Date(seconds * 1000)
  const write = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options).format(date)
  const two = (number: number) => String(number).padStart(2, '0')
  const words: Record<string, () => string> = {
    date_num: () => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    date_short: () => write({ year: 'numeric', month: 'short', day: 'numeric' }),
    date_long: () => write({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }),
    time: () => write({ hour: 'numeric', minute: '2-digit' }),
    time_secs: () => write({ hour: 'numeric', minute: '2-digit', second: '2-digit' }),
  }
  return format.replace(/\{(\w+?)(_pretty)?\}/g, (token, name: string, pretty?: string) => {
    return (pretty && dayNearby(date, now)) || (words[name]?.() ?? token)
  })
}

/** Returns `today`, `yesterday` or `tomorrow`. */
function dayNearby(date: Date, now: Date): string | undefined {
  const midnight = (day: Date) => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime()
  const days = Math.round((midnight(date) - midnight(now)) / 86_400_000)
  return { [-1]: 'yesterday', 0: 'today', 1: 'tomorrow' }[days]
}
