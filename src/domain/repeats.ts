const everyMs = 60_000

/** Repeats of at most this many subjects are held back. The name of a subject may come from outside, so memory must have a limit. */
const mostSubjects = 1_000

interface Reports {
  /** Reports the event. `repeats`: how many there have been since the first one. `lastAt`: when the last one was, in ms since 1970. */
  report: (repeats: number, lastAt: number) => void
  /** Reports the end. `lastedMs`: from the first event to the last. */
  reportEnd?: (repeats: number, lastedMs: number) => void
}

interface Subject {
  reports: Reports
  repeats: number
  reported: number
  firstAt: number
  lastAt: number
  timer: NodeJS.Timeout
}

/** Reports the first event at once, repeats once a minute with their number, and the end after a minute without one, or when `end` is called. */
export function createRepeats() {
  const subjects = new Map<string, Subject>()

  function note(name: string, reports: Reports): void {
    const now = Date.now()
    const subject = subjects.get(name)
    if (subject) {
      subject.reports = reports
      subject.repeats += 1
      subject.lastAt = now
      return
    }
    reports.report(0, now)
    if (subjects.size >= mostSubjects) return
    const timer = setInterval(() => reportOrEnd(name), everyMs).unref()
    subjects.set(name, { reports, repeats: 0, reported: 0, firstAt: now, lastAt: now, timer })
  }

  function reportOrEnd(name: string): void {
    const subject = subjects.get(name)
    if (!subject || reportNewRepeats(subject)) return
    // The end of an event that did not recur is not reported.
    if (subject.repeats > 0) end(name)
    else forget(name)
  }

  function reportNewRepeats(subject: Subject): boolean {
    if (subject.repeats === subject.reported) return false
    subject.reported = subject.repeats
    subject.reports.report(subject.repeats, subject.lastAt)
    return true
  }

  /** Ends a subject at once, for a caller who knows that it is over. Does nothing if there was no event. */
  function end(name: string): void {
    const subject = subjects.get(name)
    forget(name)
    subject?.reports.reportEnd?.(subject.repeats, subject.lastAt - subject.firstAt)
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
