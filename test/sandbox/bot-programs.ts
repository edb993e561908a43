import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..', '..')

/** The programs that run a bot as a process. */
export const botPrograms = {
  main: join(root, 'src/main.ts'),
  'bot-for-faults': join(root, 'test/faults/bot-for-faults.ts'),
  'quick-main': join(root, 'test/journeys/quick-main.ts'),
}

/** Returns the file to run: of `npm test` a bundle, which starts in half the time. */
export function botProgram(name: keyof typeof botPrograms): string {
  const { BOT_BUNDLES: bundles } = process.env
  return bundles === undefined ? botPrograms[name] : join(bundles, `${name}.mjs`)
}
