const everyMs = 60_000

/** Repeats of at most this many subjects are held back. The name of a subject may come from outside, so memory must have a limit. */
const mostSubjects = 1_000

/** `repeats`: how many there have been since the first one. `lastAt`: when the last one was, in ms since 1970. */
type Report = (repeats: number, lastAt: number) => void

interface Subject {
  report: Report
  repeats: number
  reported: number
  firstAt: number
  lastAt: number
  timer: NodeJS.Timeout
}

/** Reports the first event at once, and its repeats once a minute with their number. After a minute without one, the next is a first one. */
export function createRepeats() {
  const subjects = new Map<string, Subject>()

  function note(name: string, report: Report): void {
    const now = Date.now()
    const subject = subjects.get(name)
    if (subject) {
      subject.report = report
      subject.repeats += 1
      subject.lastAt = now
      return
    }
    report(0, now)
    if (subjects.size >= mostSubjects) return
    const timer = setInterval(() => reportNewRepeats(first) || forget(name), everyMs).unref()
    const first: Subject = { report, repeats: 0, reported: 0, firstAt: now, lastAt: now, timer }
    subjects.set(name, first)
  }

  function reportNewRepeats(subject: Subject): boolean {
    if (subject.repeats === subject.reported) return false
    subject.reported = subject.repeats
    subject.report(subject.repeats, subject.lastAt)
    return true
  }

  /** For a caller who knows that it is over. Undefined if there was no event. `afterMs`: from the first one to the last. */
  function end(name: string): { repeats: number; afterMs: number } | undefined {
    const subject = subjects.get(name)
    forget(name)
    return subject && { repeats: subject.repeats, afterMs: subject.lastAt - subject.firstAt }
  }

  function forget(name: string): void {
    clearInterval(subjects.get(name)?.timer)
    subjects.delete(name)
  }

  /** Reports all repeats that were not reported yet. Call it before the process ends. */
  function flush(): void {
    for (const [name, subject] of subjects) {
      reportNewRepeats(subject)
      forget(name)
    }
  }

  return { note, end, flush }
}
