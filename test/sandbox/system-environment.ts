/** Returns the variables without which some systems start programs slowly or not at all. None of them configures the bot. */
export function systemEnvironment(): Record<string, string> {
  const { PATH, SystemRoot, TZ, BOT_COMPILE_CACHE: NODE_COMPILE_CACHE } = process.env
  const all = { PATH, SystemRoot, TZ, NODE_COMPILE_CACHE }
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
