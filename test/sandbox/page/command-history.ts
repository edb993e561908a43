/** How many commands are kept. */
const most = 50
const storageKey = 'lockkeeper-sandbox-commands'

/** Keeps the commands that were sent, for ArrowUp and ArrowDown as in a shell. A reload of the page keeps them, too. */
export function createCommandHistory(storage: Pick<Storage, 'getItem' | 'setItem'>) {
  let commands: string[] = JSON.parse(storage.getItem(storageKey) ?? '[]')
  /** The place of the shown command. Past the last one: none is shown. */
  let at = commands.length

  return {
    /** Keeps a sent text if it is a command. The same command twice in a row is kept once. */
    add(text: string) {
      if (text.startsWith('/') && commands.at(-1) !== text) commands = [...commands, text].slice(-most)
      at = commands.length
      storage.setItem(storageKey, JSON.stringify(commands))
    },

    /** Whether this text is the command that was recalled last, unchanged. */
    shows: (text: string) => text !== '' && text === commands[at],

    /** Returns the command before or after the shown one. Empty after the last one. */
    step(direction: -1 | 1): string {
      at = Math.min(Math.max(at + direction, 0), commands.length)
      return commands[at] ?? ''
    },

    /** Starts again at the last command. */
    leave() {
      at = commands.length
    },
  }
}
export type CommandHistory = ReturnType<typeof createCommandHistory>
