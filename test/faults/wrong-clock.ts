/** Preloaded into a bot (`node --import`): its clock is CLOCK_OFF_MS ahead, or behind if negative. */
const offMs = Number(process.env.CLOCK_OFF_MS ?? 0)
const RightDate = Date

class WrongDate extends RightDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(WrongDate.now())
    else super(...(given as [number]))
  }

  static override now(): number {
    return RightDate.now() + offMs
  }
}
globalThis.Date = WrongDate as DateConstructor
