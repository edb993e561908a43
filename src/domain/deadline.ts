/** In ms until the deadline; negative after it. */
export interface Deadline {
  leftMs(): number
}

/** The clock that passes it first decides: the monotonic one stands still while the machine is suspended, and the other one can be set back. */
export function deadlineIn(ms: number): Deadline {
  const [monotonic, wall] = [performance.now() + ms, Date.now() + ms]
  return { leftMs: () => Math.min(monotonic - performance.now(), wall - Date.now()) }
}
