/** Formats a line of the bot's log for people: `05:12:01 info  Lockkeeper is ready  role=all`. Other lines stay as they are. */
export function readableLine(line: string): string {
  const entry = parse(line)
  if (!entry) return line
  const { level, time, msg, ...rest } = entry
  const details = Object.entries(rest).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [
    new Date(String(time)).toTimeString().slice(0, 8),
    String(level).padEnd(5),
    msg,
    ...(details.length > 0 ? ['', ...details] : []),
  ].join(' ')
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    const isEntry = typeof entry === 'object' && entry !== null && 'level' in entry && 'time' in entry && 'msg' in entry
    return isEntry ? { ...entry } : undefined
  } catch {
    return undefined
  }
}
