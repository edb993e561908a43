/**
 * Limits for one list, so that no answer of the account API can fill the memory: several lists are read and kept at the same time. A page
 * of 100 Elastic IPs has about 80 KB.
 */
export const listLimits = {
  items: 20_000,
  /** A server may ignore the page size and send everything at once. */
  itemsPerPage: 5_000,
  bytesPerPage: 2 * 1024 * 1024,
  pages: 1_000,
  bytes: 32 * 1024 * 1024,
  /** For all lists that are being read together. */
  bytesTogether: 64 * 1024 * 1024,
  /** A list without pages, such as 500 plans, has 1 to 2 MB. */
  bytesWithoutPages: 4 * 1024 * 1024,
} as const

/** Counts the bytes of the lists that are being read, so that many of them at once do not fill the memory. */
export function createListBudget() {
  let together = 0

  return {
    /** Opens the count of one list. */
    open() {
      let own = 0
      return {
        /** Returns false if this list has too many bytes, or if all together have. */
        add(bytes: number): boolean {
          own += bytes
          together += bytes
          return own <= listLimits.bytes && together <= listLimits.bytesTogether
        },
        close() {
          together -= own
          own = 0
        },
      }
    },
  }
}

/**
 * Starts the time limit of a whole list with all its pages. `signal` is aborted then, or when the caller aborts. Call `end` afterwards;
 * otherwise its timer keeps running.
 */
export function startListDeadline(ms: number, caller: AbortSignal | undefined) {
  const own = new AbortController()
  const timer = setTimeout(() => own.abort(), ms)
  return {
    signal: caller ? AbortSignal.any([own.signal, caller]) : own.signal,
    isOver: () => own.signal.aborted,
    end: () => clearTimeout(timer),
  }
}
