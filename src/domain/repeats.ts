/** The time between two reports of repeats, in ms. A subject without repeats for this long is over. */
const usualEveryMs = 60_000

/** Repeats of at most this many subjects are held back. The name of a subject may come from outside, so memory must have a limit. */
const mostSubjects = 1_000

/** The reports about one subject. */
interface Telling {
  /** Tells it. `repeats`: how many more there have been since it was told first. `lastAt`: when the last one was, in ms since 1970. */
  tell: (repeats: number, lastAt: number) => void
  /** Tells that it is over. `lastedMs`: from the first to the last. */
  tellEnd?: (repeats: number, lastedMs: number) => void
}

interface Subject {
  telling: Telling
  repeats: number
  /** How many of the repeats have been told. */
  told: number
  firstAt: number
  lastAt: number
  timer: NodeJS.Timeout
}

/**
 * Limits the reports of events that recur. The first event is reported at once. Repeats are reported once a minute, with their number. The end
 * is reported once: after a minute without an event, or when `end` is called.
 */
export function createRepeats({ everyMs = usualEveryMs }: { everyMs?: number } = {}) {
  const subjects = new Map<string, Subject>()

  /** Tells it now, or counts it. */
  function note(name: string, telling: Telling): void {
    const subject = subjects.get(name)
    if (!subject) return void begin(name, telling)
    subject.telling = telling
    subject.repeats += 1
    subject.lastAt = Date.now()
  }

  function begin(name: string, telling: Telling): void {
    const now = Date.now()
    telling.tell(0, now)
    if (subjects.size >= mostSubjects) return
    const timer = setInterval(() => tellOrEnd(name), everyMs).unref()
    subjects.set(name, { telling, repeats: 0, told: 0, firstAt: now, lastAt: now, timer })
  }

  function tellOrEnd(name: string): void {
    const subject = subjects.get(name)
    if (!subject || tellUntold(subject)) return
    // What happened once needs no line that it is over.
    if (subject.repeats > 0) end(name)
    else forget(name)
  }

  function tellUntold(subject: Subject): boolean {
    if (subject.repeats === subject.told) return false
    subject.told = subject.repeats
    subject.telling.tell(subject.repeats, subject.lastAt)
    return true
  }

  /** Tells that it is over, for somebody who knows. Does nothing if it has not begun. */
  function end(name: string): void {
    const subject = subjects.get(name)
    if (!subject) return
    forget(name)
    subject.telling.tellEnd?.(subject.repeats, subject.lastAt - subject.firstAt)
  }

  function forget(name: string): void {
    clearInterval(subjects.get(name)?.timer)
    subjects.delete(name)
  }

  /** Tells all repeats that have not been told. Call it before the process ends. */
  function flush(): void {
    for (const [name, subject] of subjects) {
      tellUntold(subject)
      forget(name)
    }
  }

  return { note, end, flush }
}
