/** Something that a person can break on the page. A switch stays on until it is turned off, an act happens once. */
export type Breakage = {
  id: string
  name: string
  /** One sentence, shown below the name. */
  effect: string
} & (Switch | Act)

interface Switch {
  kind: 'switch'
  isOn(): boolean
  /** Resolves with a sentence about what has happened, if there is something to say. */
  turn(on: boolean): Promise<string> | undefined
}

interface Act {
  kind: 'act'
  /** The text of its button. */
  verb: string
  /** Resolves with a sentence about what has happened. */
  run(): Promise<string>
}
