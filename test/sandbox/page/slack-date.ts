/**
 * Formats a date like Slack: `{time} {date_short_pretty}` in the reader's time zone and language. Source:
 * https://docs.slack.dev/messaging/formatting-message-text, "Date formatting".
 */
export function formatSlackDate(seconds: number, format: string, now: Date, locale?: string): string {
  const date = new Date(seconds * 1000)
  const write = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options).format(date)
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  const pretty = (otherwise: string) => dayNearby(date, now) ?? otherwise
  const long = () => write({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' })
  const short = () => write({ year: 'numeric', month: 'short', day: 'numeric' })
  const plain = () => write({ year: 'numeric', month: 'long', day: 'numeric' })

  const words: Record<string, () => string> = {
    date_num: () => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`,
    date_slash: () => write({ year: 'numeric', month: '2-digit', day: '2-digit' }),
    date: plain,
    date_short: short,
    date_long: long,
    date_pretty: () => pretty(plain()),
    date_short_pretty: () => pretty(short()),
    date_long_pretty: () => pretty(long()),
    date_long_full: long,
    day_divider_pretty: () => pretty(write({ weekday: 'long', month: 'long', day: 'numeric', ...(year && { year }) })),
    time: () => write({ hour: 'numeric', minute: '2-digit' }),
    time_secs: () => write({ hour: 'numeric', minute: '2-digit', second: '2-digit' }),
    ago: () => ago(date, now, locale),
  }
  return format.replace(/\{(\w+)\}/g, (token, name: string) => words[name]?.() ?? token)
}

/** Returns `today`, `yesterday` or `tomorrow`. */
function dayNearby(date: Date, now: Date): string | undefined {
  const midnight = (day: Date) => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime()
  const days = Math.round((midnight(date) - midnight(now)) / 86_400_000)
  return { [-1]: 'yesterday', 0: 'today', 1: 'tomorrow' }[days]
}

function ago(date: Date, now: Date, locale?: string): string {
  const seconds = Math.round((date.getTime() - now.getTime()) / 1000)
  const [unit, size] = (
    [
      ['day', 86_400],
      ['hour', 3_600],
      ['minute', 60],
    ] as const
  ).find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(Math.round(seconds / size), unit)
}
