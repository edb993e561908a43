import { onTestFinished, vi } from 'vitest'

/** Lets the clock of this process jump until the test ends, as if the process had been suspended. */
export function jump(ms: number): void {
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
  onTestFinished(() => clock.mockRestore())
}
