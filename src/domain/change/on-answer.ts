/** Receives the outcome of a write. `operation` is Lockkeeper's own name for it; `status` is the HTTP status, or why there is none. */
export type OnAnswer = (answer: { operation: string; status: number | string }) => void
