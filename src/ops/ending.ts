import { StartError } from '../domain/errors.ts'

/** What was opened and is to be closed; the end can be asked for at any moment, also in the middle of the start. */
export function createEnding() {
  let closing: (() => Promise<void>)[] = []
  let isEnding = false

  /** Throws where the end was asked for meanwhile: nothing more is opened then. */
  function goOn(): void {
    if (isEnding) throw new StartError('The end was asked for during the start.')
  }

  /** Leaves it to the end to close what is open now; closes it itself, and throws, where the end was asked for meanwhile. */
  async function closes(close: () => Promise<void>): Promise<void> {
    if (isEnding) await close()
    goOn()
    closing.push(close)
  }

  /** What is to be closed. From here on nothing goes on. */
  function begin(): (() => Promise<void>)[] {
    isEnding = true
    const steps = closing
    closing = []
    return steps
  }

  return { goOn, closes, begin }
}
